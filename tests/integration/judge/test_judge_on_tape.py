"""A batch is judged once through Proctor's own proxy, then again from the tape: no key, no network, the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.paths import Layout
from tests.integration.judge.taped import CLAUDE, KEY, MODEL, Provider, elsewhere, judged, runs, verdicts
from tests.support import Project
from tools.stand_in_judge_server import serving_judge


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_API_KEY", "PROCTOR_SESSION_URL"):
        monkeypatch.delenv(name, raising=False)


async def test_a_batch_is_replayed_elsewhere_without_a_key_and_the_verdicts_are_equal_byte_for_byte(
    project: Project, tmp_path: Path
) -> None:
    here = Project(tmp_path / "here")
    here.root.mkdir()
    command = judged(runs(here, "abc", CLAUDE), "--model", MODEL, "--json")
    provider = Provider()
    async with serving_judge(provider) as server:
        here.configure(f'[services.llm]\npreset = "openai"\nurl = "{server.url}"\n')
        recorded = await here.proctor("record", "--cassette", "judged", *command, env={"OPENAI_API_KEY": KEY})
    assert recorded.status == 0, recorded.stdout + recorded.stderr
    told = verdicts(recorded)
    assert [each["trajectory"] for each in told] == ["a", "b", "c"]
    assert [each["use"]["attempts"] - each["use"]["calls"] for each in told] == [0, 1, 0]
    assert [any(each["repaired"] for each in verdict["criteria"]) for verdict in told] == [False, False, True]
    assert told[0]["use"]["cost"] > 0
    assert provider.calls == 3 * 5 + 2
    tape = here.tape("judged")
    assert len(tape.interactions) == 3 * 5 + 1
    assert len(bytes.fromhex(tape.stamp["judge_salt"])) == 32
    assert bytes.fromhex(tape.stamp["judge_salt"]) not in [path.read_bytes() for path in here.root.rglob("salt")]

    there = elsewhere(here, tmp_path / "there")
    replayed = await there.proctor("replay", "--cassette", "judged", *command)
    assert replayed.status == 0, replayed.stdout + replayed.stderr
    assert replayed.stdout == recorded.stdout
    assert not Layout(there.root).judge.joinpath("salt").exists()
