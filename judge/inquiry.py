"""What is to be judged, on which terms, and the digests that say when two questions are the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from proctor import __version__
from proctor.judge import citations, prompt
from proctor.judge_wire import DEFAULT_ROOM
from proctor.rubric import Rubric
from proctor.rubric_file import digest_of
from proctor.trajectory import Trajectory
from proctor.verdict import Verdict, Versions


@dataclass(frozen=True)
class Vendors:
    """The model families of judge and agent, and whether the user set the rule aside that they differ."""

    judge: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    overridden: bool = False


def vendors_in(verdict: Verdict) -> Vendors:
    """Those of a verdict that was made."""
    return Vendors(verdict.judge.families, verdict.judge.agent_families, verdict.judge.vendor_overridden)


@dataclass(frozen=True)
class Terms:
    """How it is asked. `salt` makes fences that no author of a run can guess, and the same ones each time."""

    salt: bytes
    count: Callable[[str], int]
    """Tokens of a text."""
    room: int = DEFAULT_ROOM
    at_once: int = 5
    timeout: float = 60.0


@dataclass(frozen=True)
class Inquiry:
    """One run, one rubric, and the checks that a suite asks for."""

    trajectory: Trajectory
    rubric: Rubric
    preset: str | None = None
    checks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    vendors: Vendors = Vendors()

    @property
    def trajectory_digest(self) -> str:
        """Of all that the trajectory says."""
        return digest(self.trajectory.model_dump(mode="json"))

    def identity(self, model: str, terms: Terms) -> str:
        """The same for the same question to the same model on the same terms."""
        return digest(
            [
                self.trajectory_digest,
                versions(self.rubric).model_dump(),
                self.preset,
                {name: dict(given) for name, given in self.checks.items()},
                model,
                terms.room,
                blake2b(terms.salt, digest_size=16).hexdigest(),
            ]
        )


def versions(rubric: Rubric) -> Versions:
    """What a verdict made now, with this rubric, depends on."""
    return Versions(
        proctor=__version__,
        prompt=prompt.PROMPT,
        fold=citations.FOLD,
        rubric=f"{rubric.name} {rubric.version}",
        rubric_digest=digest_of(rubric),
    )


def digest(value: Any) -> str:
    """32 hexadecimal digits of a JSON value."""
    plain = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return blake2b(plain.encode(), digest_size=16).hexdigest()
