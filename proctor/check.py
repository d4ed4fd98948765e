"""What a check says: an outcome, the evidence, one sentence, and what would have made it assessable."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Outcome = Literal["pass", "fail", "not_assessable"]
Count = Annotated[int, Field(strict=True, ge=0)]
"""How often something may or must happen, as a parameter of a check."""


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Evidence(_Value):
    """A place in a trajectory: a span of a step's text, or an argument of one of its calls. Secrets are masked."""

    step: int | None
    """None where it stands in no step: `field` is then a pointer into the trajectory: `end_state/status`."""
    field: str = "text"
    """`text`, `thought`, or `tool_calls/N/arguments/...`: a JSON pointer into the step."""
    start: int | None = None
    """The span in that field, in characters; None for the whole of it."""
    end: int | None = None
    quote: str = ""
    """What stands there, cut to a readable length and masked where it is secret."""


class CheckResult(_Value):
    """The result of one check on one trajectory."""

    check: str
    """Its stable name, such as `no_pii`."""
    outcome: Outcome
    message: str
    """One sentence for a person: what was found, or why nothing can be said."""
    evidence: tuple[Evidence, ...] = ()
    needs: str = ""
    """For `not_assessable`: what would have made it assessable."""
