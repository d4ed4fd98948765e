"""The one verdict in a model's reply, or what is wrong with it. Nothing is clamped, guessed or taken twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, ValidationError

from proctor.judge.citations import Cited
from proctor.rubric import Criterion

LONGEST = 64_000
"""Characters of a reply that is read at all."""
_MOST_PROBLEMS = 6
Code = Literal["not_json", "two_verdicts", "wrong_shape", "out_of_range", "inconsistent", "too_long"]


class _Citation(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    step: int
    quote: str
    pointer: str = ""


class Answer(BaseModel):
    """What a model says of one criterion. `score` stands exactly where `outcome` is `scored`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    citations: list[_Citation]
    finding: str
    missing: str = ""
    outcome: Literal["scored", "not_applicable", "not_shown"]
    score: int | None

    @property
    def cited(self) -> tuple[Cited, ...]:
        """The quotes, to be verified."""
        return tuple(Cited(each.step, each.quote, each.pointer) for each in self.citations)


@dataclass(frozen=True)
class Unreadable:
    """A reply that holds no verdict, or more than one: a code, and sentences that tell the model what to mend."""

    code: Code
    problems: tuple[str, ...]


def read(text: str, criterion: Criterion) -> Answer | Unreadable:
    """The verdict, if the reply holds exactly one object of the right shape. Fences and prose around it are borne."""
    if len(text) > LONGEST:
        return Unreadable("too_long", (f"the reply has {len(text)} characters, more than {LONGEST}",))
    objects, broken = _objects(text)
    found = [_answer(each, criterion) for each in objects]
    answers = [each for each in found if isinstance(each, Answer)]
    if len(answers) == 1:
        return answers[0]
    if answers:
        return Unreadable("two_verdicts", (f"the reply holds {len(answers)} verdicts: give exactly one",))
    for each in found:
        if isinstance(each, Unreadable) and not broken:
            return each
    return Unreadable("not_json", (f"the reply holds no JSON object that can be read{broken}",))


def _objects(text: str) -> tuple[list[Any], str]:
    """The JSON objects that stand by themselves, in order, and why the first one that is none is none."""
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number)
    found: list[Any] = []
    broken = ""
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
            found.append(value)
        except (ValueError, RecursionError) as error:
            broken = broken or f": {str(error).partition(' (char')[0]}"
            end = at + 1
        at = text.find("{", end)
    return found, broken


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _answer(value: Any, criterion: Criterion) -> Answer | Unreadable:
    try:
        answer = Answer.model_validate(value)
    except (ValidationError, RecursionError) as error:
        return Unreadable("wrong_shape", _told(error))
    problems = list(_contradictions(answer, criterion))
    if problems:
        return Unreadable("inconsistent", tuple(problems))
    levels = sorted(level.score for level in criterion.levels)
    if answer.score is not None and answer.score not in levels:
        return Unreadable("out_of_range", (f"the score {answer.score} is none of {levels}",))
    return answer


def _contradictions(answer: Answer, criterion: Criterion) -> Iterator[str]:
    if (answer.outcome == "scored") != (answer.score is not None):
        yield f"the outcome is {answer.outcome}, and the score is {answer.score}"
    if answer.outcome == "not_applicable" and not criterion.not_applicable:
        yield "this criterion always applies: not_applicable is no answer"
    if not answer.finding.strip():
        yield "the finding is empty"


def _told(error: Exception) -> tuple[str, ...]:
    if not isinstance(error, ValidationError):
        return ("the object is nested too deeply",)
    found = [f"{'.'.join(map(str, each['loc'])) or 'the object'}: {each['msg']}" for each in error.errors()]
    return tuple(found[:_MOST_PROBLEMS])
