"""The clients' own environments, under `.venv-clients/`: made by `make client-environments`, absent otherwise."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Collection
from functools import cache
from pathlib import Path

from tests.clients.catalogue import Client
from tests.support import ROOT

HERE = Path(__file__).parent
FOLDER = ROOT / ".venv-clients"
PYTHON = FOLDER / "python" / "bin" / "python"
NODE_MODULES = FOLDER / "node" / "node_modules"
REQUIREMENTS = HERE / "requirements-python.txt"
NODE = HERE / "npm"
NODE_FILES = ("package.json", "package-lock.json", ".npmrc")
OLDEST_NODE = 18
"""What `ai` and `@ai-sdk/openai` name as the oldest that they run on; Debian 12 has it."""


def build(kinds: Collection[str]) -> None:
    """Make these kinds of environments, or bring them up to date. Raises CalledProcessError or FileNotFoundError."""
    if "python" in kinds:
        _build_python()
    if "node" in kinds:
        _build_node()


def missing(client: Client) -> str:
    """Why a client cannot run here; empty where it can."""
    if client.kind == "python" and not _current(FOLDER / "python", REQUIREMENTS):
        return "its Python environment is not there: make client-environments"
    if client.kind == "node":
        if shutil.which("node") is None:
            return "node is not installed"
        if int(_number("node").partition(".")[0]) < OLDEST_NODE:
            return f"node {_number('node')} is older than {OLDEST_NODE}"
        if not _current(FOLDER / "node", NODE / "package-lock.json"):
            return "its Node environment is not there: make clients-npm"
    if client.name == "curl" and shutil.which("curl") is None:
        return "curl is not installed"
    return ""


def version(client: Client) -> str:
    """The version that runs here: of a package as pinned, else of the program that the machine has."""
    if client.package and client.kind == "node":
        pinned = json.loads((NODE / "package-lock.json").read_text(encoding="utf-8"))["packages"]
        return str(pinned[f"node_modules/{client.package}"]["version"])
    if client.package:
        pins = dict(line.split("==") for line in REQUIREMENTS.read_text(encoding="utf-8").split())
        return pins[client.package]
    return _number({"curl": "curl", "urllib": str(PYTHON)}.get(client.name, "node"))


def _build_python() -> None:
    folder = FOLDER / "python"
    if _current(folder, REQUIREMENTS):
        return
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", str(REQUIREMENTS)]
    subprocess.run([str(PYTHON), "-m", "pip", *install], check=True)
    _mark(folder, REQUIREMENTS)


def _build_node() -> None:
    folder = FOLDER / "node"
    if _current(folder, NODE / "package-lock.json"):
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name in NODE_FILES:
        shutil.copy(NODE / name, folder)
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--silent"], cwd=folder, check=True)
    _mark(folder, NODE / "package-lock.json")


def _current(folder: Path, pins: Path) -> bool:
    """Whether an environment was made whole, from these pins."""
    ready = folder / ".ready"
    return ready.is_file() and ready.read_bytes() == pins.read_bytes()


def _mark(folder: Path, pins: Path) -> None:
    shutil.copy(pins, folder / ".ready")


@cache
def _number(program: str) -> str:
    """The version that a program says it has, as `20.20`; `0` where it says none."""
    said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"\d+\.\d+", said)
    return found[0] if found else "0"
