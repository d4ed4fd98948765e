"""`proctor world`, as a person who writes a world uses it."""

from __future__ import annotations

import asyncio
import json
import signal
import sys

import aiohttp

from proctor.client import ControlClient
from tests.integration.worlds.support import with_shop
from tests.support import ROOT, Project, clean_environment


async def test_list_and_show_tell_what_there_is(project: Project) -> None:
    with_shop(project)
    listed = await project.proctor("world", "list")
    assert listed.status == 0
    assert listed.stdout.startswith("shop             shop:Shop: get_token, query_order,")
    shown = await project.proctor("world", "show", "shop")
    assert "create_refund  [write; for buyer; after calc_refund; token in token]" in shown.stdout
    assert "    order_id: The number on the receipt, as it is printed." in shown.stdout
    told = json.loads((await project.proctor("world", "show", "--json", "--distractors", "1")).stdout)
    assert len(told["tools"]) == 13
    assert list(told["start"]["orders"]) == ["A1", "A2"]


async def test_calls_follow_each_other_in_one_session(project: Project) -> None:
    with_shop(project)
    (project.root / "start.json").write_text('{"orders": {"B7": {"owner": "bob"}}}')
    steps = ("cancel_order", '{"order_id": "B7"}', "query_order", '{"order_id": "B7"}')
    done = await project.proctor("world", "call", "shop", *steps, "--as", "bob", "--start", "start.json")
    assert done.status == 0, done.stderr
    assert 'replace /orders/B7/status "cancelled"' in done.stdout
    assert done.stdout.count('"status":"cancelled"') == 2
    refused = await project.proctor("world", "call", "shop", "cancel_order", '{"order_id": "A1"}', "--json")
    assert refused.status == 1
    told = json.loads(refused.stdout)
    assert told["calls"][0]["result"]["error"] == "permission_denied"
    assert told["diff"] == []
    failed = await project.proctor("world", "call", "shop", "break_down", '{"how": "throw"}')
    assert failed.status == 4
    assert 'raise KeyError("gone")' in failed.stderr
    assert "world_failed: the world's tool break_down threw KeyError at shop.py:" in failed.stderr


async def test_what_cannot_be_called_is_told(project: Project) -> None:
    project.configure('[services.real]\nurl = "http://127.0.0.1:9"\n')
    none = await project.proctor("world", "list")
    assert (none.status, "no service of proctor.toml has a world" in none.stderr) == (2, True)
    with_shop(project)
    unknown = await project.proctor("world", "call", "shpo", "query_order")
    assert (unknown.status, 'did you mean "shop"?' in unknown.stderr) == (2, True)
    stray = await project.proctor("world", "call", "shop", "{}")
    assert (stray.status, "belongs to no tool" in stray.stderr) == (2, True)


async def test_a_served_world_answers_until_it_is_stopped(project: Project) -> None:
    with_shop(project)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proctor", "world", "serve", "--json"),
        cwd=project.root,
        env={**clean_environment(), "PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    told = json.loads(await process.stdout.readline())
    url = told["worlds"]["shop"]["url"]
    key = {"Authorization": "Bearer proctor-world-alice"}
    async with aiohttp.ClientSession() as http, ControlClient(told["control"], told["token"]) as control:
        async with http.post(f"{url}/tools/cancel_order", json={"order_id": "A1"}, headers=key) as answer:
            assert answer.status == 200
        assert [each.tool for each in (await control.world("world", "shop")).log] == ["cancel_order"]
    process.send_signal(signal.SIGTERM)
    _, stderr = await process.communicate()
    assert process.returncode == 0, stderr
    assert b"1 calls answered" in stderr
