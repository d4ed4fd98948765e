"""Which suite an agent was tested with."""

from __future__ import annotations

import hashlib

from proctor.canonical import canonical_form
from proctor.cases.files import SuiteRead

_SHORT = 12


def suite_version(read: SuiteRead) -> str:
    """What `Versions.suite` of a trajectory says: a digest of all cases, those of templates made out, and of what the
    suite says of each.

    Neither the order of the cases counts nor the file that one stands in.
    """
    cases = sorted((placed.case for placed in read.cases), key=lambda case: case.id)
    shared = read.suite.model_dump(mode="json", include={"limits", "trials"})
    held = {**shared, "cases": [case.model_dump(mode="json") for case in cases]}
    return hashlib.sha256(canonical_form(held)).hexdigest()[:_SHORT]
