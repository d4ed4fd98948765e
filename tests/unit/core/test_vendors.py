"""Whose model a name is, and who may judge whom."""

from __future__ import annotations

import pytest

from proctor.vendors import conflict, families
from tests.unit.core.vendor_labels import labels
from tools import figures_vendors


def test_200_names_are_labelled_by_hand_and_each_once() -> None:
    assert len({name for name, _ in labels()}) == len(labels()) >= 200


@pytest.mark.req(167)
@pytest.mark.parametrize(("name", "made_by"), labels(), ids=[name for name, _ in labels()])
def test_a_name_has_the_families_that_it_was_labelled_with(name: str, made_by: frozenset[str]) -> None:
    found = families(name)
    assert found.families == made_by, found.why


@pytest.mark.parametrize(
    ("name", "made_by"),
    [
        ("gpt4all", {"nomic"}),  # no prefix of a token counts
        ("palmyra-x4", {"writer"}),
        ("groq/gemma-7b-it", {"google"}),
        ("xai/grok-3", {"xai"}),
        ("gpt-unheard-of", set()),  # others call their models so, too
        ("gpt", {"openai"}),
        ("claudette-7b", set()),
        ("llamanator", set()),
        ("deepseek-r1-distill", set()),  # from what into what?
        ("deepseek-r1:7b", {"deepseek", "alibaba"}),
        ("mistral/glm-5-2", {"zhipu"}),  # Mistral's API has other makers' models too
        ("openai/Qwen2.5-7B-Instruct", {"alibaba"}),
        ("openrouter/openai/unheard-of", {"openai"}),
        ("openai/unheard-of", set()),
        ("llama-o1", {"meta"}),
        ("", set()),
        ("   ", set()),
        ("/", set()),
        ("\ud800\x00", set()),
    ],
)
def test_only_whole_words_count_and_a_gateway_is_nobody(name: str, made_by: set[str]) -> None:
    assert families(name).families == made_by


def test_a_vendor_that_was_declared_counts_beside_the_name() -> None:
    assert families("", vendor="openai").families == {"openai"}
    assert families("our-deployment", vendor="Mistral AI").families == {"mistral"}
    assert families("hermes-3", vendor="Nous Research").families == {"nous", "meta"}
    assert families("qwen-max", vendor="openai").families == {"alibaba", "openai"}
    assert families("our-deployment", vendor="ACME").families == frozenset()


def test_the_gateway_is_told_and_the_reason_names_the_word() -> None:
    found = families("openrouter/anthropic/claude-3.7-sonnet")
    assert found.provider == "openrouter"
    assert found.why == "openrouter/anthropic/claude-3.7-sonnet: anthropic (anthropic)"
    assert families("my-model").why == "my-model: no word in it names a known line of models"


def test_a_very_long_name_is_cut_where_it_is_shown() -> None:
    assert len(families("x-" * 100_000).why) < 200


@pytest.mark.req(167)
@pytest.mark.parametrize(
    ("agent", "judge"),
    [
        ("gpt-4o", "azure/gpt-4.1"),
        ("gpt-4o", "openrouter/openai/gpt-oss-120b"),
        ("deepseek-r1-distill-llama-70b", "groq/llama-3.3-70b-versatile"),
        ("claude-3-5-sonnet", "bedrock/us.anthropic.claude-opus-4-20250514-v1:0"),
    ],
)
def test_a_judge_of_the_agents_vendor_is_refused_behind_any_gateway_or_name(agent: str, judge: str) -> None:
    reason = conflict(agent, judge)
    assert reason.startswith("agent and judge are both ")
    assert agent in reason
    assert judge in reason


def test_what_is_not_known_is_refused_whichever_it_is() -> None:
    assert conflict("our-agent", "claude-3") == (
        "nobody can say whose model the agent is (our-agent: no word in it names a known line of models)"
    )
    assert "the judge is (openrouter/auto" in conflict("gpt-4o", "openrouter/auto")


def test_other_vendors_may_judge() -> None:
    assert conflict("gpt-4o", "anthropic/claude-sonnet-4") == ""
    assert conflict(families("", vendor="openai"), "gemini/gemini-2.5-pro") == ""


def test_a_stand_in_may_judge_a_stand_in_and_any_known_vendor() -> None:
    assert conflict("stand-in/scripted", "stand-in/obedient") == ""
    assert conflict(families("", vendor="stand-in"), "stand-in/obedient") == ""
    assert conflict("gpt-4o", "stand-in/obedient") == ""
    assert conflict("", "stand-in/obedient") != ""


def test_of_litellms_chat_models_nine_in_ten_are_known_and_the_rest_are_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = figures_vendors.chat_models()
    if not names:
        pytest.skip("litellm is not installed: pip install --no-deps 'litellm>=1.80,!=1.107.*'")
    assert figures_vendors.vendor_resolved(())["vendor_resolved"] >= 0.9
    figures_vendors.main()
    listed = {line.split(": ")[0] for line in capsys.readouterr().out.splitlines()}
    assert {name for name in names if not families(name).families} <= listed


def test_the_figure_counts_wrong_labels_and_prints_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert figures_vendors.vendor_wrong(()) == {"vendor_wrong": 0}
    wrong = (("gpt-4o", frozenset({"google"})), ("claude-3", frozenset({"anthropic"})))
    monkeypatch.setattr(figures_vendors, "labels", lambda: wrong)
    assert figures_vendors.vendor_wrong(()) == {"vendor_wrong": 1}
    assert "vendor wrong: wanted google; gpt-4o: openai (gpt)" in capsys.readouterr().out


def test_without_litellm_there_is_no_figure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(figures_vendors, "chat_models", list)
    assert figures_vendors.vendor_resolved(()) == {}
    assert "litellm is not installed" in capsys.readouterr().out
