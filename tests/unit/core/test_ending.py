"""With what status a command ends: 4, then 3, then the command's own, then 1; every reason is told."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.summary import Tally, ending, llm_of, unused_labels
from proctor.trace import ErrorSeen, HostTried, MissSeen, SessionSummary
from proctor.wire import Mode
from tests.unit.core.values import in_order, interaction, request

MISS = MissSeen(code="not_recorded", service="desk", method="GET", target="/", message="nothing answers", fix="again")
HOST = HostTried(host="evil.test:443", method="CONNECT")
FAILED = ErrorSeen(code="upstream_unreachable", message="did not answer", fix="see that it runs")
OURS = ErrorSeen(code="seal_failed", message="could not be sealed")


def summary(**facts: Any) -> SessionSummary:
    """The summary of a session in which all went well, but for these facts."""
    base: dict[str, Any] = {
        "session": "s", "cassette": "t", "set_up": "code", "llm": "none", "modes": {"desk": "replay"},
        "started_at": "2026-01-01T00:00:00+00:00", "seconds": 1.0, "exchanges": 1,
    }  # fmt: skip
    return SessionSummary(**{**base, **facts})


def test_a_session_without_fault_ends_well() -> None:
    assert ending(summary(), 0) == (0, ())


@pytest.mark.parametrize(
    ("facts", "command", "status", "first"),
    [
        ({"misses": (MISS,)}, 0, 3, "miss: nothing answers\n    again"),
        ({"hosts": (HOST,)}, 0, 3, "CONNECT went to evil.test:443, which is no service; refused"),
        ({"exchanges": 0}, 0, 3, "no request reached the proxy at all"),
        ({"services_unused": ("desk",)}, 0, 3, 'service "desk" was never asked'),
        ({"errors": (FAILED,)}, 0, 1, "did not answer\n    see that it runs"),
        ({"errors": (OURS,)}, 0, 4, "could not be sealed"),
        ({"aside_reasons": ("it was cut",)}, 0, 1, "not sealed: it was cut"),
        ({}, 7, 7, "the command ended with status 7"),
        ({}, 130, 130, "the command ended with status 130"),
        ({"errors": (OURS,), "misses": (MISS,)}, 7, 4, "could not be sealed"),
        ({"errors": (FAILED,), "misses": (MISS,)}, 7, 3, "miss: nothing answers"),
        ({"errors": (FAILED,), "aside_reasons": ("cut",)}, 7, 7, "the command ended with status 7"),
        ({"errors": (FAILED,)}, 4, 4, "the command ended with status 4"),
        ({"errors": (FAILED,), "misses": (MISS,)}, 4, 3, "miss: nothing answers"),
    ],
)
def test_the_most_important_reason_decides_and_is_told_first(
    facts: dict[str, Any], command: int, status: int, first: str
) -> None:
    ended = ending(summary(**facts), command)
    assert ended.status == status
    assert ended.reasons[0].startswith(first)


def test_the_first_differences_of_a_miss_are_told_with_it() -> None:
    missed = MISS.model_copy(update={"diff": tuple(f"difference {n}" for n in range(9))})
    (reason,) = ending(summary(misses=(missed,)), 0).reasons
    assert reason.splitlines() == [
        "miss: nothing answers",
        *(f"    also difference {n}" for n in (1, 2, 3)),
        "    again",
    ]


def test_every_reason_is_told_beside_the_first() -> None:
    told = ending(
        summary(misses=(MISS,), hosts=(HOST,), errors=(FAILED, OURS), aside_reasons=("it was cut",)), 7
    ).reasons
    parts = ("nothing answers", "evil.test", "did not answer", "could not be sealed", "it was cut", "with status 7")
    assert len(told) == len(parts)
    assert all(any(part in reason for reason in told) for part in parts)


def test_unused_services_may_be_allowed_but_no_request_at_all_never_is() -> None:
    assert ending(summary(services_unused=("desk",)), 0, allow_unused=True) == (0, ())
    assert ending(summary(exchanges=0, services_unused=("desk",)), 0, allow_unused=True).status == 3


def test_a_repeated_miss_and_a_host_that_is_a_services_address_say_so() -> None:
    seen = summary(
        misses=(MISS.model_copy(update={"count": 3}),),
        hosts=(HostTried(host="desk.test:80", method="GET", count=2, service="desk"),),
    )
    missed, past = ending(seen, 0).reasons
    assert missed.startswith("miss (3 times): ")
    assert past.startswith('GET went straight to desk.test:80, 2 times, the address of service "desk"; refused')
    assert "[services.desk]" in past


def test_one_miss_or_error_is_listed_once_with_its_count() -> None:
    tally = Tally()
    error = {"code": "not_recorded", "message": "m", "diff": ["body /a"]}
    row = {"service": "desk", "method": "POST", "target": "/", "arguments": {"a": 1}, "error": error}
    for arguments in ({"a": 1}, {"a": 1}, {"a": 2}):
        tally.missed({**row, "arguments": arguments})
    tally.failed("x", "m")
    tally.failed("x", "m", exchange=True)
    assert [miss.count for miss in tally.misses.values()] == [2, 1]
    assert [seen.count for seen in tally.errors.values()] == [2]
    assert tally.exchanges == 4


def test_guessed_effects_are_counted_and_declared_ones_are_not() -> None:
    tally = Tally()
    tally.answered(interaction(effect="write", why="guessed", tool="pay"), "hits", repeated=True)
    tally.answered(interaction(effect="write", why="guessed", tool="pay"), "hits", repeated=False)
    tally.answered(interaction(effect="read", why="guessed", tool="get"), "hits", repeated=True)
    tally.answered(interaction(effect="write", why="declared", tool="buy"), "hits", repeated=True)
    found = [(guess.name, guess.effect, guess.count, guess.repeated) for guess in tally.guessed_effects()]
    assert found == [("get", "read", 1, 0), ("pay", "write", 2, 1)]


def test_recordings_that_nothing_asked_for_are_named_by_tool_else_by_method_and_path() -> None:
    made = in_order(interaction(tool="pay"), interaction(request(method="GET", target="/a?b=1")), interaction())
    assert unused_labels(made, [0, 0, 2]) == ("#0 desk pay", "#1 desk GET /a")


@pytest.mark.parametrize(
    ("mode", "asked", "stand_ins", "llm"),
    [
        ("replay", {"llm"}, set(), "replayed"),
        ("live", {"llm"}, set(), "live"),
        ("record", {"llm"}, set(), "live"),
        ("live", {"llm"}, {"llm"}, "stand-in"),
        ("live", {"desk"}, {"desk"}, "none"),
        ("replay", set(), set(), "none"),
    ],
)
def test_what_stood_behind_the_llm_is_told(mode: Mode, asked: set[str], stand_ins: set[str], llm: str) -> None:
    tally = Tally(stand_ins=stand_ins)
    for name in asked:
        tally.services[name].live += 1
    assert llm_of({"llm": mode, "desk": "replay"}, frozenset({"llm"}), tally) == llm
