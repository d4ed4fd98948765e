"""What asking cost, added up. A sum is told only if every part told its own: an unknown number is never a 0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from proctor.model_call import Usage
from proctor.verdict import ModelUse

Number = TypeVar("Number", int, float)


def use_of(usages: Sequence[Usage], attempts: int) -> ModelUse:
    """Of some calls."""
    return ModelUse(
        calls=len(usages),
        attempts=attempts,
        input_tokens=whole([each.input_tokens for each in usages]),
        output_tokens=whole([each.output_tokens for each in usages]),
        cost=whole([each.cost for each in usages]),
    )


def added(uses: Iterable[ModelUse]) -> ModelUse:
    """Of several criteria or trials; one for which nothing was asked adds nothing."""
    asked = [each for each in uses if each.calls]
    return ModelUse(
        calls=sum(each.calls for each in asked),
        attempts=sum(each.attempts for each in asked),
        input_tokens=whole([each.input_tokens for each in asked]),
        output_tokens=whole([each.output_tokens for each in asked]),
        cost=whole([each.cost for each in asked]),
    )


def whole(numbers: Sequence[Number | None]) -> Number | None:
    """The sum; None where there is nothing to add, or one is not known."""
    known = [each for each in numbers if each is not None]
    return sum(known) if known and len(known) == len(numbers) else None
