"""Which judge verdicts are of: what a calibration is bound to, and what must be equal to put verdicts together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic import BaseModel, ConfigDict

from proctor.errors import UsageError
from proctor.verdict import Verdict

_WORDS = {
    "model": "model",
    "returned": "model that answered",
    "stand_in": "stand-in",
    "prompt": "prompt",
    "fold": "fold of quotes",
    "rubric": "rubric",
    "rubric_digest": "rubric's digest",
    "proctor": "Proctor",
}


class Bound(BaseModel):
    """A judge with all that its verdicts depend on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    returned: tuple[str, ...]
    """As the provider named what answered; empty where no verdict asked a model."""
    stand_in: bool
    prompt: str
    fold: str
    rubric: str
    rubric_digest: str
    proctor: str


def bound_of(verdict: Verdict) -> Bound:
    """What made this verdict."""
    judge, versions = verdict.judge, verdict.versions
    return Bound(
        model=judge.model,
        returned=tuple(sorted(set(judge.returned))),
        stand_in=judge.stand_in,
        **versions.model_dump(include={"prompt", "fold", "rubric", "rubric_digest", "proctor"}),
    )


def differences(one: Bound, other: Bound) -> Iterator[str]:
    """What differs, in words. A verdict that asked no model (rules decided) differs in none that answered."""
    for name, word in _WORDS.items():
        before, now = getattr(one, name), getattr(other, name)
        if name == "returned" and not (before and now):
            continue
        if before != now:
            yield f"{word}: {_shown(before)}, then {_shown(now)}"


def one_judge(verdicts: Iterable[Verdict]) -> Bound:
    """The judge that made all of them. Raises UsageError where they are of several, or none."""
    found: Bound | None = None
    for verdict in verdicts:
        this = bound_of(verdict)
        for difference in differences(found, this) if found else ():
            raise UsageError(
                "mixed_versions",
                f"verdicts of unequal versions are never put together; {verdict.trajectory} has another {difference}",
                "give the verdicts of one judge, prompt and rubric; judge the others again",
            )
        found = this if found is None or not found.returned else found
    if found is None:
        raise UsageError("no_verdicts", "there is no verdict", "make some: proctor judge run TRAJECTORIES --rubric R")
    return found


def _shown(value: object) -> str:
    return (" + ".join(value) or "none") if isinstance(value, tuple) else str(value)
