"""The agent acts on the wrong thing: one that does not exist, one of another kind, or another than the user named."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import islice

from proctor.check import CheckResult
from proctor.checks.findings import at_argument
from proctor.checks.leaves import Argument, leaves
from proctor.checks.masking import quote
from proctor.checks.outcomes import at_result, bounded, failed, not_assessable, passed, times
from proctor.checks.sources import TOKEN
from proctor.checks.state_changes import changes_state
from proctor.checks.words import Text, WordsOf, words_of
from proctor.tool_calls import Call
from proctor.trajectory import Trajectory

_KEYED = re.compile(r'[iI]ds?"\s*:\s*(?:"([^"\\]{1,80})"|\[([^\[\]]{1,4000})\])')
_QUOTED = re.compile(r'"([^"\\]{1,80})"')
_ID_NAME = re.compile(r"(\w*?)(?:_ids?|Ids?)$")
_ABSENT = re.compile(
    r"not found|(?:does|do|did)(?: not|n['’]t) exist|doesn['’]t exist|no such|non-?existent|unknown (?:\w+ )?id|"
    r"invalid (?:\w+ )?id"
    r"|不存在|未找到|找不到|没有找到|查无|无此",
    re.IGNORECASE,
)


@dataclass
class _Known:
    """The ids that tool results have named, by kind, with the step at which each was first seen."""

    by_kind: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    kinds: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, kind: str, value: str, step: int) -> None:
        self.by_kind[kind].setdefault(value, step)
        self.kinds[value].setdefault(kind, step)


@bounded
def wrong_entity(trajectory: Trajectory) -> CheckResult:
    """No id in the arguments is one that a tool said does not exist, one of another kind, or not the user's one.

    An id that the user got wrong is found only when it is used again after a tool had said so.
    """
    words = words_of(trajectory)
    ids = [one for one in words.leaves if kind_of(one) is not None]
    if not ids:
        return not_assessable(
            "wrong_entity", "no call names an entity by an id", "a call with an argument such as order_id"
        )
    known = _known(words)
    for finding in (*_absent(ids, words), *_other_kind(ids, words, known), *_not_named(ids, words, known)):
        return finding
    return passed("wrong_entity", f"{times(len(ids), 'id')} in the arguments, none of a wrong entity")


def kind_of(argument: Argument) -> str | None:
    """`item` of `new_item_ids`, where the argument names an entity by an id."""
    found = _ID_NAME.search(argument.name)
    if not found or not isinstance(argument.value, str) or not argument.value:
        return None
    return _kind(found[1])


@lru_cache(maxsize=1024)
def _kind(before: str) -> str:
    return re.split(r"_|(?<=[a-z])(?=[A-Z])", before)[-1].lower()


def _known(words: WordsOf) -> _Known:
    known = _Known()
    for text in words.results:
        if text.step is not None:
            for found in _KEYED.finditer(text.text):
                name = text.text[text.text.rfind('"', max(0, found.start() - 60), found.start()) + 1 : found.start()]
                for value in [found[1]] if found[1] else _QUOTED.findall(found[2]):
                    known.add(_kind(name.removesuffix("_")), value, text.step)
    return known


def _absent(ids: list[Argument], words: WordsOf) -> Iterator[CheckResult]:
    refuted: dict[tuple[str | None, str], Call] = {}
    if not any(_says_absent(one) for one in ids):
        return
    results = _first_seen(words.results)
    for one in ids:
        before = refuted.get((kind_of(one), one.value))
        if before is not None and before.result_step is not None and before.result_step < one.call.step:
            yield _failed(one, f"a tool said at step {before.result_step} that it does not exist", before)
        if not _says_absent(one):
            continue
        tokens = TOKEN.findall(one.value.lower())
        if tokens and all(results.get(token, one.call.step) < one.call.step for token in tokens):
            continue  # a result has named it: it exists, though it may not be to be had
        if words.sources.holds(one.value, one.call.step):
            refuted.setdefault((kind_of(one), one.value), one.call)
        else:
            yield _failed(one, "it stands nowhere before, and the tool said that it does not exist", one.call)


def _first_seen(texts: Iterable[Text]) -> dict[str, int]:
    """Every word of these texts, and the step at which it stands first."""
    seen: dict[str, int] = {}
    for text in texts:
        for token in TOKEN.findall(text.text.lower()):
            seen.setdefault(token, text.when)
    return seen


def _key(value: str) -> str:
    """The word by which an id is found in a text: its longest, as a user may leave out the rest of it."""
    return max(TOKEN.findall(value.lower()), key=len, default="")


def _says_absent(one: Argument) -> bool:
    answer = one.call.result_text or ""
    if not one.call.failed or not _ABSENT.search(answer[:2000]):
        return False
    others = (other for other in leaves(one.call) if kind_of(other) is not None)
    return one.value in answer or len(list(islice(others, 2))) == 1


def _other_kind(ids: list[Argument], words: WordsOf, known: _Known) -> Iterator[CheckResult]:
    by_user = _first_seen(words.user)
    for one in ids:
        kind, step = kind_of(one) or "", one.call.step
        siblings = any(seen < step for seen in known.by_kind.get(kind, {}).values())
        kinds = {other for other, seen in known.kinds.get(one.value, {}).items() if seen < step and other}
        if kind and siblings and kinds and kind not in kinds and by_user.get(_key(one.value), step) >= step:
            yield _failed(one, f"the tools know it as {' and '.join(sorted(kinds))} id, not as {kind} id", None)


def _not_named(ids: list[Argument], words: WordsOf, known: _Known) -> Iterator[CheckResult]:
    by_user, by_agent = _first_seen(words.user), cache(lambda: _first_seen(words.agent))
    named = {
        kind: [(value, max(seen, by_user[key])) for value, seen in values.items() if (key := _key(value)) in by_user]
        for kind, values in known.by_kind.items()
    }
    for one in ids:
        kind, step = kind_of(one) or "", one.call.step
        if not kind or one.value not in known.by_kind.get(kind, {}) or not changes_state(one.call):
            continue
        theirs = [value for value, seen in named.get(kind, ()) if seen < step]
        if len(theirs) != 1 or one.value == theirs[0] or by_agent().get(_key(one.value), step + 1) <= step:
            continue
        if theirs[0] not in {other.value for other in leaves(one.call)}:
            yield _failed(one, f"the only {kind} that the user named is {quote(theirs[0])}", None)


def _failed(one: Argument, why: str, other: Call | None) -> CheckResult:
    call = one.call
    message = f"{one.name} {quote(one.value, longest=60)} of {call.name} at step {call.step}: {why}"
    evidence = [at_argument(call, one.pointer, one.value), *(at_result(other) if other else ())]
    return failed("wrong_entity", message, evidence)
