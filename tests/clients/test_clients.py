"""Every client of the catalogue, recorded in one process and replayed in another with its services stopped."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from proctor.cassette import Cassette
from proctor.interaction import header
from tests.clients import environments, table
from tests.clients.catalogue import CLIENTS, Client
from tests.clients.running import FOUR, KEY, MODEL_CALLS, TOOLS, record_and_replay
from tests.property.counts import SOAK

pytestmark = pytest.mark.timeout(300)
SLOW = ("litellm, Anthropic route",)
LAST = {"openai": (b"[DONE]", b"response.completed"), "anthropic": (b"message_stop",)}


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
async def test_a_client_replays_what_it_recorded(client: Client, tmp_path: Path) -> None:
    reason = environments.missing(client)
    if reason:
        pytest.skip(f"{client.name}: {reason}")
    if client.name in SLOW and not SOAK:
        pytest.skip(f"{client.name}: slow to start, and of a package that another client here has; make soak")
    outcome = await record_and_replay(client, tmp_path)
    assert outcome.was_recorded, outcome.recorded.stderr
    assert outcome.was_replayed, f"{outcome.recorded.stdout}\n{outcome.replayed.stdout}\n{outcome.replayed.stderr}"
    assert "refund number" in outcome.replayed.stdout
    assert outcome.tape is not None
    check_tape(client, outcome.tape)
    hits = outcome.replayed.summary
    assert (hits["hits"], hits["exchanges"], hits["unused"], hits["llm"]) == (15, 15, [], "replayed")
    check_table(client, table.Row(environments.version(client), True, True, outcome.past_was_seen))


def check_tape(client: Client, tape: Cassette) -> None:
    """The conversation is there whole: every tool once, the four parallel calls too, and every stream to its end."""
    tools = [interaction for interaction in tape.interactions if interaction.request.service == "orders"]
    answers = [interaction for interaction in tape.interactions if interaction.request.service == "llm"]
    assert Counter(each.tool for each in tools) == Counter(TOOLS)
    looked_up = [(each.tool, json.loads(each.request.body)["order_id"]) for each in tools[1:5]]
    assert sorted(looked_up) == sorted((tool, order) for tool, order in FOUR if tool)
    assert len(answers) == MODEL_CALLS
    for each in answers:
        kind = header(each.response.headers, "content-type") or ""
        assert kind.startswith("text/event-stream") == client.streams
        if client.streams:
            assert any(mark in each.response.body[-4000:] for mark in LAST[client.preset])
    assert KEY.encode() not in b"".join(value.encode() for each in answers for _, value in each.request.headers)


def check_table(client: Client, found: table.Row) -> None:
    """The page says what this run found; `make clients` writes it anew."""
    line, told = found.line(client), table.committed().get(client.name, "")
    if not client.package:
        line, told = table.without_version(line), table.without_version(told)
    assert told == line, "docs/clients.md is not what this run found: make clients"


def test_the_table_has_every_client_and_no_other() -> None:
    lines = [name for name in table.committed() if name not in {"client", "---"}]
    assert lines == [client.name for client in CLIENTS]


def test_a_client_that_did_not_run_keeps_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "clients.md"
    page.write_text(table.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(table, "PAGE", page)
    before = table.committed()
    first, *others = CLIENTS
    table.write({first.name: table.Row("0.0.1", True, False, False)})
    after = table.committed()
    assert "| 0.0.1 | yes | **no** |" in after[first.name]
    assert all(after[client.name] == before[client.name] for client in others)


def test_no_registry_is_named_in_the_pins() -> None:
    lock = json.loads((environments.NODE / "package-lock.json").read_text(encoding="utf-8"))
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]
    pins = environments.REQUIREMENTS.read_text(encoding="utf-8")
    assert all(line.count("==") == 1 and "/" not in line for line in pins.splitlines())
