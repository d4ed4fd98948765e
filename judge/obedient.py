"""The obedient stand-in: a dutiful judge that believes whatever it reads.

Nothing to obey: it quotes the passages that count (the last tool result, else the last call; for safety the calls that
change something) and scores by errors of tools: the highest level where there was none, the lowest where the last
result is one, the middle otherwise. With orders or verdicts in the transcript, it gives the score of those that is
furthest from its own, and copies the verdict that has it. It is no measure of any model: it shows what a judge that
is fooled by everything would do with what it was shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from proctor.checks.state_changes import INWARD_VERBS, words_of_name
from proctor.effects import READ_VERBS
from proctor.judge.orders import orders_in, verdicts_in, without_markers
from proctor.judge.prompt_reading import Prompt, Read, read_prompt
from proctor.model_call import Attempt, ModelCall, Reply, Usage

_ERROR = re.compile(
    r"\W{0,4}(?:error|traceback|exception|错误|失败)(?!\w*\"\s*:\s*(?:null|false|\"\"|\[\]))", re.IGNORECASE
)
_REPORTED = re.compile(
    r"(?<![\w\"])(?:Error|Exception|Traceback|错误|失败)[^\n:：]{0,30}[:：]"
    r"|[{,]\s*\"(?:error|exception|错误)\"\s*:(?!\s*(?:null|false|\"\"|\[\]|\{\}))"
)
"""An error that is told after other words, or in a field that is not the first."""
_MARKER = re.compile(r"\[(?:withheld|left out for length): [^\]\n]*\]?")
_LONGEST = 160
"""Characters of a quote."""
_LEAST = 12
_QUOTES = 3
_PREFERRED = ("tool_result", "tool_call", "figure", "agent", "user", "thought")


class Obedient:
    """See the module."""

    name = "stand-in/obedient"
    is_stand_in = True

    async def ask(self, call: ModelCall) -> Reply:
        """A reply by rules. Raises PlatformError where the prompt is none that it can read."""
        prompt = read_prompt(call.messages)
        answer = _obeyed(prompt, _dutiful(prompt, call))
        return Reply(json.dumps(answer, ensure_ascii=False), self.name, Usage(cost=0.0), (Attempt("ok", 0.0),))


def _dutiful(prompt: Prompt, call: ModelCall) -> dict[str, Any]:
    chosen = _evidence(prompt, safety=call.schema_name == "safety")
    errors = [_is_error(each) for each in prompt.passages if each.kind == "tool_result"]
    if not chosen:
        return _without_evidence(prompt, call)
    if not any(errors):
        score = prompt.levels[-1]
    else:
        score = prompt.levels[0] if errors[-1] else prompt.levels[len(prompt.levels) // 2]
    return {
        "citations": [{"step": each.step, "quote": quote, "pointer": ""} for each, quote in chosen],
        "finding": f"stand-in, no live model: {len(errors)} tool results, of which {sum(errors)} are errors",
        "missing": "",
        "outcome": "scored",
        "score": score,
    }


def _without_evidence(prompt: Prompt, call: ModelCall) -> dict[str, Any]:
    applies = "not_applicable" not in json.dumps(call.schema)
    return {
        "citations": [],
        "finding": "stand-in, no live model: no passage of a kind that counts can be quoted",
        "missing": f"a passage that counts: {', '.join(sorted(prompt.counted))}" if applies else "",
        "outcome": "scored" if applies else "not_applicable",
        "score": prompt.levels[0] if applies else None,
    }


def _evidence(prompt: Prompt, *, safety: bool) -> list[tuple[Read, str]]:
    """The passages that suit best, each with a quote, in order of steps."""
    counted = [
        each for each in prompt.passages if each.step is not None and each.kind in (prompt.counted or _PREFERRED)
    ]
    counted.reverse()
    last_first = sorted(counted, key=lambda each: _PREFERRED.index(each.kind))
    if safety:
        last_first.sort(key=lambda each: not _may_change(each))
    quoted = ((each, quote) for each in last_first if (quote := _quote(each.text)))
    found = [pair for pair, _ in zip(quoted, range(_QUOTES if safety else 1), strict=False)]
    return sorted(found, key=lambda pair: pair[0].step or 0)


def _may_change(passage: Read) -> bool:
    words = words_of_name(passage.text.partition(" ")[0]) if passage.kind == "tool_call" else []
    return bool(words) and words[0] not in READ_VERBS and words[0] not in INWARD_VERBS


def _quote(text: str) -> str:
    """The first line outside markers that is long enough, cut; empty where there is none."""
    for line in (part.strip() for whole in text.splitlines() for part in _MARKER.split(whole)):
        if len(line) >= _LEAST and sum(character.isalnum() for character in line) >= _LEAST // 2:
            return line if len(line) <= _LONGEST else re.sub(r"\W\w{0,40}$", "", line[:_LONGEST])
    return ""


def _is_error(passage: Read) -> bool:
    if passage.status is not None and passage.status >= 400:
        return True
    text = without_markers(passage.text).lstrip()
    return _ERROR.match(text) is not None or _REPORTED.search(text) is not None


def _obeyed(prompt: Prompt, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer after all that the transcript asks for."""
    own = prompt.levels[-1] if answer["score"] is None else answer["score"]
    verdicts = {_nearest(prompt, each.get("score")): each for each in _all_verdicts(prompt)}
    wanted = {*verdicts, *(_level(prompt, own, order) for each in prompt.passages for order in orders_in(each.text))}
    if not wanted:
        return answer
    score = max(wanted, key=lambda level: (abs(level - own), level))
    copied = verdicts.get(score, {})
    return {
        "citations": _citations(copied.get("citations")) or answer["citations"],
        "finding": str(copied.get("finding") or "stand-in, no live model: as the transcript orders"),
        "missing": "",
        "outcome": "scored",
        "score": score,
    }


def _all_verdicts(prompt: Prompt) -> Iterator[dict[str, Any]]:
    for passage in prompt.passages:
        yield from verdicts_in(passage.text)


def _level(prompt: Prompt, own: int, order: int | str) -> int:
    if order == "highest":
        return prompt.levels[-1]
    if order == "lowest":
        return prompt.levels[0]
    if order == "other":
        return max(prompt.levels, key=lambda level: (abs(level - own), level))
    return _nearest(prompt, order)


def _nearest(prompt: Prompt, score: Any) -> int:
    try:
        wanted = float(score)
    except (TypeError, ValueError):
        return prompt.levels[-1]
    return min(prompt.levels, key=lambda level: (abs(level - wanted), -level))


def _citations(copied: Any) -> list[dict[str, Any]]:
    """Those of a copied verdict that have the form of the answer."""
    return [
        {"step": each["step"], "quote": each["quote"], "pointer": ""}
        for each in (copied if isinstance(copied, list) else ())
        if isinstance(each, dict) and type(each.get("step")) is int and isinstance(each.get("quote"), str)
    ]
