"""The npm programs of tests/clients/npm, and whether they can run here (`make clients-npm` installs what they need)."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

FOLDER = Path(__file__).parent / "npm"
OLDEST_NODE = 18
"""The major version that ai and @ai-sdk/openai ask for as a minimum; Debian 12 has it."""


@dataclass(frozen=True)
class Program:
    """One program with its options; `package` is the npm package that it shows, empty for Node's own fetch.

    `service` is what it asks beside the order desk's tools, and `streams` whether that answers in events.
    """

    name: str
    package: str
    arguments: tuple[str, ...]
    service: Literal["llm", "files"] = "llm"
    streams: bool = False

    @property
    def variable(self) -> str:
        """What points it at the proxy."""
        return "OPENAI_BASE_URL" if self.service == "llm" else "FILES_URL"

    def command(self, *before: str) -> tuple[str, ...]:
        """How its users start it; `before` are words between node and the program."""
        program, *options = self.arguments
        return ("node", *before, program if before else str(FOLDER / program), *options)


PROGRAMS = (
    Program("openai, chat", "openai", ("openai_chat.mjs",)),
    Program("openai, chat, streamed", "openai", ("openai_chat.mjs", "--stream"), streams=True),
    Program("openai, Responses", "openai", ("openai_responses.mjs",)),
    Program("openai, Responses, streamed", "openai", ("openai_responses.mjs", "--stream"), streams=True),
    Program("ai, generateText, Responses", "ai", ("vercel_ai.mjs",)),
    Program("ai, streamText, Responses", "ai", ("vercel_ai.mjs", "--stream"), streams=True),
    Program("ai, generateText, chat", "ai", ("vercel_ai.mjs", "--chat")),
    Program("ai, streamText, chat", "ai", ("vercel_ai.mjs", "--chat", "--stream"), streams=True),
    Program("fetch of Node", "", ("plain_fetch.mjs",), service="files", streams=True),
)


@cache
def missing() -> str:
    """Why the programs cannot run here; empty where they can."""
    if shutil.which("node") is None:
        return "node is not installed"
    if int(node_version().partition(".")[0]) < OLDEST_NODE:
        return f"node {node_version()} is older than {OLDEST_NODE}, which ai and @ai-sdk/openai need"
    installed = FOLDER / "node_modules" / ".package-lock.json"
    if not installed.is_file() or _versions(installed) != _versions(FOLDER / "package-lock.json"):
        return "tests/clients/npm/node_modules is absent or not what package-lock.json says: make clients-npm"
    return ""


@cache
def node_version() -> str:
    """Such as `20.20.2`."""
    return subprocess.run(["node", "--version"], check=True, capture_output=True, text=True).stdout.strip().lstrip("v")


def version(program: Program) -> str:
    """The version of its package as installed, or of node."""
    if not program.package:
        return node_version()
    manifest = FOLDER / "node_modules" / program.package / "package.json"
    return str(json.loads(manifest.read_text(encoding="utf-8"))["version"])


def _versions(lock: Path) -> dict[str, str]:
    packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    return {name: package["version"] for name, package in packages.items() if name}
