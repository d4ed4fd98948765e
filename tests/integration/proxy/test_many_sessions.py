"""Sessions do not touch each other: each of many at once gets the answers that it would get alone."""

from __future__ import annotations

import asyncio
import json
from random import Random

from aiohttp import ClientSession

from proctor.cassette import Cassette, save_cassette
from proctor.client import ControlClient
from proctor.config import CONFIG_NAME, load_config
from proctor.interaction import Interaction, Request, Response
from proctor.proxy.server import Proxy, start_proxy
from proctor.wire import SessionSpec
from tests.support import Project, services

SESSIONS = 64
REQUESTS = 50
OWN_TAPES = 16
"""So many sessions have a tape of their own; the others share one."""
SHARED = "shared"


def tape(name: str, rng: Random) -> Cassette:
    """Few questions, each asked several times and answered otherwise each time: order is all that tells."""
    made = []
    for index in range(120):
        question = rng.randrange(12)
        body = json.dumps({"question": question}).encode()
        answer = json.dumps({"tape": name, "question": question, "index": index}).encode()
        headers = (("Content-Type", "application/json"),)
        asked = Request("desk", "POST", "/query", headers, body)
        made.append(
            Interaction(index, asked, Response(200, "OK", headers, answer), "http://desk.test/query", "read", "guessed")
        )
    return Cassette(name, tuple(made))


async def ask(proxy: Proxy, http: ClientSession, name: str, seed: int) -> list[str]:
    """One session from its opening to its end; gives every answer."""
    rng = Random(seed)
    async with ControlClient(proxy.url, proxy.token) as control:
        info = await control.open(SessionSpec(cassette=name, modes={"desk": "replay"}))
        answers = []
        for _ in range(REQUESTS):
            spaces = " " * rng.randrange(2)  # some questions are equal in meaning only
            body = f'{{{spaces}"question": {rng.randrange(12)}}}'
            async with http.post(
                f"{info.url}/desk/query", data=body, headers={"Content-Type": "application/json"}
            ) as got:
                answers.append(f"{got.status} {await got.text()}")
        summary = await control.close(info.session, 0)
    assert (summary.exchanges, summary.hits) == (REQUESTS, REQUESTS)
    return answers


async def test_each_of_64_sessions_at_once_is_answered_as_if_it_were_alone(project: Project) -> None:
    project.configure(services(desk="http://desk.test"))
    names = [f"own/{number}" if number < OWN_TAPES else SHARED for number in range(SESSIONS)]
    for name in set(names):
        save_cassette(project.layout.cassette(name), tape(name, Random(name)))
    proxy = await start_proxy(load_config(project.root / CONFIG_NAME))
    try:
        async with ClientSession() as http:
            alone = [await ask(proxy, http, name, seed) for seed, name in enumerate(names)]
            together = await asyncio.gather(*(ask(proxy, http, name, seed) for seed, name in enumerate(names)))
    finally:
        await proxy.close()
    assert together == alone
    assert len({tuple(answers) for answers in alone}) == SESSIONS


async def test_a_tape_is_loaded_once_for_all_its_sessions_and_anew_when_its_file_has_changed(project: Project) -> None:
    project.configure(services(desk="http://desk.test"))
    path = project.layout.cassette(SHARED)
    save_cassette(path, tape("before", Random(1)))
    proxy = await start_proxy(load_config(project.root / CONFIG_NAME))
    try:
        async with ControlClient(proxy.url, proxy.token) as control, ClientSession() as http:
            spec = SessionSpec(cassette=SHARED, modes={"desk": "replay"})
            first, second = await control.open(spec), await control.open(spec)
            sessions = proxy.registry.sessions
            assert sessions[first.session].tape is sessions[second.session].tape
            save_cassette(path, tape("after", Random(1)))
            third = await control.open(spec)
            for info, told in ((first, "before"), (second, "before"), (third, "after")):
                async with http.post(f"{info.url}/desk/query", json={"question": 3}) as answer:
                    assert (await answer.json())["tape"] == told
    finally:
        await proxy.close()
