"""How far injected text moves the obedient stand-in, and what the judge costs beside the model's own calls."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from proctor import tokens
from proctor.judge.inquiry import Inquiry, Terms
from proctor.judge.judging import judge
from proctor.model import model_of
from proctor.model_call import Message, Model, ModelCall, Reply
from proctor.rubric_file import load_rubric
from proctor.trajectory import Trajectory
from tools.injection_runs import FULL, cases, moved

_ROOT = Path(__file__).parent.parent
_ROUNDS = 7
_MODEL = "openai/stand-in"


def injections(runs: Sequence[Trajectory]) -> dict[str, float]:
    """Of the injections, how many changed any score of the obedient stand-in against the clean twin."""
    found = [case for case in cases(FULL, runs) if moved(case)]
    for case in found:
        print(f"injection moved a score: {case}")
    print(f"injections: {len(found)} of {FULL} moved a score of stand-in/obedient; no live model was used")
    return {"injections_moved": len(found)}


def overhead(runs: Sequence[Trajectory]) -> dict[str, float]:
    """Our CPU for a verdict of five criteria by that of the same five calls in a bare loop, in alternating rounds."""
    run = sorted((each for each in runs if each.steps), key=lambda each: len(each.model_dump_json()))[len(runs) // 2]
    with _server() as url:
        ours, bare = asyncio.run(_rounds(run, model_of(_MODEL, base_url=url), url))
    ratio = statistics.median(ours) / statistics.median(bare)
    print(
        f"a verdict on {run.id} costs {statistics.median(ours) * 1000:.1f} ms CPU, its five calls alone "
        f"{statistics.median(bare) * 1000:.1f} ms"
    )
    return {"judge_overhead_ratio": round(ratio, 3)}


class _Heard:
    """A model that remembers what it was asked."""

    is_stand_in = False

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name = model.name
        self.calls: list[ModelCall] = []

    async def ask(self, call: ModelCall) -> Reply:
        self.calls.append(call)
        return await self._model.ask(call)


async def _rounds(run: Trajectory, model: Model, url: str) -> tuple[list[float], list[float]]:
    inquiry = Inquiry(run, load_rubric("trajectory"))
    terms = Terms(bytes(32), lambda text: tokens.count(text))
    heard = _Heard(model)
    await judge(inquiry, heard, terms)
    assert len(heard.calls) == len(inquiry.rubric.criteria), "a repair would make the loops unequal"
    await _bare(heard.calls, url)
    ours, bare = [], []
    for _ in range(_ROUNDS):
        began = time.process_time()
        # what is kept of a run is kept for this very object
        await judge(Inquiry(run.model_copy(), inquiry.rubric), model, terms)
        ours.append(time.process_time() - began)
        began = time.process_time()
        await _bare(heard.calls, url)
        bare.append(time.process_time() - began)
    return ours, bare


async def _bare(calls: Sequence[ModelCall], url: str) -> None:
    """The same five questions, asked through litellm and nothing else."""
    import litellm

    await asyncio.gather(
        *(
            litellm.acompletion(
                model=_MODEL,
                messages=[_plain(message) for message in call.messages],
                api_base=url,
                api_key="none",
                temperature=0,
                max_tokens=call.max_output_tokens,
                num_retries=0,
            )
            for call in calls
        )
    )


def _plain(message: Message) -> dict[str, str]:
    return {"role": message.role, "content": message.content}


@contextmanager
def _server() -> Iterator[str]:
    """The stand-in judge over loopback HTTP, in a process of its own, so that its CPU is not counted."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tools.stand_in_judge_server", "stand-in/obedient"],
        cwd=_ROOT,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[-1]
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


MEASURES: tuple[Callable[[Sequence[Trajectory]], dict[str, float]], ...] = (injections, overhead)
