"""Appending to a tape what it lacks: staging is brought into the same state first, and answers in the tape's words."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from proctor.interaction import header
from tests.integration.cli.support import agent, all_files, error_of, kept, killed, put_aside, record, replay
from tests.support import Finished, Project, serving

TOML = """
[services.desk]
url = "env:DESK_AT"
env = ["DESK_URL"]
reads = ["/orders/*"]
writes = ["/token", "/orders", "/orders/*/refund"]
"""
NOWHERE = {"DESK_AT": "http://127.0.0.1:9"}
NEW = ("--mode", "desk=new_episodes")

BEGIN = """
who = json.loads(call(DESK + "/token", {"user": "ann"})[1])["token"]
me = [("Authorization", "Bearer " + who)]
order = json.loads(call(DESK + "/orders", {"what": "lamp"}, headers=me)[1])["order_id"]
def look(headers=me): return call(DESK + "/orders/" + order, headers=headers)
def refund(): return call(DESK + "/orders/" + order + "/refund", {"order": order, "note": "of " + order}, headers=me)
print(look())
"""
REFUND = "print(refund())\n"
LOOK = "print(look())\n"


@dataclass
class Shop:
    """A stateful service that mints a token a user and an id an order, others each time; it notes what it was asked."""

    refunds: int = 200
    """The status of a refund."""
    tokens: set[str] = field(default_factory=set)
    orders: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Handle a request."""
        self.asked.append(f"{request.method} {request.path}")
        said = json.loads(await request.read() or b"{}")
        if request.path == "/token":
            self.tokens.add(made := f"shop.{secrets.token_hex(12)}.{said['user']}")
            return web.json_response({"token": made})
        if request.headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            return web.json_response({"error": "who are you"}, status=401)
        if request.path == "/orders":
            self.orders[made := f"ord-{secrets.token_hex(4)}"] = "open"
            return web.json_response({"order_id": made, "link": f"/orders/{made}"})
        order = request.path.split("/")[2]
        if order not in self.orders:
            return web.json_response({"error": "no such order"}, status=404)
        if request.path.endswith("/refund") and said["order"] == order:
            if self.refunds == 200:
                self.orders[order] = "refunded"
            return web.json_response({"order_id": order, "note": said["note"]}, status=self.refunds)
        return web.json_response({"order_id": order, "status": self.orders[order]})


@asynccontextmanager
async def shop(**facts: Any) -> AsyncIterator[tuple[Shop, dict[str, str]]]:
    """A fresh one, and the variable that names its address."""
    made = Shop(**facts)
    async with serving(made.answer) as url:
        yield made, {"DESK_AT": url}


async def recorded(project: Project, source: str = BEGIN) -> bytes:
    """A tape `t` of the agent; gives its file."""
    project.configure(TOML)
    async with shop() as (_, at):
        done = await record(project, source, env=at)
    assert done.status == 0, done.stderr
    return project.layout.cassette("t").read_bytes()


async def extend(project: Project, source: str, at: Mapping[str, str]) -> Finished:
    return await replay(project, source, *NEW, env=at)


async def passes(project: Project, source: str) -> Finished:
    """A plain replay, with nothing running, that is answered from the very same states."""
    done = await replay(project, source, "--allow-unused", env=NOWHERE)
    assert done.status == 0, done.stderr
    assert done.summary["other_states"] == []
    return done


def said(done: Finished) -> list[str]:
    """What the agent printed."""
    return done.printed


def sections(file: bytes) -> bytes:
    """The interactions of a tape's file."""
    return file.partition(b"\ninteractions:\n")[2]


async def test_staging_is_brought_into_the_same_state_and_the_new_calls_stand_in_the_tapes_world(
    project: Project,
) -> None:
    before = await recorded(project)
    old = project.tape("t").interactions
    order = json.loads(old[1].response.body)["order_id"]
    more = BEGIN + REFUND + LOOK
    async with shop() as (staging, at):
        done = await extend(project, more, at)
    assert done.status == 0, done.stderr
    (live,) = staging.orders
    assert live != order
    assert staging.asked == [
        "POST /token", "POST /orders", f"GET /orders/{live}", f"POST /orders/{live}/refund", f"GET /orders/{live}",
    ]  # fmt: skip
    assert done.summary["episodes"] == [f"desk POST /orders/{order}/refund", f"desk GET /orders/{order}"]
    assert (done.summary["made_again"], done.summary["set_up"], done.summary["interactions"]) == (3, "extend", 5)
    assert "refunded" in said(done)[2]
    file = project.layout.cassette("t").read_bytes()
    assert sections(file).startswith(sections(before))
    *kept_as_they_were, refund, look = project.tape("t").interactions
    assert tuple(kept_as_they_were) == old
    assert (refund.after, look.after) == ((0, 1), (0, 1, 3))
    assert json.loads(refund.response.body) == {"order_id": order, "note": f"of {order}"}
    assert header(look.request.headers, "authorization") == header(old[2].request.headers, "authorization")
    assert (refund.redacted, look.redacted) == (("request.headers",), ("request.headers",))
    strange = [live, *staging.tokens]
    assert [path for path in all_files(project.root) for each in strange if each.encode() in path.read_bytes()] == []
    assert said(await passes(project, more)) == said(done)
    assert said(await passes(project, BEGIN)) == said(done)[:1]


async def test_a_tape_that_answers_everything_stays_byte_for_byte_and_nobody_is_asked(project: Project) -> None:
    before = await recorded(project, BEGIN + REFUND + LOOK)
    async with shop() as (staging, at):
        done = await extend(project, BEGIN + LOOK, at)
    assert done.status == 0, done.stderr
    assert "nothing was new: the tape stays as it is" in done.stderr
    assert staging.asked == []
    assert project.layout.cassette("t").read_bytes() == before
    assert kept(project) == ["cassettes/t.yaml"]


async def test_a_read_that_was_recorded_only_in_another_state_and_a_write_that_is_used_up_are_new(
    project: Project,
) -> None:
    await recorded(project, BEGIN + REFUND)
    more = BEGIN + REFUND + LOOK + REFUND + LOOK
    async with shop() as (staging, at):
        done = await extend(project, more, at)
    assert done.status == 0, done.stderr
    assert len(staging.asked) == 7
    *_, look, refund, again = project.tape("t").interactions
    assert [each.after for each in (look, refund, again)] == [(0, 1, 3), (0, 1, 3), (0, 1, 3, 5)]
    assert said(await passes(project, more)) == said(done)
    await passes(project, BEGIN + REFUND)


async def test_a_tape_is_extended_time_and_again_each_time_from_its_own_state(project: Project) -> None:
    await recorded(project, BEGIN + REFUND)
    other = BEGIN + 'call(DESK + "/orders", {"what": "desk"}, headers=me)\n' + LOOK
    async with shop() as (_, at):
        assert (await extend(project, other, at)).status == 0
        assert (await extend(project, BEGIN + REFUND + LOOK, at)).status == 0
    *_, desk, look, refunded = project.tape("t").interactions
    assert [each.after for each in (desk, look, refunded)] == [(0, 1), (0, 1, 4), (0, 1, 3)]
    assert [each["episodes"] for each in project.tape("t").stamp["extended"]] == [2, 1]
    assert "open" in said(await passes(project, other))[1]
    assert "refunded" in said(await passes(project, BEGIN + REFUND + LOOK))[2]
    shown = await project.proctor("cassette", "show", "t")
    assert "extended" in shown.stdout


async def test_where_staging_answers_otherwise_what_is_new_is_put_aside_with_the_reason(project: Project) -> None:
    before = await recorded(project, BEGIN + REFUND)
    async with shop(refunds=409) as (_, at):
        done = await extend(project, BEGIN + REFUND + LOOK, at)
    assert done.status == 1
    order = json.loads(project.tape("t").interactions[1].response.body)["order_id"]
    told = f"staging answered #3 desk POST /orders/{order}/refund with 409, the tape has 200"
    assert f"not sealed: {told}" in done.stderr
    assert told in put_aside(project.layout)
    assert project.layout.cassette("t").read_bytes() == before


async def test_a_run_that_fails_is_put_aside_whole_and_can_be_accepted(project: Project) -> None:
    before = await recorded(project)
    async with shop() as (_, at):
        done = await extend(project, BEGIN + REFUND + "sys.exit(5)", at)
    assert done.status == 5
    assert project.layout.cassette("t").read_bytes() == before
    assert (await project.proctor("cassette", "accept", "t")).status == 0
    assert len(project.tape("t").interactions) == 4
    await passes(project, BEGIN + REFUND)


async def test_staging_that_cannot_be_reached_fails_the_run_and_leaves_the_tape(project: Project) -> None:
    before = await recorded(project)
    done = await extend(project, BEGIN + REFUND, NOWHERE)
    assert done.status == 1
    assert 'service "desk" at http://127.0.0.1:9 did not answer' in done.stderr
    assert project.layout.cassette("t").read_bytes() == before


async def test_a_token_that_staging_hands_out_to_somebody_new_is_no_identity_of_the_tape(project: Project) -> None:
    await recorded(project)
    bob = """
bob = json.loads(call(DESK + "/token", {"user": "bob"})[1])["token"]
print(look([("Authorization", "Bearer " + bob)]))
"""
    async with shop() as (staging, at):
        done = await extend(project, BEGIN + bob, at)
    assert done.status == 0, done.stderr
    *_, token, look = project.tape("t").interactions
    minted = json.loads(token.response.body)["token"]
    assert header(look.request.headers, "authorization") == f"Bearer {minted}"
    assert minted not in {json.loads(each.response.body).get("token") for each in project.tape("t").interactions[:3]}
    assert [path for path in all_files(project.root) for t in staging.tokens if t.encode() in path.read_bytes()] == []
    await passes(project, BEGIN + bob)


async def test_after_a_kill_the_new_calls_are_recovered_onto_the_tape(project: Project) -> None:
    before = await recorded(project)
    async with shop() as (staging, at):
        await killed(project, "replay", BEGIN + REFUND, "--cassette", "t", *NEW, env=at)
    assert project.layout.cassette("t").read_bytes() == before
    told = await project.proctor("cassette", "recover")
    assert told.status == 0, told
    assert kept(project) == ["cassettes/t.yaml"]
    assert project.tape("t").interactions[3].after == (0, 1)
    assert sections(project.layout.cassette("t").read_bytes()).startswith(sections(before))
    assert [path for path in all_files(project.root) for t in staging.tokens if t.encode() in path.read_bytes()] == []
    await passes(project, BEGIN + REFUND)


async def test_a_tape_that_was_replaced_after_a_kill_is_not_overwritten(project: Project) -> None:
    await recorded(project)
    async with shop() as (_, at):
        await killed(project, "replay", BEGIN + REFUND, "--cassette", "t", *NEW, env=at)
    other = await recorded(project, BEGIN + LOOK)
    told = await project.proctor("cassette", "recover")
    assert told.status == 2
    assert "was replaced while it was extended" in told.stderr
    assert project.layout.cassette("t").read_bytes() == other
    assert len(list(project.layout.journals.glob("*.jsonl"))) == 1


SHARING = """
[services.desk]
url = "http://127.0.0.1:9"
state_group = "shop"
[services.line]
url = "http://127.0.0.1:9"
state_group = "shop"
"""


@pytest.mark.parametrize(
    ("verb", "modes", "code"),
    [
        ("replay", NEW, "extends_half_a_state"),
        ("record", NEW, "extends_and_records"),
        ("replay", ("--mode", "desk=new_episode"), "unknown_mode"),
    ],
)
async def test_what_cannot_be_meant_is_refused_before_anything_runs(
    project: Project, verb: str, modes: tuple[str, ...], code: str
) -> None:
    await recorded(project)
    project.configure(SHARING)
    done = await project.proctor(verb, "--cassette", "t", *modes, "--json", "--", *agent('open("ran", "w")'))
    assert done.status == 2
    assert error_of(done)["code"] == code
    assert not (project.root / "ran").exists()


async def test_a_tape_that_is_not_there_cannot_be_extended(project: Project) -> None:
    project.configure(TOML)
    done = await extend(project, BEGIN, NOWHERE)
    assert (done.status, error_of(done)["code"]) == (2, "cassette_missing")
