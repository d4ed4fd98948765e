"""Every check by its name: what a suite file may ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from proctor.check import CheckResult
from proctor.checks.answers import answer_contains, answer_must_not
from proctor.checks.arguments import argument_types
from proctor.checks.branch import branch_taken
from proctor.checks.claims import success_claimed
from proctor.checks.clauses import cited_clause_exists
from proctor.checks.empty import empty_asserted
from proctor.checks.entities import wrong_entity
from proctor.checks.events import intent_known, skill_routed
from proctor.checks.expected_writes import expected_writes
from proctor.checks.final_state import final_state
from proctor.checks.goal_drift import goal_drift
from proctor.checks.injection import injection_in_answer, injection_in_results
from proctor.checks.pii import no_pii, no_secrets
from proctor.checks.preconditions import preconditions
from proctor.checks.provenance import value_from_nowhere
from proctor.checks.recall import recall
from proctor.checks.repeats import loops, retries
from proctor.checks.safety import unsafe_actions
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

ON_WORDS_AND_VALUES: tuple[Callable[..., CheckResult], ...] = (
    answer_contains,
    answer_must_not,
    success_claimed,
    empty_asserted,
    cited_clause_exists,
    value_from_nowhere,
    wrong_entity,
    argument_types,
    goal_drift,
    no_pii,
    no_secrets,
    injection_in_results,
    injection_in_answer,
    unsafe_actions,
)

CHECKS: Mapping[str, Callable[..., CheckResult]] = MappingProxyType(
    {check.__name__: check for check in (*ON_CALLS_AND_STATE, *ON_WORDS_AND_VALUES)}
)
"""Called with a trajectory and the check's parameters, which may be plain JSON."""
