"""Stand-ins are asked for by name, and say what their file says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proctor.errors import UsageError
from proctor.judge.stand_ins import stand_in
from proctor.model_call import Model, ModelFailure
from tests.unit.judge.prompts import call


def scripted(folder: Path, text: str) -> Model:
    file = folder / "script.yaml"
    file.write_text(text, encoding="utf-8")
    return stand_in(f"stand-in/scripted:{file}")


async def said(model: Model, criterion: str = "safety") -> str:
    return (await model.ask(call(criterion=criterion))).text


async def test_replies_go_to_their_criterion_in_turn_and_the_last_one_for_ever(tmp_path: Path) -> None:
    model = scripted(tmp_path, "replies:\n  safety: [first, {score: 2, finding: 好}]\n  '*': whatever else\n")
    assert [await said(model), await said(model), await said(model)] == [
        "first",
        *['{"score": 2, "finding": "好"}'] * 2,
    ]
    assert await said(model, "task_achievement") == "whatever else"
    assert (model.is_stand_in, model.name) == (True, f"stand-in/scripted:{tmp_path / 'script.yaml'}")


async def test_a_list_is_said_in_the_order_of_the_questions(tmp_path: Path) -> None:
    model = scripted(tmp_path, json.dumps({"replies": ["one", "two"]}))
    assert [await said(model, "safety"), await said(model, "task_achievement")] == ["one", "two"]


async def test_failures_have_the_cause_that_the_file_names(tmp_path: Path) -> None:
    model = scripted(tmp_path, "replies:\n  safety: [{fail: refusal, said: I cannot assess that}, fine]\n")
    with pytest.raises(ModelFailure, match="I cannot assess that") as raised:
        await said(model)
    assert raised.value.cause == raised.value.attempts[0].ended == "refusal"
    assert await said(model) == "fine"


async def test_what_the_script_does_not_say_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(ModelFailure, match="says nothing of safety") as raised:
        await said(scripted(tmp_path, "replies: {task_achievement: fine}"))
    assert raised.value.cause == "no_reply"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "replies: {}",
        "replies: [",
        "replies: {safety: 3}",
        "replies: {safety: []}",
        "replies: {safety: {fail: tired}}",
        "replies: {safety: {fail: refusal, delay: 3}}",
        "- a list",
    ],
)
def test_a_file_that_cannot_be_used_is_refused_at_once(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError) as raised:
        scripted(tmp_path, text)
    assert raised.value.code == "stand_in_script_unusable"


@pytest.mark.parametrize("name", ["stand-in/", "stand-in/other", "stand-in/scripted:", "obedient", "openai/gpt-4o"])
def test_other_names_are_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(UsageError, match="there is no stand-in") as raised:
        stand_in(name)
    assert "stand-in/obedient" in raised.value.fix


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.yaml"):
        stand_in(f"stand-in/scripted:{tmp_path / 'gone.yaml'}")
