"""The scripted stand-in: replies and failures from a file.

    replies:                        # JSON or YAML
      task_achievement:             # by the criterion's id; `"*"` is for all others
        citations: [{step: 4, quote: "...", pointer: ""}]
        ...                         # an object is said as JSON
      safety: "```json {..."        # a text is said as it is, however wrong
      step_correctness:             # one after the other; the last one for ever
        - fail: refusal
          said: I cannot assess that.
        - {citations: [], ...}

Where `replies` is a list, its entries go to the questions in the order in which they come.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import yaml

from proctor.errors import UsageError
from proctor.model_call import Attempt, Cause, ModelCall, ModelFailure, Reply, Usage

_OTHERS = "*"
_FAILURE = frozenset({"fail", "said"})


class Scripted:
    """See the module."""

    is_stand_in = True

    def __init__(self, name: str, replies: dict[str, list[Any]]) -> None:
        """`replies` by criterion; each is a text, an object, or a failure `{fail: CAUSE, said: WORDS}`."""
        self.name = name
        self._replies = {criterion: list(entries) for criterion, entries in replies.items()}

    async def ask(self, call: ModelCall) -> Reply:
        """The next reply to this criterion. Raises ModelFailure where the script says so, or says nothing."""
        left = self._replies.get(call.schema_name) or self._replies.get(_OTHERS)
        if not left:
            raise _failure("no_reply", f"the script says nothing of {call.schema_name}")
        entry = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(entry, dict) and "fail" in entry:
            raise _failure(entry["fail"], entry.get("said", "as the script says"))
        text = entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False)
        return Reply(text, self.name, Usage(cost=0.0), (Attempt("ok", 0.0),))


def scripted(name: str, file: Path) -> Scripted:
    """The stand-in that a file scripts. Raises UsageError where it cannot be used."""
    try:
        script = yaml.safe_load(file.read_text(encoding="utf-8"))  # reads JSON, too
    except (OSError, UnicodeError, yaml.YAMLError) as error:
        raise _unusable(file, " ".join(str(error).split())) from None
    replies = script.get("replies") if isinstance(script, dict) else None
    if isinstance(replies, list):
        replies = {_OTHERS: replies}
    if not isinstance(replies, dict) or not replies:
        raise _unusable(file, "it has no `replies`")
    by_criterion = {str(key): value if isinstance(value, list) else [value] for key, value in replies.items()}
    for criterion, entries in by_criterion.items():
        for entry in entries or [None]:
            _check(file, criterion, entry)
    return Scripted(name, by_criterion)


def _check(file: Path, criterion: str, entry: Any) -> None:
    if not isinstance(entry, str | dict):
        raise _unusable(file, f"a reply to {criterion} is neither a text nor an object")
    if isinstance(entry, dict) and "fail" in entry and not _is_failure(entry):
        causes = ", ".join(get_args(Cause))
        raise _unusable(file, f"a failure of {criterion} is {{fail: CAUSE, said: WORDS}}, with a cause of {causes}")


def _is_failure(entry: dict[str, Any]) -> bool:
    return entry["fail"] in get_args(Cause) and _FAILURE.issuperset(entry)


def _failure(cause: Cause, said: str) -> ModelFailure:
    return ModelFailure(cause, f"stand-in: {said}", (Attempt(cause, 0.0, said),))


def _unusable(file: Path, why: str) -> UsageError:
    example = '{"replies": {"safety": {"fail": "refusal", "said": "no"}, "*": "a text, or an object as JSON"}}'
    return UsageError("stand_in_script_unusable", f"{file}: {why}", f"Write, in JSON or YAML, such as: {example}")
