"""Cases to plan with."""

from __future__ import annotations

from typing import Any

from proctor.cases.case import Case
from proctor.harness.estimate import Planned


def case(name: str = "c", turns: tuple[str, ...] = ("hello",), **said: Any) -> Case:
    """A case that says little."""
    return Case.model_validate({"id": name, "title": "t", "turns": [{"user": each} for each in turns], **said})


def planned(name: str = "c", trials: int = 1, **said: Any) -> Planned:
    """A case with its trials."""
    return Planned(case(name, **said), trials)
