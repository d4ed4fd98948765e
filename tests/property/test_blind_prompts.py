"""Whatever a run holds: no name, no field beyond the list and no word of the author's gets where it must not."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proctor.judge.blinding import blind
from proctor.judge.budget import TooLong, fitted
from proctor.judge.names import Names, names_in, rules_for
from proctor.judge.neutralising import neutralised
from proctor.trajectory import Agent, Step, Task, Tokens, ToolCall, Trajectory
from tests.property.counts import examples
from tests.property.trajectories import trajectories
from tests.unit.judge.shown import criterion, read, user_message

NAMES = (
    "Claude",
    "claude-3-5-sonnet-20241022",
    "ChatGPT",
    "gpt-4o-mini",
    "GPT-4",
    "OpenAI",
    "Anthropic",
    "Gemini 1.5 Pro",
    "DeepSeek-R1",
    "Qwen2.5-72B-Instruct",
    "Llama-3.1-70B",
    "Mixtral 8x7B",
    "mistral-large-latest",
    "grok-2",
    "command-r-plus",
    "phi-3-mini",
    "o3-mini",
    "通义千问",
    "文心一言",
    "Meta AI",
    "toolu_01A09q90qw90lq917835lq9",
    "chatcmpl-9abcDEF123456",
    "system_fingerprint",
)
_TOLD = re.compile(
    r"claude|sonnet|chatgpt|gpt-4|openai|anthropic|gemini|deepseek|qwen|llama|mixtral|mistral|grok|command-r|phi-3|"
    r"o3-mini|通义|千问|文心|meta ai|toolu_|chatcmpl|fingerprint",
    re.IGNORECASE,
)
SECRET = "never-to-be-shown"
AROUND = st.sampled_from(
    (
        "As {}, I cannot.",
        "{}",
        "({})",
        '{{"model": "{}", "a": ["{}"]}}',
        "x\\n{} said",
        "我是{}，你好",
        "id={};",
        "https://x.example/{}/v1",
        "**{}**",
        "the {} model by {}",
        "{}\n{}",
        '{{"a": "{{\\"b\\": \\"{}\\"}}"}}',
    )
)
PLAIN = st.text(st.characters(exclude_categories=("Lu", "Ll", "Lm", "Lo")), max_size=12)
"""Without letters: they might make a word of the list that is no name where it stands alone (`llama`, `opus`)."""


@st.composite
def _texts(draw: st.DrawFn) -> str:
    form = draw(AROUND)
    named = [draw(st.sampled_from(NAMES)) for _ in range(form.count("{}"))]
    return draw(PLAIN) + " " + form.format(*named) + " " + draw(PLAIN)


@st.composite
def _runs(draw: st.DrawFn) -> Trajectory:
    texts = _texts()
    steps: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(1, 5))):
        asked = ToolCall(
            name=draw(st.sampled_from(("find", *NAMES))),
            id=draw(st.sampled_from(("", "call_Ab3dEf6hIj9kLmN2pQrStUvW"))),
            arguments={draw(texts): [draw(texts)]},
            arguments_raw=draw(st.none() | texts),
        )
        steps.append(
            {
                "role": draw(st.sampled_from(("system", "user", "assistant", "tool"))),
                "text": draw(st.none() | texts),
                "name": draw(st.none() | texts),
                "thought": draw(st.none() | texts),
                "tool_calls": draw(st.sampled_from(((), (asked,)))),
                "service": SECRET,
                "fault": SECRET,
                "tokens": Tokens(input=987654321),
            }
        )
    return Trajectory(
        id=SECRET,
        agent=Agent(model=SECRET, vendor=SECRET, framework=SECRET),
        task=Task(goal=draw(texts), policy=draw(texts), initial_data=SECRET),
        steps=tuple(Step(index=index, **step) for index, step in enumerate(steps)),
        final_answer=draw(st.none() | texts),
        end_state=SECRET,
        error=SECRET,
        notes=(SECRET,),
        labels={"a": SECRET},
        expected={"a": SECRET},
        source={"a": SECRET},
    )


@given(run=_runs(), thoughts=st.booleans())
@examples(60, 5_000)
def test_no_name_and_no_unlisted_field_reaches_the_prompt(run: Trajectory, thoughts: bool) -> None:
    content, _ = user_message(blind(run, thoughts=thoughts))
    assert SECRET not in content
    assert "987654321" not in content
    assert _TOLD.search(content) is None


@given(text=_texts() | st.text(max_size=60))
@examples(300, 20_000)
def test_blinding_and_neutralising_again_change_nothing(text: str) -> None:
    once = Names([text]).blinded(text)
    assert Names([once]).blinded(once) == once
    assert not list(names_in(once, rules_for([once])))
    neutral = neutralised(text).text
    assert neutralised(neutral).text == neutral


@given(run=trajectories(), room=st.integers(1_500, 4_000))
@examples(60, 5_000)
def test_every_passage_is_in_the_prompt_as_it_can_be_quoted(run: Trajectory, room: int) -> None:
    try:
        transcript = fitted(blind(run, thoughts=True), criterion(), room, lambda text: len(text) // 4 + 1)
    except TooLong:
        return
    content, tag = user_message(transcript)
    content.encode("utf-8")
    about, passages, omitted = read(content, tag)
    assert passages == [(step.index, each.kind, each.text) for step in transcript.steps for each in step.passages]
    assert omitted == sorted(transcript.omitted)
    assert about.get("goal", "") == transcript.goal
    assert about.get("policy", "") == transcript.policy
