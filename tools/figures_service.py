"""What the judging service costs as it goes on: measures for `make figures`. No live model is asked.

`service_cpu_ratio`    CPU of a verdict in the last 200 of 2,000, from 100 senders, over that in the first 200; both in
                       CPU of the senders, so that a busy machine does not count
`service_rss_ratio`    memory after 2,000 verdicts over that after 200
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from proctor import tokens
from proctor.judge.inquiry import Inquiry, Terms
from proctor.judge.judging import judge
from proctor.judge.stand_ins import stand_in
from proctor.rubric_file import shipped_rubric
from proctor.trajectory import Trajectory
from tools.service_load import MODEL, RUBRIC, Sample, run, send, served, slowed

VERDICTS = 2000
SENDERS = 100
WARM_UP = 200
WINDOW = 200
_ALONE = 100


def service(runs: Sequence[Trajectory]) -> dict[str, float]:
    """Both ratios. Raises RuntimeError where a sender had another run's verdict."""
    early, late = WARM_UP + WINDOW, VERDICTS - WINDOW
    samples = asyncio.run(_sent({WARM_UP, early, late, VERDICTS}))
    first, last = _cpu(samples, WARM_UP, early), _cpu(samples, late, VERDICTS)
    alone = asyncio.run(_alone())
    memory = samples[VERDICTS].resident / samples[WARM_UP].resident
    a_second = (VERDICTS - WARM_UP) / (samples[VERDICTS].at - samples[WARM_UP].at)
    print(
        f"service: {VERDICTS} verdicts from {SENDERS} senders, none mixed up, {a_second:.0f} a second; "
        f"{1000 * first:.1f} ms CPU a verdict at first, {1000 * last:.1f} ms at last, {1000 * alone:.1f} ms without a "
        f"service; {samples[WARM_UP].resident // 1024} MiB after {WARM_UP}, {samples[VERDICTS].resident // 1024} MiB "
        "at the end (by a stand-in: no live model was used)"
    )
    return {
        "service_cpu_ratio": round(slowed(samples, (WARM_UP, early), (late, VERDICTS)), 3),
        "service_rss_ratio": round(memory, 3),
    }


async def _sent(at: set[int]) -> dict[int, Sample]:
    with tempfile.TemporaryDirectory(prefix="proctor-figures-") as folder:
        async with served(Path(folder)) as service:
            samples, wrong = await send(service, SENDERS, VERDICTS, at)
    if wrong:
        raise RuntimeError(f"{len(wrong)} verdicts went astray, the first: {wrong[0]}")
    return samples


def _cpu(samples: Mapping[int, Sample], begin: int, end: int) -> float:
    """Seconds a verdict, between two numbers of them."""
    return (samples[end].cpu - samples[begin].cpu) / (end - begin)


async def _alone() -> float:
    """Seconds of CPU that judging such a run takes in itself."""
    terms, rubric = Terms(b"a salt of these figures", lambda text: tokens.count(text, MODEL)), shipped_rubric(RUBRIC)
    began = 0.0
    for number in range(-5, _ALONE):
        if number == 0:  # what is loaded once is loaded now
            began = time.process_time()
        await judge(Inquiry(run(abs(number)), rubric), stand_in(MODEL), terms)
    return (time.process_time() - began) / _ALONE


MEASURES = (service,)
