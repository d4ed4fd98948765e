"""How a session ended shows in the trajectory's error: a model that did not answer, misses, the command's status."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from proctor.tool_calls import calls_of
from proctor.trajectories.from_session import from_session
from proctor.trajectory import Tokens, Trajectory
from tests.unit.trajectories.traffic import APIS, Call, Conversation, numbered, row, summary

LOOK = Call("look_up", {"order": "A"}, {"paid": 9})
TALK: Sequence[tuple[str, Sequence[Sequence[Call] | str]]] = (("go", [[LOOK], "It is paid."]),)


def rows_of(api: str = "chat", *, stream: bool = False) -> list[dict[str, Any]]:
    return list(Conversation(api, "A", TALK, stream=stream).rows())


def built(*rows: dict[str, Any], **fields: object) -> Trajectory:
    (found,) = from_session(summary(**fields), numbered(rows))
    return found


ENDS = {
    "chat": '"finish_reason": "stop"',
    "responses": '"type": "response.completed"',
    "chained": '"type": "response.completed"',
    "messages": '"type": "message_stop"',
}
"""What ends a stream of each API."""


@pytest.mark.parametrize("api", APIS)
def test_a_last_answer_that_broke_off_is_an_error_and_no_final_answer(api: str) -> None:
    *rows, last = rows_of(api, stream=True)
    text = str(last["result"])
    for cut in (*range(0, text.index(ENDS[api]), 61), text.index(ENDS[api])):
        found = built(*rows, {**last, "result": text[:cut]})
        assert found.error is not None
        assert found.error.startswith("the model")
        assert found.final_answer is None
        assert found.events == (), "it is no tool's traffic"
    assert found.steps[-1].text == "It is paid.", "what came is a step"
    assert found.error == "the model's last answer broke off"
    assert found.tokens is None or found.tokens.output is None, "nobody knows what it would have cost"


def test_pieces_of_a_response_that_was_never_told_whole_are_put_together() -> None:
    first, tool, last = rows_of("responses", stream=True)
    message = {"type": "message", "role": "assistant", "content": []}
    call = {"type": "function_call", "call_id": "c9", "name": "pay", "arguments": ""}
    deltas = [("output_text", 0, "It is "), ("output_text", 0, "pa"), ("function_call_arguments", 1, '{"a')]
    events = [
        {"type": "response.created", "response": {"id": "r", "model": "m", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": message},
        {"type": "response.output_item.added", "output_index": 1, "item": call},
        *({"type": f"response.{kind}.delta", "output_index": at, "delta": piece} for kind, at, piece in deltas),
    ]
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    found = built(first, tool, {**last, "result": stream, "cut": True})
    assert found.steps[-1].text == "It is pa"
    (made,) = found.steps[-1].tool_calls
    assert (made.name, made.arguments, made.arguments_raw) == ("pay", None, '{"a')
    assert found.error == "the model's last answer broke off"


def test_an_error_in_a_stream_says_why_it_broke_off() -> None:
    *rows, last = rows_of("messages", stream=True)
    cut = str(last["result"]).partition("event: content_block_stop")[0]
    told = 'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n'
    assert built(*rows, {**last, "result": cut + told}).error == "the model's last answer broke off: Overloaded"
    nothing = built(*rows, {**last, "result": told}).error
    assert nothing == "the model did not answer the last request: the answer broke off: Overloaded"


def test_a_model_that_did_not_answer_the_last_request_is_an_error() -> None:
    *rows, last = rows_of()
    found = built(*rows, {**last, "status": 429, "result": {"error": {"message": "slow down"}}})
    assert found.error == "the model did not answer the last request: status 429"
    assert found.final_answer is None
    assert [call.result for call in calls_of(found)] == [{"paid": 9}]


def test_a_response_that_failed_is_an_error_with_its_reason() -> None:
    *rows, last = rows_of("responses")
    failed = {"id": "r", "object": "response", "status": "failed", "error": {"message": "out of quota"}, "output": []}
    assert built(*rows, {**last, "result": failed}).error == "the model did not answer the last request: out of quota"


@pytest.mark.parametrize("lost", [{"status": 500, "result": "oops"}, {"cut": True}], ids=["failed", "broke off"])
@pytest.mark.parametrize("api", APIS)
def test_a_model_that_answered_when_asked_again_is_no_error(api: str, lost: dict[str, Any]) -> None:
    *rows, last = rows_of(api)
    found = built(*rows, {**last, **lost}, last)
    assert (found.error, found.final_answer) == (None, "It is paid.")
    assert [step.attempts for step in found.steps if step.role == "assistant"] == [1, 2]


def test_a_refused_tool_call_is_a_failed_result_and_a_miss_an_error() -> None:
    first, _, last = rows_of()
    error = {"code": "miss", "message": "nothing on the tape answers"}
    refused = row(service="desk", target="/look_up", tool="look_up", arguments={"order": "A"}, error=error)
    miss = {"code": "miss", "service": "desk", "method": "POST", "target": "/look_up", "message": "nothing", "count": 2}
    found = built(first, {**refused, "source": "refused", "status": 422}, last, misses=[miss])
    assert calls_of(found)[0].failed is True
    assert found.error == "2 requests were not on the tape"


def test_a_broken_answer_of_a_tool_is_a_failed_result() -> None:
    first, tool, last = rows_of()
    found = built(first, {**tool, "cut": True}, last)
    assert calls_of(found)[0].failed is True


def test_the_status_of_the_command_is_an_error_beside_the_others() -> None:
    errors = [{"code": "upstream", "message": "desk did not answer"}]
    found = built(*rows_of(), command_status=3, errors=errors)
    assert found.error == "desk did not answer; the agent's command ended with status 3"
    assert found.final_answer == "It is paid."
    assert built(*rows_of()).error is None


def test_traffic_of_a_model_that_is_no_conversation_is_named() -> None:
    counted = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    found = built(
        *rows_of(),
        row(service="llm", target="/v1/embeddings", arguments={"input": "x"}, effect_why="preset"),
        row(service="llm", target="/v1/messages/count_tokens", arguments=counted, effect_why="preset"),
    )
    assert (len(found.steps), found.events) == (5, ())
    assert "not part of a conversation: llm POST /v1/embeddings, llm POST /v1/messages/count_tokens" in found.notes


def test_a_tool_whose_address_is_a_models_is_a_tool() -> None:
    sent = row(service="desk", target="/messages", arguments={"messages": ["hello"]}, result={"sent": 1})
    found = built(*rows_of(), sent)
    assert (found.error, [event.data["tool"] for event in found.events]) == (None, ["POST /messages"])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_gateways_path_is_known_by_the_shape_of_what_it_carries(stream: bool) -> None:
    first, tool, last = rows_of("messages", stream=stream)
    found = built({**first, "target": "/gate/7"}, tool, {**last, "target": "/gate/7"})
    assert found.final_answer == "It is paid."


def test_what_anthropic_read_from_a_cache_or_wrote_to_it_was_an_input_too() -> None:
    first, tool, last = rows_of("messages")
    last["result"]["usage"] = {"input_tokens": 1, "cache_creation_input_tokens": 20, "output_tokens": 3}
    found = built(first, tool, last)
    assert [step.tokens for step in found.steps if step.role == "assistant"] == [
        Tokens(input=10, output=2),
        Tokens(input=21, output=3),
    ]
