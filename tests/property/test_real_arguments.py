"""Arguments that real agents sent: written another way they are the same request, changed they are another."""

from __future__ import annotations

import json
from pathlib import Path

from proctor.canonical import canonical_json


def real_arguments(folder: Path) -> list[str]:
    """The arguments of the tool calls of the shared trajectories, where they are kept as the model wrote them."""
    with (folder / "trajectories.jsonl").open(encoding="utf-8") as lines:
        steps = [step for line in lines for step in json.loads(line)["steps"]]
    calls = [call for step in steps for call in step.get("tool_calls") or []]
    return [call["arguments_raw"] for call in calls if call["arguments_raw"].startswith("{")]


def test_real_arguments_keep_their_meaning_under_another_spelling(shared_data: Path) -> None:
    found = real_arguments(shared_data)
    assert len(found) > 300
    for raw in found:
        value = json.loads(raw)
        other = json.dumps(dict(reversed(value.items())), indent=2, ensure_ascii=False)
        assert canonical_json(other.encode()) == canonical_json(raw.encode()) is not None
        changed = json.dumps({**value, "one_more": 1})
        assert canonical_json(changed.encode()) != canonical_json(raw.encode())
