"""Which models answered, by their providers' own names: a gateway may send a question to another one than was asked."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.vendors import STAND_IN, families
from proctor.verdict import Finding, Judge


def reviews(judge: Judge) -> Iterator[str]:
    """Why a person should look: a model of the agent's own vendor judged, and nobody had allowed that."""
    if judge.stand_in or judge.vendor_overridden:
        return
    for name in judge.returned:
        if families(name).families & frozenset(judge.agent_families) - {STAND_IN}:
            yield f"answered by {name}, a model of the agent's own vendor"


def findings(judge: Judge) -> Iterator[Finding]:
    """The same for a reader, and the names of all who answered where they were not one."""
    for review in reviews(judge):
        yield Finding(kind="note", message=f"{review}: {judge.model} was asked")
    if len(judge.returned) > 1 and not judge.stand_in:
        message = f"{judge.model} was asked, and models of several names answered: {', '.join(judge.returned)}"
        yield Finding(kind="note", message=message)
