"""Which cases make a tape in a run that records. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.cases.case import Case
from proctor.errors import SuiteError
from proctor.harness.planning import tape_of


def makers(cases: Sequence[Case], suite: str) -> tuple[list[Case], dict[str, str]]:
    """The cases that are recorded, and why each of the others is not, by its id.

    One case makes each tape, the first that names it. A case with an overlay makes none: what it expects stands in no
    real answer. Raises SuiteError where nothing is left to be recorded.
    """
    chosen: list[Case] = []
    by_tape: dict[str, str] = {}
    others: dict[str, str] = {}
    for case in cases:
        tape = tape_of(case, suite)
        if case.overlay:
            others[case.id] = f"its overlay changes what {tape} answers"
        elif tape in by_tape:
            others[case.id] = f"{by_tape[tape]} makes its tape {tape}"
        else:
            by_tape[tape] = case.id
            chosen.append(case)
    if not chosen:
        told = "; ".join(f"{case}: {why}" for case, why in others.items())
        raise SuiteError("nothing_to_record", f"no case makes a tape ({told})", "record one that has no overlay")
    return chosen, others
