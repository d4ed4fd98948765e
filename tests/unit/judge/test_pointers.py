"""A leaf by its pointer, as it is written, in any JSON that a tool may send."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.judge.pointers import LONGEST_JSON, NoLeaf, leaf_at
from tests.property.counts import examples

TEXT = r'{"a": {"x": [1, 2.50, {"k/~": "v\n\"", "": 7}]}, "b": 1e400, "n": NaN, "t": true, "z": null, "u": "\u4f60"}'


@pytest.mark.parametrize(
    ("pointer", "written", "value"),
    [
        ("/a/x/0", "1", None),
        ("/a/x/1", "2.50", None),
        ("/a/x/2/k~1~0", r'"v\n\""', 'v\n"'),
        ("/a/x/2/", "7", None),
        ("/b", "1e400", None),
        ("/n", "NaN", None),
        ("/t", "true", None),
        ("/z", "null", None),
        ("/u", r'"\u4f60"', "你"),
    ],
)
def test_a_leaf_is_found_as_it_is_written(pointer: str, written: str, value: str | None) -> None:
    leaf = leaf_at(TEXT, pointer)
    assert (leaf.text, leaf.value) == (written, value)
    assert TEXT[leaf.start : leaf.end] == written


@pytest.mark.parametrize(
    ("text", "pointer", "why"),
    [
        (TEXT, "/a", "is an object or array"),
        (TEXT, "/a/x", "is an object or array"),
        (TEXT, "", "the whole is an object or array"),
        (TEXT, "/a/x/01", "nothing stands at"),
        (TEXT, "/a/x/-", "nothing stands at"),
        (TEXT, "/a/x/3", "nothing stands at"),
        (TEXT, "/t/x", "nothing stands at"),
        (TEXT, "a/x", "begins with a slash"),
        (TEXT, "$.a.x", "begins with a slash"),
        (TEXT, "/a~x", "tilde"),
        (TEXT, "/\ud800", r"nothing stands at /\ud800"),
        (TEXT, "/" + "a" * 1_001, "longer than"),
        ('{"a": 1, "a": 2}', "/a", "stands twice"),
        ('{"a": {"b": 1}, "a": {"c": 2}}', "/a/b", "stands twice"),
        (r'{"a": 1, "\u0061": 2}', "/a", "stands twice"),
        ("plain words", "/a", "no JSON"),
        ('{"a": 1} {"a": 2}', "/a", "no JSON"),
        ('{"a": 1', "/a", "no JSON"),
        ("[" * 100_000 + "]" * 100_000, "/0/0", "nested too deep"),
        (f'{{"a": "{"x" * LONGEST_JSON}"}}', "/a", "longer than"),
    ],
    ids=range(20),
)
def test_what_names_no_leaf_says_why(text: str, pointer: str, why: str) -> None:
    with pytest.raises(NoLeaf) as said:
        leaf_at(text, pointer)
    assert why in str(said.value)
    assert len(str(said.value).encode()) < 400


def test_a_key_that_stands_twice_elsewhere_does_no_harm() -> None:
    assert leaf_at('{"x": {"a": 1, "a": 2}, "y": 3}', "/y").text == "3"


def test_a_number_of_any_length_is_text() -> None:
    assert leaf_at(f'{{"a": {"9" * 100_000}}}', "/a").text == "9" * 100_000


def test_a_bare_value_is_named_by_the_empty_pointer() -> None:
    assert leaf_at(" 12.50\n", "").text == "12.50"


_LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
_VALUES = st.recursive(
    _LEAVES, lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=3), below, max_size=4)
)


@given(value=_VALUES, ascii_only=st.booleans(), indent=st.sampled_from([None, 1]))
@examples(ci=100, soak=10_000)
def test_every_leaf_of_any_json_is_found_and_says_what_it_said(
    value: object, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    for pointer, wanted in _leaves(value, ""):
        leaf = leaf_at(text, pointer)
        assert json.loads(text[leaf.start : leaf.end]) == wanted
        assert leaf.value == (wanted if isinstance(wanted, str) else None)


def _leaves(value: object, pointer: str) -> list[tuple[str, object]]:
    if isinstance(value, dict):
        below = [(key.replace("~", "~0").replace("/", "~1"), each) for key, each in value.items()]
    elif isinstance(value, list):
        below = [(str(at), each) for at, each in enumerate(value)]
    else:
        return [(pointer, value)]
    return [leaf for part, each in below for leaf in _leaves(each, f"{pointer}/{part}")]
