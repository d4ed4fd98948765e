"""A value is put at its place, and no other byte changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.json_patch import ABSENT, CannotPatch, patched

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "pointer", "value", "expected"),
    [
        ('{"a": 1.00, "b":[1,2 , 3]}', "/b/1", "x", '{"a": 1.00, "b":[1,"x" , 3]}'),
        ('{"a": {"b": 1e3}}', "/a/c", None, '{"a": {"b": 1e3, "c": null}}'),
        ("{}", "/状态", "丢失", '{"状态": "丢失"}'),
        ("[1]", "/-", 2, "[1, 2]"),
        ("[1]", "/1", 2, "[1, 2]"),
        ('{"a/b": {"~": 1}}', "/a~1b/~0", 2, '{"a/b": {"~": 2}}'),
        ('{"a": "}]", "b": 1}', "/b", {"c": []}, '{"a": "}]", "b": {"c": []}}'),
        ('{"a": 1, "a": 2}', "/a", 3, '{"a": 1, "a": 3}'),
    ],
)
def test_a_value_is_put_where_the_pointer_says(text: str, pointer: str, value: Any, expected: str) -> None:
    assert patched(text, pointer, value).text == expected


def test_what_stood_there_is_told() -> None:
    assert patched('{"a": [1, {"b": 2}]}', "/a/1", 0).before == {"b": 2}
    assert patched("{}", "/a", 0).before is ABSENT


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("{}", "/a/b"),
        ("[1]", "/3"),
        ("[1]", "/x"),
        ('{"a": 1}', "/a/b"),
        ("not json", "/a"),
        ('{"a": 1} x', "/a"),
        ("", "/a"),
    ],
)
def test_a_place_that_cannot_be_is_refused(text: str, pointer: str) -> None:
    with pytest.raises(CannotPatch):
        patched(text, pointer, 1)


@given(st.dictionaries(st.text(), VALUES, min_size=1), st.data(), VALUES, st.sampled_from([None, 2]))
def test_only_the_named_value_changes(
    document: dict[str, Any], data: st.DataObject, value: Any, indent: int | None
) -> None:
    key = data.draw(st.sampled_from(sorted(document)))
    pointer = "/" + key.replace("~", "~0").replace("/", "~1")
    text = json.dumps(document, ensure_ascii=False, indent=indent)
    new, before = patched(text, pointer, value)
    assert json.loads(new) == {**document, key: value}
    assert before == document[key]
