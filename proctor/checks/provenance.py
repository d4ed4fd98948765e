"""Where the values in the arguments come from: nowhere, an entity that does not exist, or a source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from proctor.check import CheckResult
from proctor.checks.findings import at_argument, shown
from proctor.checks.leaves import Argument, leaves
from proctor.checks.masking import quote
from proctor.checks.outcomes import bounded, failed, not_assessable, passed, times
from proctor.checks.sources import Sources, supported
from proctor.checks.values import number_of
from proctor.checks.words import words_of
from proctor.trajectory import ToolSchema, Trajectory

FREE_TEXT = frozenset(
    """
    action body code command comment content description details expression explanation feedback instruction
    instructions message note notes prompt query question reason sql subject summary text thought title
    """.split()  # noqa: SIM905 - a list of words reads better than a list of strings
)
LONG_TEXT = 80
MANY_WORDS = 6
_MOST_BESIDE = 50
"""Arguments of a call that are taken for the parts of one sum."""
_WORD_LIKE = re.compile(r"[a-z][a-z _-]*|[A-Z]{1,3}|[A-Z]+(?:_[A-Z]+)*|#?")
_CODE_NAME = re.compile(r"(?:^|_)(?:id|ids|code|number|no|pnr|sku)$", re.IGNORECASE)
_DEEPEST = 32


def shape(argument: Argument) -> str:
    """`free`: words that an agent composes, not checked; `name`: words; `value`: an id, a number, a day, an address."""
    value = argument.value
    if value is None or isinstance(value, bool):
        return "free"
    if not isinstance(value, str):
        return "free" if value in (0, 1) else "value"
    if argument.name.lower() in FREE_TEXT or len(value) > LONG_TEXT or "\n" in value or value.count(" ") >= MANY_WORDS:
        return "free"
    has_digit = any(character.isdigit() for character in value)
    if not has_digit and "@" not in value:
        if _WORD_LIKE.fullmatch(value) and not (
            _CODE_NAME.search(argument.name) and value.isupper() and len(value) > 3
        ):
            return "free"
        return "name"
    return "name" if " " in value.strip() and any(character.isalpha() for character in value) else "value"


@bounded
def value_from_nowhere(trajectory: Trajectory) -> CheckResult:
    """Each id, number, day, name and address in the arguments stands in what the agent had been given before the call.

    That is: the user's words, an earlier tool result, the initial data, the policy, a default or enum of the schema; or
    the same day or number in another notation, or a sum, difference or small multiple of numbers that stand together.
    """
    words = words_of(trajectory)
    if not words.calls:
        return not_assessable("value_from_nowhere", "no tool was called", "a call with arguments")
    checked = [one for one in words.leaves if shape(one) != "free"]
    if not checked:
        return passed("value_from_nowhere", "no argument holds a value that must come from somewhere")
    sources, offered = words.sources, _offered(trajectory)
    known: dict[tuple[str, str], int] = {}
    lost = [one for one in checked if not _is_known(one, sources, offered, known)]
    if not lost:
        return passed("value_from_nowhere", f"{times(len(checked), 'value')} in the arguments, each from a source")
    first = lost[0]
    more = f", and {len(lost) - 1} more such values" if len(lost) > 1 else ""
    what = f"{first.name or 'an argument'} {_said(first)} of {first.call.name} at step {first.call.step}"
    return failed(
        "value_from_nowhere",
        f"{what} stands nowhere before{more}",
        [at_argument(one.call, one.pointer, one.value) for one in lost],
    )


def _is_known(
    argument: Argument, sources: Sources, offered: dict[str, set[str]], known: dict[tuple[str, str], int]
) -> bool:
    """Looked up once for each value: what was known at one step is known at all later ones."""
    step, value = argument.call.step, argument.value
    key = (type(value).__name__, shown(value))
    if known.get(key, step + 1) <= step or key[1] in offered.get(argument.call.name, ()):
        return True
    named = isinstance(value, str) and shape(argument) == "name"
    found = (named and sources.holds_words(value, step)) or supported(value, sources, step, _beside(argument))
    if found:
        known[key] = step
    return found


def _beside(argument: Argument) -> frozenset[float]:
    """The other numbers in the arguments of the call, where the argument is a number itself."""
    if number_of(argument.value) is None:
        return frozenset()
    some = islice(leaves(argument.call), _MOST_BESIDE)
    numbers = (number_of(one.value) for one in some if one.pointer != argument.pointer)
    return frozenset(number for number in numbers if number is not None and number > 1)


def _offered(trajectory: Trajectory) -> dict[str, set[str]]:
    """Per tool, the defaults, enums and constants of its schema, as text."""
    found: dict[str, set[str]] = {}
    for tool in trajectory.tools or ():
        found.setdefault(tool.name, set()).update(_choices(tool))
    return found


def _choices(tool: ToolSchema) -> Iterator[str]:
    waiting: list[tuple[Any, int]] = [(tool.parameters, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > _DEEPEST:
            continue
        if isinstance(node, dict):
            for key, inner in node.items():
                if key in ("default", "const"):
                    yield shown(inner)
                elif key in ("enum", "examples") and isinstance(inner, list):
                    yield from map(shown, inner)
                else:
                    waiting.append((inner, depth + 1))
        elif isinstance(node, list):
            waiting.extend((inner, depth + 1) for inner in node)


def _said(argument: Argument) -> str:
    return quote(shown(argument.value), longest=60)
