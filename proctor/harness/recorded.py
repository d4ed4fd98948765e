"""Which tape answers a case, and which case makes it. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from proctor.cases.case import Case
from proctor.errors import SuiteError


def tape_of(case: Case, suite: str) -> str:
    """The cassette that a case is answered from."""
    return case.tape or f"{suite}/{case.id}"


def makers(cases: Iterable[Case], suite: str) -> dict[str, str]:
    """By tape: the id of the case that makes it, the first that names it.

    A case with an overlay makes none: what it expects stands in no real answer.
    """
    found: dict[str, str] = {}
    for case in cases:
        if not case.overlay:
            found.setdefault(tape_of(case, suite), case.id)
    return found


def recorded(cases: Sequence[Case], suite: str) -> tuple[list[Case], dict[str, str]]:
    """Those of the cases that are recorded, and why each of the others is not, by its id.

    Raises SuiteError where nothing is left to be recorded.
    """
    by_tape = makers(cases, suite)
    chosen: list[Case] = []
    others: dict[str, str] = {}
    for case in cases:
        tape = tape_of(case, suite)
        if case.overlay:
            others[case.id] = f"its overlay changes what {tape} answers"
        elif by_tape[tape] != case.id:
            others[case.id] = f"{by_tape[tape]} makes its tape {tape}"
        else:
            chosen.append(case)
    if not chosen:
        told = "; ".join(f"{case}: {why}" for case, why in others.items())
        raise SuiteError("nothing_to_record", f"no case makes a tape ({told})", "record one that has no overlay")
    return chosen, others
