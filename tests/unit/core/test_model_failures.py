"""What an exception of litellm's means, where its class, its status and its words say different things."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from proctor.model_call import ModelCall
from proctor.model_failures import SAID_AT_MOST, failure_of
from proctor.model_ways import Ways, first_ways

CALL = ModelCall((), "safety", {"type": "object"}, 7, 300, 20)


class Response:
    def __init__(self, status: int, **headers: str) -> None:
        self.status_code = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class InternalServerError(Exception):
    """As litellm raises it: with a status of its own making."""

    status_code = 500

    def __init__(self, message: str, response: Response | None = None) -> None:
        super().__init__(message)
        self.response = response or Response(500)


class APIConnectionError(Exception):
    pass


def test_a_status_counts_where_an_answer_has_headers() -> None:
    real = InternalServerError(
        "litellm.InternalServerError: InternalServerError: OpenAIException - boom", Response(500, date="x")
    )
    made_up = InternalServerError("litellm.InternalServerError: OpenAIException - Expecting value: line 1")
    broken = InternalServerError("OpenAIException - Connection error.")
    broken.__cause__ = APIConnectionError("reset by peer")
    told = [(failed.cause, failed.again, failed.said) for failed in map(failure_of, (real, made_up, broken))]
    assert told == [
        ("unreachable", True, "500: boom"),
        ("no_reply", False, "Expecting value: line 1"),
        ("unreachable", True, "Connection error. (reset by peer)"),
    ]


@pytest.mark.parametrize("error", [ValueError("what is this"), KeyError(), RecursionError("deep"), TypeError("\n\n")])
def test_whatever_breaks_while_an_answer_is_read_is_no_reply(error: Exception) -> None:
    failed = failure_of(error)
    assert (failed.cause, failed.again) == ("no_reply", False)
    assert failed.said


def test_a_missing_part_of_litellm_is_not_tried_again() -> None:
    failed = failure_of(ModuleNotFoundError("No module named 'google'"))
    assert (failed.cause, failed.again, failed.said) == ("bad_request", False, "No module named 'google'")


def test_causes_that_go_round_come_to_an_end() -> None:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    assert failure_of(first).cause == "no_reply"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("3", 3.0), (" 2.5 ", 2.5), ("soon", None), ("-4", None), ("nan", None), ("inf", None), ("1e9", None), ("", None)],
)
def test_only_a_number_or_a_date_is_a_time_to_wait(value: str, seconds: float | None) -> None:
    assert failure_of(InternalServerError("x", Response(429, Retry_After=value))).after == seconds


def test_a_date_to_wait_for_is_seconds_from_now() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    after = failure_of(InternalServerError("x", Response(503, Retry_After=date))).after
    assert after is not None
    assert 20 < after <= 30


def test_what_was_said_is_one_short_line_without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_TOKEN", "q8Zt4vXw91LmRb7K")
    said = failure_of(ValueError("bad token q8Zt4vXw91LmRb7K\n\nat " + "line 1, " * 400)).said
    assert said.startswith("bad token [GATEWAY_TOKEN] at line 1")
    assert (len(said), "\n" in said) == (SAID_AT_MOST, False)


def test_refusals_leave_out_one_parameter_after_the_other_and_then_nothing() -> None:
    ways: Ways | None = first_ways({"response_format", "temperature", "seed", "max_completion_tokens"}, True)
    sent = []
    while ways is not None:
        sent.append(ways.parameters(CALL))
        ways = ways.after("temperature, seed, response_format and max_completion_tokens are not supported")
    assert len(sent) == 6
    assert sent[-1] == {"max_tokens": 300}


def test_a_refusal_that_names_no_parameter_changes_nothing() -> None:
    assert first_ways({"temperature"}, True).after("messages: the role is unknown, and so is the seedling") is None


def test_a_route_is_sent_only_what_the_tables_say_it_takes() -> None:
    assert first_ways((), True).parameters(CALL) == {"max_tokens": 300}
    assert first_ways({"response_format"}, False).parameters(CALL)["response_format"] == {"type": "json_object"}
