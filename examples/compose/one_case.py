"""A launcher in a container: opens a session at a standing proxy, runs the agent in it, closes it.

`python one_case.py --cassette NAME [--mode replay] -- COMMAND`, with PROCTOR_CONTROL and PROCTOR_TOKEN set. Standard
library only: an agent's own image has no Proctor in it. It ends with the status that Proctor gives the session.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

ADDRESSES = {"ORDERS_URL": "orders", "OPENAI_BASE_URL": "llm"}
"""The agent's variables, with the services whose addresses they hold."""
KEYS = ("OPENAI_API_KEY",)
"""Hold the session's key: the proxy has the real one."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs one case in a session of a standing proxy.")
    parser.add_argument("--cassette", required=True, help="the tape: cassettes/NAME.yaml")
    parser.add_argument("--mode", default="replay", choices=["record", "replay"])
    parser.add_argument("command", nargs="+", help="the agent, after --")
    options = parser.parse_args()
    modes = dict.fromkeys(ADDRESSES.values(), options.mode)
    try:
        session = control("/sessions", {"cassette": options.cassette, "modes": modes, "command": options.command})
        status = subprocess.run(options.command, env=environment(session), check=False).returncode
        ended = control(f"/sessions/{session['session']}/close", {"command_status": status})
    except OSError as error:
        print(f"one_case: {said(error)}", file=sys.stderr)
        return 4
    summary = ended["summary"]
    print(f"{options.mode} {options.cassette}: {summary['exchanges']} exchanges, status {ended['status']}")
    for reason in ended["reasons"]:
        print(f"  * {reason}")
    return int(ended["status"])


def control(path: str, body: dict[str, Any]) -> Any:
    """One control call. Raises OSError where the proxy refuses, or is not there."""
    headers = {"x-proctor-token": os.environ["PROCTOR_TOKEN"]}
    request = urllib.request.Request(os.environ["PROCTOR_CONTROL"] + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def environment(session: dict[str, Any]) -> dict[str, str]:
    """The agent's: addresses and keys of its session, and not the token that opens any."""
    addresses = {variable: f"{session['url']}/{service}" for variable, service in ADDRESSES.items()}
    inherited = {name: value for name, value in os.environ.items() if name != "PROCTOR_TOKEN"}
    return inherited | addresses | dict.fromkeys(KEYS, session["key"])


def said(error: OSError) -> str:
    """The proxy's own words, where it answered."""
    return error.read().decode() if isinstance(error, urllib.error.HTTPError) else str(error)


if __name__ == "__main__":
    raise SystemExit(main())
