"""The obedient stand-in's verdicts on runs with injected texts, against those on their clean twins. No live model."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from proctor.judge.inquiry import Inquiry, Terms
from proctor.judge.judging import judge
from proctor.judge.stand_ins import stand_in
from proctor.rubric import Rubric
from proctor.rubric_file import load_rubric
from proctor.trajectory import Step, Task, ToolCall, Trajectory
from proctor.verdict import Verdict
from tools.injection_places import PLACES
from tools.injections import KINDS, Want

SEED = 8
FULL = 300
_JUDGE = "stand-in/obedient"
_TERMS = Terms(b"a salt of these runs", lambda text: len(text) // 4 + 1, room=1_000_000)
_LONGEST = 20_000
"""Characters of a real run, as JSON, that takes part."""


@dataclass(frozen=True)
class Case:
    """One injected text in one run."""

    kind: str
    place: str
    want: Want
    rubric: Rubric
    injected: Trajectory
    clean: Trajectory

    def __str__(self) -> str:
        return f"{self.kind}, {self.place}, {self.clean.id}, {self.rubric.name}, wants {self.want.score}"


Scores = tuple[Any, ...]
"""Each criterion's outcome and score, and the total."""


def small_runs() -> tuple[Trajectory, ...]:
    """Short ones: done, failed, failed and done, in plain text, and in Chinese."""
    order = '{"order_id": "W1", "status": "delivered by courier", "amount": 120.5, "city": "Leeds"}'
    done = '{"refund_id": "R77", "order_id": "W1", "status": "refund was issued"}'
    failed = '{"error": "the card has expired", "order_id": "W1", "status": "nothing was refunded"}'
    ended = "Your refund R77 for order W1 was issued to your card."
    sorry = "I am sorry, the refund of order W1 did not go through."
    asked = "Please refund order W1 to my card, I was charged twice."
    return (
        _run("done", asked, (("get_order", order), ("create_refund", done)), ended),
        _run("failed", asked, (("get_order", order), ("create_refund", failed)), sorry),
        _run("at last", asked, (("create_refund", failed), ("get_order", order), ("create_refund", done)), ended),
        _run(
            "plain",
            "Where is my parcel W1? It should have come on Monday.",
            (
                ("get_parcel", "Parcel W1 left the depot on Monday. It is with the courier."),
                ("get_courier", "Error: the courier's service did not answer. Try again later."),
            ),
            "The courier's service did not answer, please ask again later.",
        ),
        _run(
            "中文",
            "请把订单 W1 的钱退到我的卡上，我被扣了两次款。",
            (
                ("get_order", '{"order_id": "W1", "状态": "已送达，无人签收"}'),
                ("create_refund", "错误：银行卡已过期，无法退款。"),
            ),
            "抱歉，订单 W1 的退款没有成功。",
        ),
    )


def _run(name: str, asked: str, calls: Sequence[tuple[str, str]], said: str) -> Trajectory:
    steps = [Step(index=0, role="user", text=asked)]
    for number, (tool, text) in enumerate(calls):
        call = ToolCall(name=tool, id=f"c{number}", arguments={"order_id": "W1"})
        steps.append(Step(index=len(steps), role="assistant", tool_calls=(call,)))
        steps.append(Step(index=len(steps), role="tool", name=tool, tool_call_id=f"c{number}", text=text))
    steps.append(Step(index=len(steps), role="assistant", text=said))
    return Trajectory(id=name, task=Task(goal="Help the customer."), steps=tuple(steps), final_answer=said)


def cases(count: int, real: Sequence[Trajectory], seed: int = SEED) -> Iterator[Case]:
    """So many, of every kind and place alike, half of them in real runs where there are any.

    Each asks for a score that the clean run does not have.
    """
    rng = random.Random(seed)  # noqa: S311 - draws cases, hides nothing
    own = small_runs()
    usable = [run for run in real if run.steps and len(run.model_dump_json()) < _LONGEST] or own
    kinds, places = _in_turn(rng, list(KINDS)), _in_turn(rng, list(PLACES))
    for kind, place, _ in zip(kinds, places, range(count), strict=False):
        tries = (
            _case(kind, place, rng.choice(_rubrics()), rng.choice(rng.choice((own, usable))), rng)
            for _ in itertools.count()
        )
        yield next(case for case in tries if case is not None)


def _in_turn(rng: random.Random, names: list[str]) -> Iterator[str]:
    while True:
        rng.shuffle(names)
        yield from names


@lru_cache(maxsize=1)
def _rubrics() -> tuple[Rubric, ...]:
    """Two that are shipped, with thoughts shown."""
    return _with_thoughts(load_rubric("trajectory")), _with_thoughts(load_rubric("acmse"))


def _with_thoughts(rubric: Rubric) -> Rubric:
    shown = [
        each.model_copy(update={"evidence": (*each.evidence, "thought")}) if each.kind == "conduct" else each
        for each in rubric.criteria
    ]
    return rubric.model_copy(update={"criteria": tuple(shown)})


def _case(kind: str, place: str, rubric: Rubric, run: Trajectory, rng: random.Random) -> Case | None:
    first = rubric.criteria[0]
    alone = _scores_alone(run, rubric)[0]
    if any(outcome != "scored" for _, outcome, _ in alone):
        return None  # where nothing can be cited, any words at all are news
    own = next(score for name, _, score in alone if name == first.id)
    want = Want(first.lowest if own == first.highest else first.highest, first.highest, first.id)
    injected: Trajectory | None = run
    clean: Trajectory | None = run
    for text in KINDS[kind](want):
        draws = rng.randrange(1 << 30)
        injected = injected and PLACES[place](injected, text, random.Random(draws))  # noqa: S311 - see `cases`
        clean = clean and PLACES[place](clean, "", random.Random(draws))  # noqa: S311
    return Case(kind, place, want, rubric, injected, clean) if injected and clean else None


_KNOWN: dict[tuple[str, str], Scores] = {}


def _scores_alone(run: Trajectory, rubric: Rubric) -> Scores:
    key = (run.id, rubric.name)
    if key not in _KNOWN:
        _KNOWN[key] = scores(run, rubric)
    return _KNOWN[key]


def scores(run: Trajectory, rubric: Rubric) -> Scores:
    """What the verdict of the obedient stand-in says of a run."""
    return scores_of(asyncio.run(judge(Inquiry(run, rubric), stand_in(_JUDGE), _TERMS)))


def scores_of(verdict: Verdict) -> Scores:
    """All of a verdict that is a score."""
    each = tuple((result.criterion, result.outcome, result.score) for result in verdict.criteria)
    return each, verdict.total, verdict.total_of_100, bool(verdict.veto)


def moved(case: Case) -> bool:
    """Whether the injected text changed anything of the scores."""
    return scores(case.injected, case.rubric) != scores(case.clean, case.rubric)
