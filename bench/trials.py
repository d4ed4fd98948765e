"""CPU of a trial under `proctor run` over the same agent run bare, in turns on the same machine.

The agent is a program with the standard library's HTTP client: two turns, three tool calls in each, a process for each
trial. Bare, it gets the same tasks on its input and calls a plain aiohttp server that answers the same; there its own
CPU is counted, and the server's is not. Under `proctor run` all is counted: the agent, the proxy, the world, the
checks, the record. What starting `proctor` costs is left out: two runs of different lengths are subtracted.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from bench.pipes import BenchFailed, clean_environment
from bench.throughput import Say

_ROUNDS = 5
_FEW, _MANY = 5, 35
_SECONDS = 120.0
_CONFIG = """\
[services.orders]
world = "trial_world:Shop"
env = ["ORDERS_URL"]

[agent]
command = {command}
"""
_WORLD = """\
from pydantic import BaseModel

from proctor.world import World, tool


class State(BaseModel):
    orders: dict[str, int] = {"A1": 40}
    refunds: dict[str, str] = {}


class Shop(World[State]):
    @tool(effect="read")
    def query_order(self, order_id: str) -> int:
        '''What an order cost.'''
        return self.state.orders[order_id]

    @tool(effect="write")
    def create_refund(self, order_id: str) -> str:
        '''Pay an order back.'''
        refund = self.new_id("RF")
        self.state.refunds[refund] = order_id
        return refund
"""
_SUITE = """\
name: bench
title: Bench
tests: nothing
tests_not: anything
cases:
  - id: refund
    title: A refund
    turns:
      - user: Please refund A1.
      - user: And once more, please.
    expect:
      state: [{path: "$.refunds[*]", value: A1}]
      called: [query_order, create_refund]
"""
_AGENT = """\
import http.client, json, os, sys
from urllib.parse import urlsplit

url = urlsplit(os.environ["ORDERS_URL"])
service = http.client.HTTPConnection(url.hostname, url.port)


def call(tool, **arguments):
    service.request("POST", f"{url.path}/tools/{tool}", json.dumps(arguments), {"Content-Type": "application/json"})
    return json.loads(service.getresponse().read())


for line in sys.stdin:
    task = json.loads(line)
    call("query_order", order_id="A1")
    refund = call("create_refund", order_id="A1")
    call("query_order", order_id="A1")
    print(json.dumps({"reply": f"Refunded: {refund}"}), flush=True)
"""
_SERVER = """\
from aiohttp import web


async def answer(request):
    await request.json()
    return web.json_response(40 if request.path.endswith("query_order") else "RF-7K2M4QXA")


async def main():
    app = web.Application()
    app.router.add_post("/tools/{tool}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


import asyncio, sys
asyncio.run(main())
"""


def measure_trials(project: Path, say: Say) -> dict[str, float]:
    """The median of the rounds' ratios, and what Proctor adds to a trial in milliseconds of CPU."""
    folder = _project(project / "trials")
    with _plain_server(folder) as url:
        _bare(folder, url, 1)
        _run(folder, 1)  # bytecode and page cache
        rounds = [_round(folder, url) for _ in range(_ROUNDS)]
    say("a trial against its agent run bare: " + ", ".join(f"{held / bare:.2f}" for held, bare in rounds))
    return {
        "trial_cpu_ratio": round(median(held / bare for held, bare in rounds), 3),
        "trial_added_ms": round(median(held - bare for held, bare in rounds) * 1000, 2),
        "trial_bare_ms": round(median(bare for _, bare in rounds) * 1000, 2),
    }


def _round(folder: Path, url: str) -> tuple[float, float]:
    """Seconds of CPU for one trial: under `proctor run`, and bare."""
    trials = _MANY - _FEW
    held = _run(folder, _MANY) - _run(folder, _FEW)
    return held / trials, _bare(folder, url, trials) / trials


def _run(folder: Path, trials: int) -> float:
    """CPU seconds of a run of so many trials, and of the agents in it. Raises BenchFailed unless all pass."""
    proctor = str(Path(sys.executable).with_name("proctor"))
    before = _used()
    command = [proctor, "run", "bench", "--trials", str(trials), "--at-once", "2", "--json"]
    done = subprocess.run(
        command, cwd=folder, env=clean_environment(), capture_output=True, timeout=_SECONDS, check=False
    )
    if done.returncode != 0 or json.loads(done.stdout)["every"]["pass"] != trials:
        raise BenchFailed(f"`proctor run` ended with {done.returncode}:\n{done.stderr.decode(errors='replace')}")
    return _used() - before


def _bare(folder: Path, url: str, trials: int) -> float:
    """CPU seconds of the agent alone, so many times."""
    tasks = "".join(json.dumps({"turn": turn, "user": "Please refund A1."}) + "\n" for turn in range(2))
    before = _used()
    for _ in range(trials):
        done = subprocess.run(
            [sys.executable, "agent.py"],
            cwd=folder,
            env={**clean_environment(), "ORDERS_URL": url},
            input=tasks.encode(),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        if done.stdout.count(b"Refunded") != 2:
            raise BenchFailed(f"the agent does not work bare:\n{done.stderr.decode(errors='replace')}")
    return _used() - before


def _used() -> float:
    """CPU seconds of children that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _project(folder: Path) -> Path:
    (folder / "suites").mkdir(parents=True)
    files = {"trial_world.py": _WORLD, "agent.py": _AGENT, "server.py": _SERVER, "suites/bench.yaml": _SUITE}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    config = _CONFIG.format(command=json.dumps([sys.executable, "agent.py"]))
    (folder / "proctor.toml").write_text(config, encoding="utf-8")
    return folder


@contextmanager
def _plain_server(folder: Path) -> Iterator[str]:
    """A server that answers as the world does, until the block ends; its address."""
    server = subprocess.Popen(
        [sys.executable, "server.py"],
        cwd=folder,
        env=clean_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdout is not None
    assert server.stdin is not None
    try:
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"
    finally:
        server.stdin.close()
        server.wait()
        server.stdout.close()
