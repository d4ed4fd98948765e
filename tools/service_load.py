"""Many senders at one judging service, which is a process of its own: whose verdict each gets, and what that costs.

Every run holds a text that no other one holds. The stand-in quotes it, so that a verdict tells on which run it is.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from proctor.judge.inquiry import Inquiry
from proctor.judge_client import JudgeClient
from proctor.judge_wire import VerdictAnswer, VerdictRequest
from proctor.rubric_file import shipped_rubric
from proctor.trajectory import Agent, Step, Task, ToolCall, Trajectory

MODEL = "stand-in/obedient"
RUBRIC = "trajectory"
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Sample:
    """A service as it is after so many verdicts: CPU seconds, those of its senders, memory in KiB, and the time."""

    cpu: float
    senders: float
    resident: int
    at: float


@dataclass(frozen=True)
class Served:
    """A running service."""

    url: str
    token: str
    pid: int

    def sample(self) -> Sample:
        """Linux tells it."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        resident = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
        return Sample((int(fields[11]) + int(fields[12])) / _TICKS, time.process_time(), resident, time.monotonic())


def slowed(samples: Mapping[int, Sample], first: tuple[int, int], last: tuple[int, int]) -> float:
    """CPU of a verdict between the last two numbers, over that between the first two.

    Taken in senders' CPU, whose work is the same all the time: so the machine's own ups and downs count for nothing.
    """

    def cost(begin: int, end: int) -> float:
        return (samples[end].cpu - samples[begin].cpu) / (samples[end].senders - samples[begin].senders)

    return cost(*last) / cost(*first)


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Served]:
    """`proctor judge serve` with the stand-in, in that folder; ended by a signal, as a user does."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proctor", "judge", "serve", "--model", MODEL, "--json"),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        ready = json.loads(await process.stdout.readline())
        yield Served(ready["url"], ready["token"], ready["pid"])
    finally:
        process.terminate()
        await process.communicate()


def run(number: int) -> Trajectory:
    """An order looked up and refunded, with numbers of its own."""
    order, refund = f"W{number:05}", mark(number)
    asked = f"Please refund order {order} to my card, I was charged twice."
    found = {"order_id": order, "status": "delivered by courier", "amount": 120.5, "city": "Leeds"}
    issued = {"refund": refund, "order_id": order, "status": "refund was issued"}
    look = ToolCall(name="get_order", id="a", arguments={"order_id": order})
    pay = ToolCall(name="create_refund", id="b", arguments={"order_id": order, "amount": 120.5})
    said = f"Your refund for order {order} was issued to your card."
    steps = (
        Step(index=0, role="user", text=asked),
        Step(index=1, role="assistant", tool_calls=(look,)),
        Step(index=2, role="tool", name="get_order", tool_call_id="a", text=json.dumps(found), status=200),
        Step(index=3, role="assistant", tool_calls=(pay,)),
        Step(index=4, role="tool", name="create_refund", tool_call_id="b", text=json.dumps(issued), status=200),
        Step(index=5, role="assistant", text=said),
    )
    agent, task = Agent(model="gpt-4o"), Task(goal="Refund what was charged twice.", policy="Refund delivered orders.")
    return Trajectory(id=f"run-{number}", agent=agent, task=task, steps=steps, final_answer=said)


def mark(number: int) -> str:
    """What only that run holds."""
    return f"credit note {number:05} of today"


def mixed(number: int, sent: Trajectory, answer: VerdictAnswer) -> str:
    """What shows that an answer is not on the run that was sent; empty where it is."""
    verdict = answer.verdict
    if verdict is None:
        return f"{sent.id}: no verdict, {answer.state}: {answer.error}"
    if {answer.trajectory, verdict.trajectory} != {sent.id} or answer.id != verdict.id:
        return f"{sent.id}: the verdict {verdict.id} on {verdict.trajectory} as {answer.id} on {answer.trajectory}"
    if verdict.trajectory_digest != Inquiry(sent, shipped_rubric(RUBRIC)).trajectory_digest:
        return f"{sent.id}: the verdict is on another content"
    quotes = [citation.quote for result in verdict.criteria for citation in result.citations]
    noted = [quote for quote in quotes if "credit note" in quote]
    if not noted or any(mark(number) not in quote for quote in noted):
        return f"{sent.id}: its own words are not what is quoted: {quotes}"
    return ""


async def send(
    service: Served, senders: int, verdicts: int, at: Collection[int]
) -> tuple[dict[int, Sample], list[str]]:
    """So many senders, each with a connection of its own, that send one run after the other until all have a verdict.

    Gives a sample after each number of verdicts in `at`, and what was mixed up. The senders go on until then, so that
    the service is as busy at each sample.
    """
    numbers = iter(range(verdicts + senders))
    samples: dict[int, Sample] = {}
    wrong: list[str] = []
    done = 0

    async def sender(numbers: Iterator[int]) -> None:
        nonlocal done
        async with JudgeClient(service.url, service.token) as client:
            for number in numbers:
                sent = run(number)
                answer = await client.judge(VerdictRequest(trajectory=sent, rubric=RUBRIC))
                done += 1
                if done in at:
                    samples[done] = service.sample()
                if trouble := mixed(number, sent, answer):
                    wrong.append(trouble)

    async with asyncio.TaskGroup() as group:
        for _ in range(senders):
            group.create_task(sender(numbers))
    return samples, wrong
