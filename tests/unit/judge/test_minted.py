"""Ids and fields that a model's API leaves in texts."""

from __future__ import annotations

import json

import pytest

from proctor.judge.minted import Ids, bare_metadata, shaped_ids, without_metadata

COMPLETION = {
    "id": "chatcmpl-9abcDEF123456",
    "object": "chat.completion",
    "created": 1700000000,
    "model": "some-model",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "hi", "refusal": None, "annotations": []},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    "system_fingerprint": "fp_44709d6fcb",
}


@pytest.mark.parametrize(
    "identity",
    [
        "call_abc123XYZ987abcDEF456gh",
        "call_QxZvNbTfGhJkLmPqRsTwYzAb",
        "toolu_01A09q90qw90lq917835lq9",
        "toolu_bdrk_01ABCdef",
        "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q",
        "functions.get_order:0",
    ],
)
def test_an_id_in_a_vendors_shape_is_numbered_wherever_it_stands(identity: str) -> None:
    ids = Ids([])
    assert ids.renumbered(f'{{"id":"{identity}"}}, then {identity}.') == '{"id":"call_1"}, then call_1.'
    assert not list(shaped_ids(ids.renumbered(identity)))


@pytest.mark.parametrize("identity", ["chatcmpl-9abcDEF123456", "msg_01XFDUDYJgAACzvnptvVoYEL", "fp_44709d6fcb"])
def test_ids_of_answers_are_numbered_apart(identity: str) -> None:
    assert Ids([]).renumbered(f"from {identity}") == "from id_1"


def test_an_id_of_the_run_is_numbered_whatever_its_shape_unless_it_may_be_any_word() -> None:
    ids = Ids(["run7-tool-0042", "1", "W1"])
    assert ids.renumbered("1 W1 run7-tool-0042") == "1 W1 call_1"


@pytest.mark.parametrize("word", ["call_customer", "call_center_metrics", "msg_count", "run_diagnostics", "step_1"])
def test_names_that_only_begin_like_ids_stay(word: str) -> None:
    assert Ids([]).renumbered(word) == word


def test_the_fields_of_a_models_answer_go_and_what_it_said_stays() -> None:
    left = json.loads(without_metadata(json.dumps(COMPLETION)))
    assert left == {"choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}}]}


@pytest.mark.parametrize(
    "text",
    [
        '{"model": "iPhone 15", "price": 1e400}',
        '{"usage": 5, "line": "555-010-0001"}',
        '{"annotations": ["blurred"], "image": 1}',
        '{"refusal": "the guest refused", "guest": 2}',
    ],
)
def test_a_phone_has_a_model_and_a_line_has_usage(text: str) -> None:
    assert without_metadata(text) == text


def test_what_is_no_json_keeps_its_place_without_the_words_of_an_api() -> None:
    text = "ChatCompletion(id='x', refusal=None, annotations=[], system_fingerprint='a')"
    blinded = without_metadata(text)
    assert blinded == "[metadata](id='x', [metadata], [metadata], [metadata]='a')"
    assert not list(bare_metadata(blinded))


def test_every_other_character_of_the_json_stays() -> None:
    text = '{ "a" : 1.50 , "system_fingerprint" : "fp_44709d6fcb" , "a": 1e400, "b":"\\u00e9"}'
    assert without_metadata(text) == '{ "a" : 1.50 , "a": 1e400, "b":"\\u00e9"}'
