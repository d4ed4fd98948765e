"""What the judge withstands and what it costs: measures for `make figures`. No live model is asked.

`injections_moved`        of 300 runs with an injected text, those whose score the obedient stand-in changed
`judge_overhead_ratio`    CPU of a verdict over that of a bare loop of the same calls, both over loopback HTTP
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager

from proctor import tokens
from proctor.judge.inquiry import Inquiry, Terms
from proctor.judge.judging import judge
from proctor.model import model_of
from proctor.model_call import Model, ModelCall, Reply
from proctor.rubric_file import load_rubric
from proctor.trajectory import Trajectory
from tools.injection_runs import FULL, cases, moved

_MODEL = "openai/stand-in"
_TERMS = Terms(b"a salt of these figures", tokens.count)
ROUNDS = 15
WARM_UP = 3


def injections(runs: Sequence[Trajectory]) -> dict[str, float]:
    """Every case that moved a score is printed."""
    drawn = list(cases(FULL, runs))
    found = [case for case in drawn if moved(case)]
    for case in found:
        print(f"injection moved a score: {case}")
    print(
        f"injections: {len(found)} of {len(drawn)} moved a score (stand-in/obedient, by rules: no live model was used)"
    )
    return {"injections_moved": len(found)}


def overhead(runs: Sequence[Trajectory]) -> dict[str, float]:
    """The ratio, for the run of median length. Answers come from another process, whose CPU does not count."""
    by_length = sorted((run for run in runs if run.steps), key=lambda run: len(run.model_dump_json()))
    run = by_length[len(by_length) // 2]
    os.environ.setdefault("OPENAI_API_KEY", "none-is-needed-on-loopback")
    with _answering() as url:
        ours, bare, calls = asyncio.run(_measured(run, url))
    ratio = ours / bare
    print(
        f"a verdict on {run.id} costs {1000 * ours:.1f} ms CPU, a bare loop of its {calls} calls {1000 * bare:.1f} ms "
        f"({ratio:.2f} times; answered by a stand-in, no live model was used)"
    )
    return {"judge_overhead_ratio": round(ratio, 2)}


class _Noting:
    """A model that notes what it is asked."""

    is_stand_in = False

    def __init__(self, model: Model) -> None:
        self.name, self.model, self.asked = model.name, model, list[ModelCall]()

    async def ask(self, call: ModelCall) -> Reply:
        """The model's reply."""
        self.asked.append(call)
        return await self.model.ask(call)


async def _measured(run: Trajectory, url: str) -> tuple[float, float, int]:
    """Seconds of CPU of a verdict and of the bare loop (medians of alternating rounds), and the number of calls."""
    model, rubric = model_of(_MODEL, base_url=url), load_rubric("trajectory")
    import litellm  # only now: imported first, it would ask the network for its table of prices

    noting = _Noting(model)
    await judge(Inquiry(run, rubric), noting, _TERMS)
    prompts = [[{"role": each.role, "content": each.content} for each in call.messages] for call in noting.asked]

    async def ours() -> None:
        await judge(Inquiry(run.model_copy(), rubric), model, _TERMS)  # what is kept of a run is kept for that object

    async def bare() -> None:
        for messages in prompts:
            await litellm.acompletion(model=_MODEL, messages=messages, api_base=url, num_retries=0, max_retries=0)

    rounds = [(await _cpu(ours), await _cpu(bare)) for _ in range(WARM_UP + ROUNDS)][WARM_UP:]
    return statistics.median(each[0] for each in rounds), statistics.median(each[1] for each in rounds), len(prompts)


async def _cpu(work: Callable[[], Awaitable[None]]) -> float:
    began = time.process_time()
    await work()
    return time.process_time() - began


@contextmanager
def _answering() -> Iterator[str]:
    """A server of the obedient stand-in, in a process of its own."""
    command = [sys.executable, "-m", "tools.stand_in_judge_server", "stand-in/obedient"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().rpartition(" ")[2].strip()
        finally:
            server.terminate()


MEASURES = (injections, overhead)
