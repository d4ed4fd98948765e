"""Strings are found where they stand in any JSON text, and changing one leaves every other byte alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.interaction import Response
from proctor.json_spans import pointer_pattern, string_leaves
from proctor.proxy.addresses import Addresses
from proctor.proxy.rewriting import Rewriter
from tests.property.counts import examples

REAL, SESSION = "https://staging.test/api", "http://127.0.0.1:4321/s/one"
JSON = (("Content-Type", "application/json"),)
blanks = st.text(" \t\r\n", max_size=3)
keys = st.text(max_size=4) | st.sampled_from(["a/b", "~", "*", "", "next", '"', "\\"])
strings = st.text(max_size=6) | st.sampled_from(["{", "],", '"', "\\", f"{REAL}/x", "\u2028", "\ud800"])
numbers = st.sampled_from(["-0", "1e5", "0.10", "123456789" * 600, "1E-7", "NaN", "-Infinity"])


@st.composite
def spelled(draw: st.DrawFn, text: str) -> str:
    """A string as JSON, some of its characters escaped though they need not be."""
    plain = json.dumps(text, ensure_ascii=draw(st.booleans()) or "\ud800" in text)
    if draw(st.booleans()):
        plain = plain.replace("/", "\\/")
    return plain.replace("s", "\\u0073") if draw(st.booleans()) else plain


@st.composite
def texts(draw: st.DrawFn, depth: int = 4) -> str:
    """A JSON text with blanks, escapes, long numbers and keys that stand twice."""
    kind = draw(st.integers(0, 4 if depth else 2))
    if kind < 3:
        inner = draw(
            numbers | st.sampled_from(["true", "false", "null"]) if kind == 0 else strings.flatmap(lambda s: spelled(s))
        )
    else:
        items = draw(st.lists(texts(depth - 1), max_size=3))
        if kind == 3:
            inner = f"[{','.join(items)}{draw(blanks)}]"
        else:
            named = [f"{draw(blanks)}{draw(spelled(draw(keys)))}{draw(blanks)}:{item}" for item in items]
            inner = f"{{{','.join(named)}{draw(blanks)}}}"
    return f"{draw(blanks)}{inner}{draw(blanks)}"


class Pairs(list[tuple[str, Any]]):
    """An object as it is written, a key that stands twice included."""


def strings_of(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Pointer and value of each string, in the text's order."""
    if isinstance(value, Pairs):
        for key, item in value:
            yield from strings_of(item, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from strings_of(item, f"{pointer}/{index}")
    elif isinstance(value, str):
        yield pointer, value


def number(_text: str) -> None:
    """Numbers are of no interest, and may be longer than Python reads."""


@given(text=texts())
@examples(ci=300, soak=3000)
def test_the_pointers_and_values_are_those_of_the_parsed_text_and_the_spans_are_its_literals(text: str) -> None:
    leaves = string_leaves(text)
    assert leaves is not None
    parsed = json.loads(text, object_pairs_hook=Pairs, parse_int=number, parse_float=number)
    assert [(leaf.pointer, leaf.value) for leaf in leaves] == list(strings_of(parsed))
    assert [json.loads(text[leaf.start : leaf.end]) for leaf in leaves] == [leaf.value for leaf in leaves]


@given(text=texts())
@examples(ci=200, soak=2000)
def test_where_nothing_names_a_service_the_answer_is_the_same_bytes(text: str) -> None:
    body, real = text.encode(), "https://another.test"
    rewriter = Rewriter(Addresses(SESSION, {"desk": real}), {"desk": ("/*", "/*/*", "/*/*/*")})
    answer = rewriter.answer("desk", "/", f"{real}/", Response(200, "OK", JSON, body))
    assert (answer.body, answer.headers, answer.rewrites, answer.note) == (body, JSON, (), "")


@given(text=texts())
@examples(ci=300, soak=3000)
def test_only_declared_strings_that_name_a_service_change(text: str) -> None:
    declared = ("/*", "/*/next", "/next/*")
    rewriter = Rewriter(Addresses(SESSION, {"desk": REAL}), {"desk": declared})
    answer = rewriter.answer("desk", "/", f"{REAL}/", Response(200, "OK", JSON, text.encode()))
    before, at, expected = string_leaves(text), 0, []
    assert before is not None
    pattern = pointer_pattern(declared)
    for leaf in before:
        if pattern.fullmatch(leaf.pointer) and leaf.value == f"{REAL}/x":
            expected += [text[at : leaf.start], json.dumps(f"{SESSION}/desk/x")]
            at = leaf.end
    assert answer.body.decode() == "".join((*expected, text[at:]))
    assert len(answer.rewrites) == len(expected) // 2


@given(text=texts(), data=st.data())
@examples(ci=200, soak=2000)
def test_a_damaged_text_gives_nothing_whatever_is_cut_off_or_put_in(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    damaged = data.draw(st.sampled_from([text[:at], text[:at] + data.draw(st.sampled_from('{}[]",:x')) + text[at:]]))
    try:
        json.loads(damaged, parse_int=number, parse_float=number)
    except ValueError:
        assert string_leaves(damaged) is None
    else:
        assert string_leaves(damaged) is not None


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_text_nested_past_any_use_gives_nothing(opening: str) -> None:
    assert string_leaves(opening * 100_000 + "1") is None
    closing = "]" if opening == "[" else "}"
    assert string_leaves(opening * 100_000 + '"x"' + closing * 100_000) is None


@pytest.mark.parametrize(
    ("declared", "pointer", "matches"),
    [
        ("/next", "/next", True),
        ("/next", "/next/0", False),
        ("/next", "/a/next", False),
        ("/items/*/href", "/items/12/href", True),
        ("/items/*/href", "/items/a~1b/href", True),
        ("/items/*/href", "/items/1/2/href", False),
        ("/a~1b/c~0d", "/a~1b/c~0d", True),
        ("/a.b", "/axb", False),
        ("/", "/", True),
        ("/*", "/", True),
    ],
)
def test_a_declared_pointer_names_whole_places(declared: str, pointer: str, matches: bool) -> None:
    assert (pointer_pattern(["/other", declared]).fullmatch(pointer) is not None) is matches
