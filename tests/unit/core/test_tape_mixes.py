"""Tapes of one folder that were made against different things are named, with what mends it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proctor.cassette import Cassette, save_cassette
from proctor.paths import Layout
from proctor.tape_mixes import mixes, mixes_beside
from tests.unit.core.values import in_order, interaction


def keep(layout: Layout, name: str, **stamp: Any) -> None:
    path = layout.cassette(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    facts = {"recorded_at": "2026-01-01T00:00:00Z", "services": {"desk": "http://desk.test:80/api"}, **stamp}
    save_cassette(path, Cassette(name, in_order(interaction()), facts))


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ({"environment": "dev"}, 'mixes the environment: "staging" (2), "dev" (1)'),
        ({"environment": ""}, 'mixes the environment: "staging" (2), "not named" (1)'),
        ({"services": {"desk": "http://other.test/api"}}, 'mixes the host of desk: "desk.test" (2), "other.test" (1)'),
        ({"tool_schemas": {"pay": "b2"}}, 'mixes the schema of the tool pay: "a1" (2), "b2" (1)'),
    ],
)
def test_a_tape_that_differs_from_its_folder_is_named(tmp_path: Path, odd: dict[str, Any], said: str) -> None:
    layout = Layout(tmp_path)
    usual: dict[str, Any] = {"environment": "staging", "tool_schemas": {"pay": "a1"}}
    for name in ("suite/a", "suite/b"):
        keep(layout, name, **usual)
    keep(layout, "suite/c", **{**usual, **odd})
    keep(layout, "elsewhere/d", environment="another folder")
    (warning,) = mixes(layout, layout.cassette_names())
    assert warning == f"cassettes/suite/ {said}; record again: proctor record --again suite/c"
    assert mixes_beside(layout, "suite/a") == [warning]
    assert mixes_beside(layout, "elsewhere/d") == []


def test_another_port_or_a_service_that_one_tape_lacks_is_no_mix(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    keep(layout, "a")
    keep(layout, "b", services={"desk": "http://desk.test:9999/api", "llm": "http://llm.test"})
    assert mixes(layout, ["a", "b"]) == []


def test_a_tape_that_cannot_be_read_is_left_to_whatever_plays_it(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    keep(layout, "a", environment="x")
    layout.cassette("b").write_text("<<<<<<< HEAD\n", encoding="utf-8")
    layout.cassette("c").write_text("interactions: []\nversion: 1\n", encoding="utf-8")
    assert mixes(layout, ["a", "b", "c", "gone"]) == []
