"""What no honest client sends to the judge's service: each is told as what it is, and everybody else is judged."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proctor.judge_wire import VerdictCame
from proctor.trajectories.file import MAX_DEPTH, line_of
from tests.integration.judge.senders import HEADER, LINE, Sender, asking, nested, of_run
from tests.integration.judge.services import batch, run
from tests.integration.judge.test_service import stored

BODIES: Mapping[str, tuple[bytes, str]] = {
    "nothing": (b"", "400 not_json"),
    "spaces": (b" \n ", "400 not_json"),
    "a NUL": (b"\0", "400 not_json"),
    "a NUL in a text": (b'{"trajectory": "\0"}', "400 not_json"),
    "NaN": (asking()[:-1] + b', "at_least": NaN}', "400 not_json"),
    "minus infinity": (asking()[:-1] + b', "at_least": -Infinity}', "400 not_json"),
    "1e400": (asking()[:-1] + b', "at_least": 1e400}', "400 not_json"),
    "1e400 in what a tool was given": (asking().replace(b"120.5", b"1e400"), "400 not_json"),
    "-1e400 in a run": (of_run(seconds=1.5).replace(b"1.5", b"-1e400"), "400 not_json"),
    "5,000 digits": (of_run(seed=7).replace(b'"seed": 7', b'"seed": ' + b"9" * 5000), "400 not_json"),
    "half a surrogate pair": (of_run(id="x").replace(b'"x"', b'"\\ud800"'), "400 not_text"),
    "the other half in a name": (asking(checks={"x": {}}).replace(b'"x"', b'"\\uDFFF"'), "400 not_text"),
    "Latin-1": (b'{"trajectory": "\xe9"}', "400 not_utf8"),
    "UTF-16": (asking().decode().encode("utf-16"), "400 not_utf8"),
    "a byte order mark": (b"\xef\xbb\xbf" + asking(), "400 not_json"),
    "two values": (asking() + asking(), "400 not_json"),
    "cut": (asking()[:-40], "400 not_json"),
    "a key twice": (asking()[:-1] + b', "trajectory": {}}', "400 repeated_key"),
    "a key twice deep inside": (asking().replace(b'"W1"', b'{"a": 1, "a": 2}'), "400 repeated_key"),
    "one level too many": (nested(MAX_DEPTH + 1), "400 too_deep"),
    "100,000 levels": (b"[" * 100_000 + b"]" * 100_000, "400 too_deep"),
    "100,000 open objects": (b'{"a":' * 100_000, "400 too_deep"),
    "an array": (b"[]", "400 bad_request"),
    "a number": (b"1", "400 bad_request"),
    "null": (b"null", "400 bad_request"),
    "a text": (b'"trajectory"', "400 bad_request"),
    "no run": (b"{}", "400 bad_request"),
    "a list of runs": (b'{"trajectory": []}', "400 not_a_trajectory"),
    "steps that are a number": (of_run(steps=5), "400 not_a_trajectory"),
    "steps out of order": (of_run(steps=[{"index": 1, "role": "user"}]), "400 not_a_trajectory"),
    "an unknown role": (of_run(steps=[{"index": 0, "role": "judge"}]), "400 not_a_trajectory"),
    "version 2": (asking(v=2), "400 newer"),
    "version true": (asking(v=True), "400 newer"),
    "version '1'": (asking(v="1"), "400 newer"),
    "version null": (asking(v=None), "400 newer"),
    "a run of version 2": (of_run(v=2), "400 newer"),
    "a run of version 10^30": (of_run(v=10**30), "400 newer"),
    "a run of version true": (of_run(v=True), "400 not_a_trajectory"),
    "a run of version 0": (of_run(v=0), "400 not_a_trajectory"),
    "a model that is a list": (asking(model=["x"]), "400 bad_request"),
    "a preset that is a number": (asking(preset=5), "400 bad_request"),
    "checks that are a list": (asking(checks=[]), "400 bad_request"),
    "no room": (asking(room=0), "400 bad_request"),
    "less than no room": (asking(room=-1), "400 bad_request"),
    "room of a half": (asking(room=0.5), "400 bad_request"),
    "more than all points": (asking(at_least=100.5), "400 bad_request"),
    "a budget, which only batches have": (asking(max_cost=1), "400 unknown_field"),
    "a misspelt field": (asking(rubrik="x"), "400 unknown_field"),
    "a rubric by its path": (asking(rubric="/etc/passwd"), "400 rubric_unknown"),
    "a rubric by a path that goes up": (asking(rubric="../rubrics/trajectory"), "400 rubric_unknown"),
    "a rubric by its file's name": (asking(rubric="trajectory.yaml"), "400 rubric_unknown"),
    "a rubric with a NUL": (asking(rubric="trajectory\0.yaml"), "400 rubric_unknown"),
    "a rubric without a name": (asking(rubric=""), "400 rubric_unknown"),
    "a rubric that is null": (asking(rubric=None), "400 bad_request"),
    "an empty rubric": (asking(rubric={}), "400 bad_request"),
    "an unknown check": (asking(checks={"no_pi": {}}), "400 unknown_check"),
    "a check with a wrong parameter": (asking(checks={"expected_writes": {"expected": "x"}}), "400 bad_checks"),
    "an unknown preset": (asking(preset="mild"), "400 unknown_preset"),
    "a model that is not offered": (asking(model="openai/gpt-5"), "400 model_not_offered"),
    "a stand-in that would read a file": (asking(model="stand-in/scripted:/etc/passwd"), "400 model_not_offered"),
    "a model by a path": (asking(model="../../etc/passwd"), "400 model_not_offered"),
}


async def test_a_body_that_cannot_be_judged_is_told_as_what_it_is_and_nothing_of_it_is_kept(
    sender: Sender, tmp_path: Path
) -> None:
    told = {name: (await sender.one(body)).code for name, (body, _) in BODIES.items()}
    assert told == {name: code for name, (_, code) in BODIES.items()}
    assert stored(tmp_path, "SELECT COUNT(*) FROM verdicts") == [(0,)]
    await sender.still_judges()


async def test_a_misspelt_name_is_told_with_the_nearest_right_one_wherever_it_stands(sender: Sender) -> None:
    rubric = json.loads((await sender.sent("GET", "/v1/rubrics")).body)["rubrics"][0]["rubric"]
    misspelt = {**rubric["criteria"][0], "scor": 1}
    asked = {
        "request": (sender.one(asking(rubrik="x")), "rubric"),
        "header": (sender.many(b'{"batch": {"max_cots": 1}}\n' + LINE), "max_cost"),
        "rubric": (sender.one(asking(rubric={**rubric, "critera": []})), "criteria"),
        "criterion": (sender.one(asking(rubric={**rubric, "criteria": [misspelt]})), "scope"),
        "run": (sender.one(of_run(stepz=[])), "steps"),
        "step": (sender.one(of_run(steps=[{"index": 0, "role": "user", "texd": ""}])), "text"),
        "call": (
            sender.one(of_run(steps=[{"index": 0, "role": "assistant", "tool_calls": [{"nam": "x"}]}])),
            "name",
        ),
        "preset": (sender.one(asking(rubric="acmse", preset="tooling")), ""),
        "check": (sender.one(asking(checks={"no_pi": {}})), "no_pii"),
        "model": (sender.one(asking(model="stand-in/obedience")), "stand-in/obedient"),
    }
    told = {name: (await answer).error for name, (answer, _) in asked.items()}
    for name, (_, right) in asked.items():
        if right:
            assert f'did you mean "{right}"?' in told[name]["message"] + told[name]["fix"], told[name]


async def test_a_rubric_that_is_not_fit_to_judge_by_is_refused_with_what_lint_says(sender: Sender) -> None:
    rubrics = json.loads((await sender.sent("GET", "/v1/rubrics")).body)["rubrics"]
    rubric = next(each["rubric"] for each in rubrics if each["name"] == "trajectory")
    first, *rest = rubric["criteria"]
    bad = {
        "no criteria": {**rubric, "criteria": []},
        "a criterion twice": {**rubric, "criteria": [first, first]},
        "no levels": {**rubric, "criteria": [{**first, "levels": []}, *rest]},
        "weights of nothing": {**rubric, "criteria": [{**each, "weight": 0} for each in rubric["criteria"]]},
        "a scale that there is not": {**rubric, "scale": "1-9"},
        "a negative weight": {**rubric, "criteria": [{**first, "weight": -1}, *rest]},
    }
    told = {name: await sender.one(asking(rubric=each)) for name, each in bad.items()}
    assert {each.status for each in told.values()} == {400}
    assert {each.error["code"] for each in told.values()} <= {"rubric_lint", "bad_request"}, told
    assert "trajectory: weights_sum: " in told["weights of nothing"].error["message"]
    assert told["no levels"].error["message"].startswith("rubric: criterion task_achievement: it needs one anchor")
    await sender.still_judges()


async def test_numbers_that_fit_in_no_machine_word_are_numbers_all_the_same(sender: Sender) -> None:
    wanted = [{"name": "create_refund", "arguments": {"order_id": "W1", "amount": 10**30}}]
    for body in (
        of_run(seed=10**30, trial=10**25),
        asking(room=10**30),
        asking(checks={"expected_writes": {"expected": wanted}}),
    ):
        told = await sender.one(body)
        assert (told.status, json.loads(told.body)["state"]) == (200, "done"), told.body
    assert str(10**30) in told.body.decode(), "the rule names what was wanted, to the last digit"


async def test_what_is_quoted_in_an_error_is_short_however_long_it_was(sender: Sender) -> None:
    long = "x" * 300_000
    bodies = [
        asking(rubric=long),
        asking(model=long),
        asking(preset=long),
        asking(checks={long: {}}),
        asking(**{long: 1}),
        of_run(**{long: 1}),
    ]
    for told in [await sender.one(each) for each in bodies]:
        assert (told.status, len(told.body) < 5_000) == (400, True), told.body[:300]
    same = line_of(run(long))
    told = await sender.many(same + same)
    assert (told.status, len(told.body) < 5_000) == (202, True)


BATCHES: Mapping[str, tuple[bytes, str]] = {
    "nothing": (b"", "400 empty_batch"),
    "empty lines": (b"\n\n \n", "400 empty_batch"),
    "a header alone": (HEADER, "400 empty_batch"),
    "a header and rubbish": (HEADER + b"rubbish\n", "400 not_json"),
    "a header of version 2": (b'{"v": 2, "batch": {}}\n' + LINE, "400 newer"),
    "a header of version true": (b'{"v": true, "batch": {}}\n' + LINE, "400 newer"),
    "a header that is a number": (b'{"batch": 5}\n' + LINE, "400 bad_request"),
    "a header with NaN": (b'{"batch": {"max_cost": NaN}}\n' + LINE, "400 not_json"),
    "a header with 1e400": (b'{"batch": {"max_cost": 1e400}}\n' + LINE, "400 not_json"),
    "a header with a debt": (b'{"batch": {"max_cost": -0.01}}\n' + LINE, "400 bad_request"),
    "a header with a text for a sum": (b'{"batch": {"max_cost": "much"}}\n' + LINE, "400 bad_request"),
    "a header with a key twice": (b'{"batch": {}, "batch": {}}\n' + LINE, "400 repeated_key"),
    "only runs that are none": (b"{}\n[]\nnull\n", "400 not_a_trajectory"),
    "a run of a newer version": (b'{"v": 2, "id": "x"}\n', "400 newer"),
    "the header of another version of everything": (b'{"version": 9, "runs": []}\n', "400 not_a_trajectory"),
}


async def test_a_batch_that_holds_nothing_to_judge_is_refused_whole(sender: Sender, tmp_path: Path) -> None:
    told = {name: (await sender.many(body)).code for name, (body, _) in BATCHES.items()}
    assert told == {name: code for name, (_, code) in BATCHES.items()}
    assert stored(tmp_path, "SELECT COUNT(*) FROM batches") == [(0,)]
    await sender.still_judges()


async def test_bad_lines_among_good_ones_are_told_with_their_numbers_and_the_good_ones_are_judged(
    sender: Sender,
) -> None:
    lines = [
        HEADER,
        LINE,
        b"{rubbish\n",
        b"\n",
        HEADER,
        line_of(run("b")),
        LINE,
        b'{"id": "c", "steps": 5}\n',
        line_of(run("d")).replace(b"120.5", b"1e400"),
        b'{"id": "\\ud800"}\n',
        b"[" * 101 + b"]" * 101 + b"\n",
        b'{"v": 2, "id": "e"}\n',
        b'{"id": "f", "id": "g"}\n',
        line_of(run("h")).strip(),
    ]
    told = json.loads((await sender.many(b"".join(lines))).body)
    refused = [(each["line"], each["trajectory"], each["error"]["code"]) for each in told["refused_lines"]]
    assert refused == [
        (3, "", "not_json"),
        (5, "", "header_misplaced"),
        (7, "a", "repeated_id"),
        (8, "c", "not_a_trajectory"),
        (9, "", "not_json"),
        (10, "", "not_text"),
        (11, "", "too_deep"),
        (12, "e", "newer"),
        (13, "", "repeated_key"),
    ]
    events = [event async for event in sender.client.batch_results(told["id"])]
    came = {event.answer.trajectory: event.answer.state for event in events if isinstance(event, VerdictCame)}
    assert came == {"a": "done", "b": "done", "h": "done"}


async def test_the_same_batch_twice_at_once_and_one_run_in_two_batches_are_judged_once(
    sender: Sender, tmp_path: Path
) -> None:
    both, other = [run("a"), run("b")], [run("b"), run("c")]
    first, same, third = await asyncio.gather(*(batch(sender.client, each) for each in (both, both, other)))
    assert (first[2].batch.id, {"done": 2}) == (same[2].batch.id, third[2].batch.states)
    assert first[1]["b"].answer == same[1]["b"].answer == third[1]["b"].answer
    assert stored(tmp_path, "SELECT COUNT(*), SUM(asked) FROM verdicts") == [(3, 15)]
    assert stored(tmp_path, "SELECT COUNT(*) FROM records") == [(3,)]


TEXTS = st.one_of(
    st.binary(max_size=200),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["v", "batch", "trajectory", "id", "steps", "rubric", "model", "checks", "room", "x"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode()),
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(TEXTS, max_size=3))
async def test_no_bytes_whatever_make_the_service_fail(sender: Sender, lines: list[bytes]) -> None:
    for send in (sender.one, sender.many):
        told = await send(b"\n".join(lines))
        assert told.status < 500, told.body
        if told.status >= 400:
            assert told.error["code"].isascii()
            assert told.error["exit_code"] == 2
