"""Counters keep what closed sessions did, and every page of them is one that Prometheus reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from proctor.proxy.metrics import Totals, outcome_of, rendered
from proctor.summary import ServiceCount, Tally
from proctor.trace import SessionSummary
from tests.integration.serve.support import samples
from tests.property.counts import examples
from tests.unit.core.values import interaction, request

MISS = {"service": "desk", "method": "GET", "target": "/", "error": {"code": "not_recorded", "message": "m"}}


def tally() -> Tally:
    """A session's, with one exchange of each kind."""
    made = Tally()
    for how in ("hits", "recorded", "live"):
        made.answered(interaction(), how, repeated=False)
    made.answered(interaction(request(service="line")), "hits", repeated=True)
    made.missed(MISS)
    made.missed({**MISS, "service": ""})
    made.failed("answer_cut", "broke off")
    made.failed("upstream_unreachable", "one", exchange=True, service="desk")
    made.failed("upstream_unreachable", "two", exchange=True, service="desk")
    return made


DONE = {
    ("exchanges_total", "desk", "replay"): 1,
    ("exchanges_total", "desk", "record"): 1,
    ("exchanges_total", "desk", "live"): 1,
    ("exchanges_total", "desk", "refused"): 3,
    ("exchanges_total", "line", "replay"): 1,
    ("misses_total", "desk"): 1,
    ("errors_total", "answer_cut"): 1,
    ("errors_total", "upstream_unreachable"): 2,
}


def test_an_open_session_counts_as_a_closed_one_does() -> None:
    totals = Totals({"desk": ServiceCount()})
    opened = tally()
    assert samples(rendered(totals.with_open([opened]), 1, 0)) == {**DONE, ("sessions_open",): 1}
    assert samples(rendered(totals, 0, 0)) == {}, "looking changes nothing"
    totals.take(opened)
    assert samples(rendered(totals.with_open([]), 0, 0)) == DONE
    twice = samples(rendered(totals.with_open([tally()]), 0, 0))
    assert twice == {key: 2 * value for key, value in DONE.items()}


def test_every_configured_service_and_ending_has_its_counters_from_the_start() -> None:
    text = rendered(Totals({"desk": ServiceCount()}), 0, 0)
    for line in (
        'proctor_exchanges_total{service="desk",source="replay"} 0',
        'proctor_exchange_seconds_count{service="desk"} 0',
        'proctor_sessions_closed_total{ending="failed"} 0',
        "# TYPE proctor_exchanges_total counter",
        "# TYPE proctor_sessions_open gauge",
    ):
        assert line in text.splitlines()


@examples(60, 2_000)
@given(st.dictionaries(st.text(st.characters(codec="utf-8"), min_size=1), st.integers(0, 2**40)))
def test_any_label_comes_back_as_it_was(counts: dict[str, int]) -> None:
    totals = Totals({})
    totals.errors.update(counts)
    (family,) = [
        each for each in text_string_to_metric_families(rendered(totals, 0, 0)) if each.name == "proctor_errors"
    ]
    assert {sample.labels["code"]: sample.value for sample in family.samples} == counts


@pytest.mark.parametrize(
    ("facts", "status", "outcome"),
    [
        ({"sealed": "t.yaml"}, 0, "sealed"),
        ({"aside": "t.yaml"}, 1, "aside"),
        ({}, 0, "ok"),
        ({}, 3, "failed"),
        ({}, 7, "failed"),
    ],
)
def test_a_session_has_one_ending(facts: dict[str, str], status: int, outcome: str) -> None:
    base = {
        "session": "s",
        "cassette": "t",
        "set_up": "code",
        "llm": "none",
        "modes": {},
        "started_at": "",
        "seconds": 1,
    }
    assert outcome_of(SessionSummary.model_validate({**base, **facts}), status) == outcome
