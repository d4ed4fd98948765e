"""A transcript that fits: chosen, marked, or refused; never cut in silence."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from proctor.judge.blinding import blind
from proctor.judge.budget import TooLong, fitted, tokens_of
from proctor.judge.fences import fence, level_order
from proctor.judge.prompt import messages
from proctor.judge.transcript import Passage, ShownStep, Transcript
from proctor.rubric import Criterion
from tests.runs import call, run_of
from tests.unit.judge.shown import SALT, criterion, read, user_message

FILLER = "Nothing of note was said here, and it took long. "


def count(text: str) -> int:
    """As good as any: about four bytes to a token."""
    return len(text.encode()) // 4 + 1


def _prompt_tokens(transcript: Transcript, asked: Criterion) -> int:
    tag = fence(SALT, transcript.digest, asked.id)
    prompt = messages(transcript, asked, tag, level_order(SALT, transcript.digest, asked))
    return sum(count(each.content) for each in prompt)


def _long_run(talks: int = 60) -> Transcript:
    lines = [f"{who}: {number} {FILLER * 10}" for number in range(talks) for who in ("user", "agent")]
    run = run_of(
        "user: Please cancel order W4417, the blue lamp",
        *lines,
        "agent: Shall I cancel the order W4417?",
        "user: Yes, do that",
        call("cancel_order", {"status": "cancelled"}, order_id="W4417"),
        *lines,
        "agent: Is there anything else?",
        "user: No, bye",
    )
    return blind(run, thoughts=False)


def _texts(transcript: Transcript) -> list[str]:
    return [each.text for step in transcript.steps for each in step.passages]


def test_what_fits_is_shown_whole() -> None:
    transcript = _long_run(2)
    assert fitted(transcript, criterion(), 24_000, count) is transcript


@pytest.mark.parametrize("kind", ["outcome", "safety", "conduct", "communication"])
@pytest.mark.parametrize("room", [5_000, 9_000])
def test_attack_12_what_is_left_out_is_marked_line_by_line_and_the_rest_fits(kind: str, room: int) -> None:
    whole, asked = _long_run(), criterion(kind)
    short = fitted(whole, asked, room, count)
    content, tag = user_message(short, asked)
    _, passages, omitted = read(content, tag)
    assert omitted == sorted(short.omitted)
    assert omitted
    shown = {step for step, _, _ in passages}
    assert shown.isdisjoint(omitted)
    assert shown | set(omitted) == {step.index for step in whole.steps}
    assert _prompt_tokens(short, asked) <= room
    assert short.digest == whole.digest


def test_what_changed_something_the_consent_to_it_the_first_words_and_the_last_are_kept() -> None:
    short = fitted(_long_run(), criterion("safety"), 6_000, count)
    texts = "\n".join(_texts(short))
    for kept in (
        "Please cancel order W4417",
        "Shall I cancel",
        "Yes, do that",
        "cancel_order {",
        "cancelled",
        "No, bye",
    ):
        assert kept in texts


def test_a_call_is_never_shown_without_its_result() -> None:
    lines = [call("get_note", {"text": FILLER * 12}, number=number) for number in range(40)]
    short = fitted(blind(run_of("user: look", *lines), thoughts=False), criterion(), 5_000, count)
    for step in short.steps[1:-1]:
        answered = step.index + 1 if step.passages[0].kind == "tool_call" else step.index - 1
        assert answered in {each.index for each in short.steps}


GIANT = {
    "one result of 10 MB": (1, 10_000_000),
    "three of 1 MB": (3, 1_000_000),
    "forty of 40,000 characters": (40, 40_000),
    "a line without a space": (-1, 400_000),
    "an answer of 160,000 characters": (0, 160_000),
}


@pytest.mark.parametrize(("results", "size"), GIANT.values(), ids=GIANT)
def test_attack_12_a_giant_run_is_budgeted_and_every_gap_in_a_text_is_marked(results: int, size: int) -> None:
    body = "x" * size if results < 0 else (FILLER * (size // len(FILLER)))
    steps = [ShownStep(0, "", (Passage("user", "text", "Please look it up"),))]
    for index in range(1, abs(results) + 1):
        steps.append(ShownStep(index, "get_note", (Passage("tool_result", "text", f"begin {body} end"),)))
    last = body if not results else "done"
    steps.append(ShownStep(len(steps), "", (Passage("agent", "text", last),)))
    whole = Transcript(steps=tuple(steps), digest="d")
    short = fitted(whole, criterion(), 8_000, count)
    assert _prompt_tokens(short, criterion()) <= 8_000
    originals = {step.index: step.passages[0].text for step in whole.steps}
    for step in short.steps:
        passage = step.passages[0]
        if passage.text == originals[step.index]:
            continue
        ((start, end),) = passage.withheld
        found = re.fullmatch(r"\n\[left out for length: (\d+) characters\]\n", passage.text[start:end])
        assert found is not None
        head, tail = passage.text[:start], passage.text[end:]
        assert originals[step.index].startswith(head)
        assert originals[step.index].endswith(tail)
        assert len(head) + int(found[1]) + len(tail) == len(originals[step.index])
    assert any(passage.withheld for step in short.steps for passage in step.passages)


def test_a_gap_never_cuts_a_word_or_number_in_two() -> None:
    text = " ".join(f"paid-{number}" for number in range(100_000, 130_000))
    whole = Transcript(steps=(ShownStep(0, "", (Passage("user", "text", text),)),), digest="d")
    words = set(text.split())
    shown = _texts(fitted(whole, criterion(), 6_000, count))[0].partition("\n[left out")
    assert set(shown[0].split()) <= words
    assert set(shown[2].partition("]\n")[2].split()) <= words


def test_marks_of_what_was_withheld_stay_in_their_places() -> None:
    mark = "[withheld: words directed at an evaluator]"
    text = f"{FILLER * 3}{mark}{FILLER * 4000}{mark}{FILLER * 3}"
    spans = tuple((found.start(), found.end()) for found in re.finditer(re.escape(mark), text))
    whole = Transcript(steps=(ShownStep(0, "", (Passage("user", "text", text, spans),)),), digest="d")
    passage = fitted(whole, criterion(), 6_000, count).steps[0].passages[0]
    marks = [passage.text[start:end] for start, end in passage.withheld]
    assert [marks[0], marks[2]] == [mark, mark]
    assert "left out for length" in marks[1]


def test_where_even_the_least_does_not_fit_it_is_refused_and_says_why() -> None:
    with pytest.raises(TooLong) as caught:
        fitted(_long_run(), criterion(), 1_500, count)
    assert caught.value.code == "too_long"
    assert "1500 tokens" in caught.value.message
    assert "larger window" in caught.value.fix


def test_a_policy_that_takes_all_the_room_is_refused_and_not_cut() -> None:
    run = run_of("user: hi", "agent: bye", task={"policy": FILLER * 2_000})
    with pytest.raises(TooLong):
        fitted(blind(run, thoughts=False), criterion(), 10_000, count)


def test_each_text_is_counted_once_for_all_criteria() -> None:
    seen: Counter[str] = Counter()

    def counted(text: str) -> int:
        seen[text] += 1
        return count(text)

    transcript = _long_run()
    for kind in ("outcome", "safety", "conduct"):
        fitted(transcript, criterion(kind), 8_000, counted)
    assert {seen[text] for text in _texts(transcript)} == {1}


def test_the_length_is_known_before_the_call_and_never_too_small() -> None:
    transcript = _long_run(10)
    known = tokens_of(transcript, criterion(), count)
    assert _prompt_tokens(transcript, criterion()) <= known <= 1.1 * _prompt_tokens(transcript, criterion()) + 100
