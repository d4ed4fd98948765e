"""What a service has done since it started, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.judge.service.budgets import Budgets
from proctor.judge.service.gates import ProviderGates
from proctor.judge.service.working import Lanes
from proctor.prometheus import Family, Sample, written

_ENDED = ("done", "refused", "failed")


def rendered(waiting: int, lanes: Lanes, gates: ProviderGates, budgets: Budgets) -> str:
    """Every metric, ready to be scraped."""
    return written(_families(waiting, lanes, gates, budgets))


def _families(waiting: int, lanes: Lanes, gates: ProviderGates, budgets: Budgets) -> Iterator[Family]:
    yield "judge_waiting", "gauge", "Verdicts asked for and not begun.", [Sample({}, waiting)]
    yield "judge_at_work", "gauge", "Verdicts that are being made.", [Sample({}, lanes.at_work)]
    yield (
        "judge_verdicts_total",
        "counter",
        "Verdicts made, refused for want of budget, or failed inside Proctor.",
        [Sample({"ending": ending}, lanes.made[ending]) for ending in _ENDED],
    )
    yield "judge_spent_today_dollars", "gauge", "US dollars spent today (UTC).", [Sample({}, budgets.day.spent)]
    states = sorted(gates.states().items())
    yield (
        "judge_calls_in_flight",
        "gauge",
        "Calls on their way, by provider.",
        [Sample({"provider": name}, state.in_flight) for name, state in states],
    )
    yield (
        "judge_calls_at_once",
        "gauge",
        "Calls that may be on their way at once, by provider.",
        [Sample({"provider": name}, state.at_once) for name, state in states],
    )
    yield (
        "judge_rate_limited_total",
        "counter",
        "Answers of 429, by provider.",
        [Sample({"provider": name}, state.limited) for name, state in states],
    )
