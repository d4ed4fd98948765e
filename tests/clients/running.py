"""One client, recorded against the order desk and its stand-in model, and replayed without them."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from examples.order_desk import server, stand_in_model
from proctor.cassette import Cassette
from proctor.presets import PRESETS
from tests.clients.catalogue import Client, Kind
from tests.clients.environments import HERE, NODE, NODE_MODULES, PYTHON
from tests.support import Finished, Project, serving_app

TAPE = "t"
CLOSED = "http://127.0.0.1:9"
KEY = "sk-clients-4711-of-a-team-0815"
KEYS = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
NO_KEYS = dict.fromkeys(KEYS, "")

FOUR = [(tool, order) for order in ("US2001", "US2002") for tool in ("query_order", "query_logistics")]
TOOLS = ["get_token", *(tool for tool, _ in FOUR), "query_order", "calc_refund", "create_refund"]
MODEL_CALLS = 7


@dataclass(frozen=True)
class Outcome:
    """What a recording and its replay came to."""

    recorded: Finished
    replayed: Finished
    tape: Cassette | None
    past: Finished
    """A recording in which the client had the model's own address."""

    @property
    def was_recorded(self) -> bool:
        """Whether it ended well, and everything of the conversation is on the tape, streams whole."""
        return self.recorded.status == 0 and self.tape is not None

    @property
    def was_replayed(self) -> bool:
        """Whether it ended well and said just the same, with no miss."""
        same = self.replayed.printed == self.recorded.printed
        return self.was_recorded and self.replayed.status == 0 and same and not self.replayed.summary["misses"]

    @property
    def past_was_seen(self) -> bool:
        """Whether calls straight to the model were refused and told. They must have gone there in either case."""
        assert "llm" in self.past.summary["services_unused"], "it found the proxy by another variable"
        return self.past.status == 3 and bool(self.past.summary["hosts"])


def project_for(client: Client, folder: Path) -> Project:
    """A project that has only this client's program in it, its services and the conversation."""
    project = Project(folder)
    model = _model(client)
    project.configure(f"""
[services.orders]
url = "env:DESK"
env = ["ORDERS_URL"]
tools = "POST /tools/{{tool}}"
reads = ["query_*", "calc_*"]
writes = ["get_token", "create_refund"]

[services.llm]
preset = "{client.preset}"
url = "env:{model}"
""")
    lay_out(client.kind, folder)
    return project


def lay_out(kind: Kind, folder: Path) -> None:
    """Put the programs of a kind, and the conversation, where their working directory is to be."""
    programs = NODE if kind == "node" else HERE / "programs"
    shutil.copytree(
        programs, folder / "programs", ignore=shutil.ignore_patterns("__pycache__", "package*.json", ".npmrc")
    )
    shutil.copy(HERE / "conversation.json", folder)
    if NODE_MODULES.is_dir():
        (folder / "node_modules").symlink_to(NODE_MODULES)


def _model(client: Client) -> str:
    """Where `upstreams` has the model's address in the form that this API's clients want."""
    return "MODELV1" if client.preset == "openai" else "MODEL"


def command(client: Client) -> Sequence[str]:
    """How its users start it."""
    runtime = str(PYTHON) if client.kind == "python" else "node"
    return runtime, f"programs/{client.program}", *client.options


@asynccontextmanager
async def upstreams(folder: Path, model: web.Application | None = None) -> AsyncIterator[dict[str, str]]:
    """The order desk, fresh, and a model: the stand-in unless told otherwise; gives their addresses."""
    async with (
        serving_app(server.create_app()) as desk,
        serving_app(model or stand_in_model.create_app()) as url,
    ):
        yield {"DESK": desk, "MODEL": url, "MODELV1": f"{url}/v1"}


async def record(
    project: Project, client: Client, addresses: Mapping[str, str], before: Sequence[str] = ()
) -> Finished:
    """`proctor record` as its users run it; the summary is the last line of stdout. `before` starts the command."""
    told = ("record", "--cassette", TAPE, "--json", "--", *before, *command(client))
    return await project.proctor(*told, env={**KEYS, **addresses})


async def replay(project: Project, client: Client, before: Sequence[str] = ()) -> Finished:
    """`proctor replay` in another process, without keys and with nothing listening at the services' addresses."""
    return await project.proctor("replay", "--cassette", TAPE, "--json", "--", *before, *command(client), env=NO_KEYS)


async def record_past(project: Project, client: Client, addresses: Mapping[str, str]) -> Finished:
    """A recording of a client that has the model's own address, as one that does not read the variables."""
    direct = addresses[_model(client)]
    told = (f"{variable}={direct}" for variable in PRESETS[client.preset].base_url_variables)
    straight = ("env", *told, *command(client))
    return await project.proctor("record", "--cassette", "past", "--json", "--", *straight, env={**KEYS, **addresses})


async def record_and_replay(client: Client, folder: Path) -> Outcome:
    """The whole way of one client."""
    project = project_for(client, folder)
    async with upstreams(folder) as addresses:
        recorded = await record(project, client, addresses)
        past = await record_past(project, client, addresses)
    replayed = await replay(project, client)
    sealed = (project.layout.cassettes / f"{TAPE}.yaml").is_file()
    return Outcome(recorded, replayed, project.tape(TAPE) if sealed else None, past)


def run_one(client: Client, folder: Path) -> Outcome:
    """The same, for a caller without a loop."""
    return asyncio.run(record_and_replay(client, folder))


def say_something_else(project: Project) -> None:
    """Change the conversation, as a user changes a prompt."""
    path = project.root / "conversation.json"
    talk = json.loads(path.read_text(encoding="utf-8"))
    talk["turns"][0] = "Where is my order US2002?"
    path.write_text(json.dumps(talk), encoding="utf-8")
