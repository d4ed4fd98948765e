"""All labelled real runs, as a judge would be shown them. Skipped without PROCTOR_TEST_DATA."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proctor.judge.blinding import blind
from proctor.judge.budget import fitted
from proctor.judge.showing import printable
from proctor.judge.transcript import Transcript
from proctor.trajectories.from_records import from_record
from proctor.trajectory import Trajectory
from tests.unit.judge.shown import criterion, read, user_message
from tests.unit.judge.test_budget import count

ROOM = 24_000


@pytest.fixture(scope="module")
def runs(shared_data: Path) -> list[Trajectory]:
    lines = (shared_data / "trajectories.jsonl").read_text(encoding="utf-8").splitlines()
    return [from_record(json.loads(line)) for line in lines]


@pytest.fixture(scope="module")
def shown(runs: list[Trajectory]) -> list[tuple[Trajectory, Transcript]]:
    return [(run, blind(run, thoughts=True)) for run in runs]


@pytest.mark.req(168)
def test_every_real_run_is_shown_without_its_agent_its_labels_and_its_ids(
    shown: list[tuple[Trajectory, Transcript]],
) -> None:
    assert len(shown) == 74
    for run, whole in shown:
        content, _ = user_message(fitted(whole, criterion(), ROOM, count))
        low = content.lower()
        assert not run.agent.model or run.agent.model.lower() not in low
        assert run.id not in content
        ids = {call.id for step in run.steps for call in step.tool_calls if len(call.id) > 8}
        assert not [identity for identity in ids if identity in content]


def test_every_passage_reads_back_as_it_can_be_quoted(shown: list[tuple[Trajectory, Transcript]]) -> None:
    for _, whole in shown:
        transcript = fitted(whole, criterion(), ROOM, count)
        _, passages, omitted = read(*user_message(transcript))
        assert omitted == sorted(transcript.omitted)
        assert passages == [(step.index, each.kind, each.text) for step in transcript.steps for each in step.passages]


def test_ordinary_words_survive_and_only_real_injections_are_withheld(
    shown: list[tuple[Trajectory, Transcript]],
) -> None:
    withheld, changed = {}, 0
    for run, transcript in shown:
        spans = sum(len(each.withheld) for step in transcript.steps for each in step.passages)
        if spans:
            withheld[run.id] = spans
        assert transcript.names == {}
        said = [printable(step.text) for step in run.steps if step.role != "system" and step.text]
        texts = {each.text for step in transcript.steps for each in step.passages if each.field == "text"}
        changed += sum(text not in texts for text in said) if not spans else 0
    assert sum(withheld.values()) == 52
    assert {name[:8] for name in withheld} == {"asse-sec"}  # the set that was made to hold injections
    assert changed == 0


def test_the_long_one_is_budgeted_and_not_cut(runs: list[Trajectory]) -> None:
    long = next(run for run in runs if run.id == "devai-openhands-39")
    whole = blind(long, thoughts=False)
    for kind in ("outcome", "conduct", "safety"):
        short = fitted(whole, criterion(kind), ROOM, count)
        content, tag = user_message(short, criterion(kind))
        assert 0.8 * ROOM < count(content) < ROOM
        _, passages, omitted = read(content, tag)
        assert {step for step, _, _ in passages} | set(omitted) == {step.index for step in whole.steps}
        gaps = sum("\n[left out for length: " in text for _, _, text in passages)
        assert gaps + len(omitted) > 0
