"""A trajectory file keeps every trajectory, and a bad line is named while the rest is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.trajectories.file import MAX_DEPTH, BadLine, line_of, read_trajectories, write_trajectories
from proctor.trajectories.from_records import from_record
from proctor.trajectory import Event, Step, Tokens, ToolCall, Trajectory, TurnState
from tests.property.counts import examples

RUN = Trajectory(
    id="refund-3",
    case="refund",
    trial=2,
    seconds=1.5,
    tokens=Tokens(input=10),
    steps=(
        Step(index=0, role="user", text="退款 😀\u2028"),
        Step(index=1, role="assistant", tool_calls=(ToolCall(name="pay", id="c1", arguments={"n": 10**30, "x": 1.0}),)),
        Step(index=2, role="tool", tool_call_id="c1", text="{}", status=200, seconds=0.0, effect="write"),
    ),
    events=(Event(kind="intent", data={"name": "refund", "confidence": 0.6}),),
    states=(TurnState(turn=0, before={}, after={"a": None}),),
    end_state={"orders": [1, 1.0, True]},
    labels={"outcome": {"success": True}},
)


def read(data: bytes) -> list[Trajectory | BadLine]:
    return list(read_trajectories(data))


def codes(data: bytes) -> list[str]:
    return [each.code if isinstance(each, BadLine) else each.id for each in read(data)]


def test_a_trajectory_survives_its_line_and_what_is_not_known_is_not_in_it() -> None:
    line = line_of(RUN)
    assert read(line) == [RUN]
    assert json.loads(line)["tokens"] == {"input": 10}
    assert b"null" not in line.replace(b'"a":null', b"")
    assert "退款 😀".encode() in line


BAD = {
    "not_json": b'{"v": 1, "id": "a"',
    "not_utf8": b'{"id": "\xff"}',
    "repeated_key": b'{"id": "a", "id": "b"}',
    "newer": b'{"v": 2, "id": "a"}',
    "not_a_trajectory": b'{"v": 1, "id": "a", "steps": [{"index": 1, "role": "user"}]}',
    "too_deep": b'{"id": "a", "end_state": ' + b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1) + b"}",
    "not_text": b'{"id": "a", "end_state": "\\ud800"}',
}


@pytest.mark.parametrize("code", BAD)
def test_a_bad_line_is_named_and_the_rest_is_read(code: str) -> None:
    other = line_of(RUN.model_copy(update={"id": "last"}))
    found = read(line_of(RUN) + b"\n" + BAD[code] + b"\n" + other)
    bad = found[1]
    assert isinstance(bad, BadLine)
    assert (bad.line, bad.code) == (3, code)
    assert str(bad).startswith(f"line 3: {code}: ")
    assert [each.id for each in (found[0], found[2]) if isinstance(each, Trajectory)] == ["refund-3", "last"]


@pytest.mark.parametrize(
    "line", [b"[]", b"7", b"null", b'{"id": 1}', b'{"id": "a", "extra": 1}', b'{"id": "a", "x": NaN}']
)
def test_what_is_no_trajectory_is_no_trajectory(line: bytes) -> None:
    assert codes(line)[0] in {"not_a_trajectory", "not_json"}


def test_an_id_that_comes_again_is_named_with_the_line_of_the_first() -> None:
    other = RUN.model_copy(update={"trial": 3})
    found = read(line_of(RUN) + line_of(other) + line_of(RUN))
    assert isinstance(found[2], BadLine)
    assert found[2].code == "repeated_id"
    assert "line 1" in found[2].message


@given(data=st.one_of(st.binary(max_size=300), st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))))
@examples(ci=200, soak=5000)
def test_no_bytes_make_the_reader_raise(data: bytes) -> None:
    for each in read(data + b"\n" + line_of(RUN)):
        assert isinstance(each, Trajectory | BadLine)
    assert codes(data + b"\n" + line_of(RUN))[-1] == "refund-3"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(value=_JSON, text=st.text(max_size=30))
@examples(ci=200, soak=3000)
def test_any_value_in_a_trajectory_survives(value: object, text: str) -> None:
    run = Trajectory(id="a", end_state=value, steps=(Step(index=0, role="user", text=text),), labels={"x": value})
    assert read(line_of(run)) == [run]


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "runs.jsonl"
    assert write_trajectories(path, [RUN, RUN.model_copy(update={"id": "b"})]) == 2
    old = path.read_bytes()

    def failing() -> object:
        yield RUN
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError):
        write_trajectories(path, failing())  # type: ignore[arg-type]
    assert path.read_bytes() == old
    assert list(path.parent.iterdir()) == [path]


def test_every_labelled_record_loads_and_keeps_every_step_call_and_label(shared_data: Path) -> None:
    records = [json.loads(line) for line in (shared_data / "trajectories.jsonl").read_bytes().splitlines()]
    runs = [from_record(record) for record in records]
    assert len(runs) == 74
    assert read(b"".join(map(line_of, runs))) == runs
    for record, run in zip(records, runs, strict=True):
        assert (run.id, run.labels, run.expected) == (record["id"], record["labels"], record["expected"])
        assert (run.task.goal, run.task.policy) == (record["task"]["goal"], record["task"]["policy"])
        for told, step in zip(record["steps"], run.steps, strict=True):
            assert (step.index, step.role, step.text) == (told["i"], told["role"], told.get("content"))
            assert (step.source_index, step.name, step.thought) == (
                told["src_i"],
                told.get("name"),
                told.get("thought"),
            )
            assert (step.segment, step.tool_call_id) == (told.get("session"), told.get("tool_call_id"))
            calls = [call.model_dump() for call in step.tool_calls]
            assert calls == [{**call, "id": call["id"] or ""} for call in told.get("tool_calls") or []]
