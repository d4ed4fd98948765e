"""`make demo`: record ten conversations against the real order desk, stop it, replay them, then break one.

Everything happens in a temporary folder; nothing of the repository is touched. `--tapes DIR` also copies the tapes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # run by path: the folder above `examples` is not on the path yet
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from examples.order_desk.conversations import CONVERSATIONS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LANGUAGES = {"zh": "Chinese", "en": "English"}
CHANGE = ('CHANNEL = "chat"', 'CHANNEL = "email"')


@dataclass(frozen=True)
class Played:
    """One conversation that was recorded or replayed."""

    status: int
    seconds: float
    agent: dict[str, Any]
    summary: dict[str, Any]
    told: str


def main() -> int:
    """Run the demo; gives 0 only if everything went as it says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="CONVERSATION", help="only these; by default all ten")
    parser.add_argument("--tapes", type=Path, metavar="DIR", help="copy the recorded tapes there")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in CONVERSATIONS]:
        parser.error(f"no conversation {unknown[0]}; there are {', '.join(CONVERSATIONS)}")
    names = arguments.names or list(CONVERSATIONS)
    with tempfile.TemporaryDirectory(prefix="proctor-demo-") as folder:
        project = _project(Path(folder))
        recorded = _record_all(project, names)
        if arguments.tapes:
            shutil.copytree(project / "cassettes" / "order_desk", arguments.tapes, dirs_exist_ok=True)
        same = _replay_all(project, recorded)
        missed = _break_one(project, "refund_en" if "refund_en" in names else names[-1])
    ok = same and missed and all(played.status == 0 for played in recorded.values())
    print("\nThat is all: record once, replay for ever, and know when you cannot." if ok else "\nThe demo FAILED.")
    return 0 if ok else 1


def _project(folder: Path) -> Path:
    """A project of its own: the configuration, and a copy of the agent that the demo may change."""
    shutil.copy(ROOT / "proctor.toml", folder)
    shutil.copytree(HERE, folder / "examples" / "order_desk", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def _record_all(project: Path, names: Sequence[str]) -> dict[str, Played]:
    print("1. Record. The order desk (a real, stateful API) is our staging; the agent talks to it through Proctor.")
    with _staging() as environment:
        recorded = {}
        for name in names:
            recorded[name] = played = _proctor(project, "record", name, environment)
            calls, kept = len(played.agent.get("tool_calls", [])), played.summary.get("recorded", 0)
            language = LANGUAGES[CONVERSATIONS[name].language]
            print(f"   {name:<15} {language:<8} {calls} tool calls, {kept} exchanges recorded")
            if played.status:
                print(played.told)
    print("   staging is stopped now\n")
    return recorded


def _replay_all(project: Path, recorded: dict[str, Played]) -> bool:
    print("2. Replay. No order desk, no model, no key: the tapes answer.")
    all_same = True
    for name, before in recorded.items():
        after = _proctor(project, "replay", name, {})
        same = _told_by(after) == _told_by(before) and after.status == 0
        all_same = all_same and same
        verdict = "tool calls, results and replies identical" if same else f"DIFFERENT\n{after.told}"
        print(f"   {name:<15} recorded in {before.seconds:.1f} s, replayed in {after.seconds:.1f} s: {verdict}")
    print("   (save the access token: on the tape a placeholder stands for it, so that the tapes can lie in git)")
    first = next(iter(recorded.values())).agent
    print(f"\n   For example, the last tool call:  {_shown(first['tool_calls'][-1])}")
    print(f"   and the reply to the customer:    {first['replies'][1]}\n")
    return all_same


def _break_one(project: Path, name: str) -> bool:
    print("3. Change one tool argument in the agent, and replay again:")
    agent = project / "examples" / "order_desk" / "agent.py"
    agent.write_text(agent.read_text(encoding="utf-8").replace(*CHANGE), encoding="utf-8")
    print(f"   - {CHANGE[0]}\n   + {CHANGE[1]}\n")
    played = _proctor(project, "replay", name, {})
    print("\n".join(f"   {line}" for line in played.told.splitlines()))
    found = '/channel: recorded "chat", got "email"'
    return played.status == 3 and any(found in miss["message"] for miss in played.summary.get("misses", []))


def _told_by(played: Played) -> dict[str, Any]:
    """What the agent says it did, without the token that staging handed out."""
    calls = [
        {**call, "result": {key: value for key, value in call["result"].items() if key != "token"}}
        for call in played.agent.get("tool_calls", [])
    ]
    return {**played.agent, "tool_calls": calls}


def _proctor(project: Path, verb: str, name: str, environment: dict[str, str]) -> Played:
    """Run the agent through one conversation under `proctor record` or `proctor replay`."""
    agent = [sys.executable, str(project / "examples" / "order_desk" / "agent.py"), "--conversation", name, "--json"]
    command = [sys.executable, "-m", "proctor", verb, "--cassette", f"order_desk/{name}", "--json", "--", *agent]
    hidden = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ORDERS_URL") if verb == "replay" else ()
    kept = {key: value for key, value in os.environ.items() if key not in hidden}
    began = time.perf_counter()
    done = subprocess.run(
        command, cwd=project, env={**kept, **environment}, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - began
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    summary: dict[str, Any] = next((line for line in lines if "exchanges" in line), {})
    said: dict[str, Any] = next((line for line in lines if "tool_calls" in line), {})
    start = done.stderr.find("proctor: re")
    return Played(done.returncode, seconds, said, summary, done.stderr[max(start, 0) :].rstrip())


@contextmanager
def _staging() -> Iterator[dict[str, str]]:
    """The order desk, and a model: a real one where a key is set, else the stand-in; gives their addresses."""
    servers: list[subprocess.Popen[str]] = []
    try:
        desk = _serve(servers, "server.py")
        key = os.environ.get("OPENAI_API_KEY")
        if key:
            model = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
            print(f"   OPENAI_API_KEY is set, so the model is a real one, at {model}")
        else:
            model = _serve(servers, "stand_in_model.py")
            print("   the model is a stand-in that plans by rules, not an LLM (set OPENAI_API_KEY to use a real one)")
        yield {"ORDER_DESK_URL": desk, "ORDER_DESK_LLM_URL": model, "OPENAI_API_KEY": key or "stand-in-needs-no-key"}
    finally:
        for server in servers:
            server.terminate()
        for server in servers:
            server.wait(timeout=10)


def _serve(servers: list[subprocess.Popen[str]], script: str, *options: str) -> str:
    """Start one of the example's servers; gives the address it says it listens on."""
    command = [sys.executable, str(HERE / script), *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    servers.append(server)
    assert server.stdout is not None
    return server.stdout.readline().rpartition(" ")[2].strip()


def _shown(call: dict[str, Any]) -> str:
    return f"{call['name']} {json.dumps(call['arguments'], ensure_ascii=False)} -> {call['status']}"


if __name__ == "__main__":
    sys.exit(main())
