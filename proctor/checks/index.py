"""Every check by its name: what a suite file may ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from proctor.check import CheckResult
from proctor.checks.branch import branch_taken
from proctor.checks.events import intent_known, skill_routed
from proctor.checks.expected_writes import expected_writes
from proctor.checks.final_state import final_state
from proctor.checks.preconditions import preconditions
from proctor.checks.recall import recall
from proctor.checks.repeats import loops, retries
from proctor.checks.state_held import state_held
from proctor.checks.tools import calls_match, tool_called, tool_not_called, tools_in_order

ON_CALLS_AND_STATE: tuple[Callable[..., CheckResult], ...] = (
    final_state,
    expected_writes,
    tool_called,
    tool_not_called,
    tools_in_order,
    calls_match,
    preconditions,
    branch_taken,
    state_held,
    recall,
    intent_known,
    skill_routed,
    loops,
    retries,
)

CHECKS: Mapping[str, Callable[..., CheckResult]] = MappingProxyType(
    {check.__name__: check for check in ON_CALLS_AND_STATE}
)
"""Called with a trajectory and the check's parameters, which may be plain JSON."""
