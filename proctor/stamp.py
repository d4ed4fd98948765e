"""What a tape says of its own recording: when, where, by what command, with which tools; and how old it is."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from proctor import __version__
from proctor.interaction import Interaction
from proctor.redaction.redactor import Redactor
from proctor.trace import body_value

OVER = "over"
"""Key of a journal's head: facts of the tape whose answers are taken over."""
EXTENDS = "extends"
"""Key of a journal's head: facts of the tape to which new episodes are appended."""
BEFORE = "before"
"""Key of a journal's head: facts of the tape that is recorded again."""

FAULTS = "faults"
"""Key of a stamp: the planned faults under which the tape was recorded, in words. None of them is on it."""
JUDGE_SALT = "judge_salt"
"""Key of a stamp: what the prompts of the judge on the tape were made with, in hexadecimal."""

_HIDDEN = "..."
_LONGEST_WORD = 120
"""Of a command line; a whole script given by `-c` is not what the reader of a tape is after."""
_SECRET_NAME = re.compile(r"(?i)(key|token|secret|password|passwd|credential|auth)s?$")
_ASSIGNED = re.compile(r"(?P<name>-{0,2}[\w.-]+)(?P<sign>[=:])(?P<value>.+)", re.DOTALL)
_QUOTED = re.compile(r'\s|^"|^$')
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|\S+')
_USERINFO = re.compile(r"//[^/@\s]+@")


def recording_stamp(
    head: dict[str, Any], redactor: Redactor, interactions: Iterable[Interaction], judge_salt: str = ""
) -> dict[str, Any]:
    """The stamp of a recording, from its journal's head and its redacted interactions. What is not known is absent."""
    llms = frozenset(head.get("llms", ()))
    over = head.get(OVER, {})
    identities = {
        service: {name: redactor.known[value] for name, value in values.items() if value in redactor.known}
        for service, values in head.get("identities", {}).items()
    }
    services = {name: redactor.text(facts["url"]) for name, facts in head["services"].items()}
    variables = {
        name: redactor.known[value] for value, name in redactor.rules.variables.items() if value in redactor.known
    }
    stamp = {
        # Answers that are taken over are as old as they were, and the agent was told that date.
        "recorded_at": over.get("recorded_at") or head["recorded_at"],
        "retaped_at": head["recorded_at"] if over else "",
        "over": {"tape": over["tape"], "digest": over["digest"]} if over else {},
        "proctor": __version__,
        "environment": head.get("environment", ""),
        "host": head.get("host", ""),
        "command": redactor.text(head.get("command", "")),
        "folder": head.get("folder", ""),
        FAULTS: head.get("faults", []),
        "live": sorted(name for name, mode in head.get("modes", {}).items() if mode == "live"),
        "services": {**_of_replayed(head, over.get("services", {})), **services},
        "tool_schemas": tool_schemas(each for each in interactions if each.request.service in llms),
        "identities": {
            **_of_replayed(head, over.get("identities", {})),
            **{service: names for service, names in identities.items() if names},
        },
        "variables": {**over.get("variables", {}), **variables},
        JUDGE_SALT: judge_salt,
        "placeholders": redactor.count,
    }
    return {key: value for key, value in stamp.items() if value or key == "services"}


def _of_replayed(head: dict[str, Any], by_service: dict[str, Any]) -> dict[str, Any]:
    """What an earlier tape says of the services that it answered in this recording."""
    return {name: facts for name, facts in by_service.items() if head["modes"].get(name) == "replay"}


def tool_schemas(interactions: Iterable[Interaction]) -> dict[str, str]:
    """A short hash of each tool as LLM requests declare it, by name; a tool whose schema changed has several.

    Knows the tools of OpenAI's chat and responses requests and of Anthropic's.
    """
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for interaction in interactions:
        body = body_value(interaction.request.headers, interaction.request.body)
        tools = body.get("tools") if isinstance(body, dict) else None
        for tool in tools if isinstance(tools, list) else ():
            name = _tool_name(tool)
            if name:
                found[name][_hash(tool)] = None
    return {name: " ".join(hashes) for name, hashes in sorted(found.items())}


def shown_command(words: Sequence[str], root: Path, folder: str = "") -> str:
    """A command line as a tape may keep it: no secrets, no folders of one machine.

    It is to be run in `folder`, below `root`; `command_words` reads it.
    """
    shown, hide = [], False
    for word in words:
        shown.append(_HIDDEN if hide else _shown_word(word, root, folder))
        hide = not hide and word.startswith("-") and _SECRET_NAME.search(word) is not None
    return " ".join(json.dumps(word, ensure_ascii=False) if _QUOTED.search(word) else word for word in shown)


def command_words(command: str) -> list[str]:
    """The words of a command line that `shown_command` wrote."""
    return [json.loads(word) if word.startswith('"') else word for word in _WORD.findall(command)]


def is_hidden(word: str) -> bool:
    """Whether a word of a command line is not what was typed: a secret, or too long to be kept."""
    return word.endswith(_HIDDEN) or f"//{_HIDDEN}@" in word


def age_text(recorded_at: str, now: datetime) -> str:
    """How old a recording is, in days, for people; empty where its date is unknown."""
    try:
        days = (now - datetime.fromisoformat(recorded_at).astimezone(UTC)).days
    except ValueError:
        return ""
    if days < 0:
        return "in the future: a clock is wrong"
    return "today" if days == 0 else f"{days} day{'s' if days > 1 else ''} ago"


def _shown_word(word: str, root: Path, folder: str) -> str:
    assigned = _ASSIGNED.fullmatch(word)
    if assigned and _SECRET_NAME.search(assigned["name"]):
        return f"{assigned['name']}{assigned['sign']}{_HIDDEN}"
    word = _USERINFO.sub("//...@", word)
    if len(word) > _LONGEST_WORD:
        return word[:_LONGEST_WORD] + _HIDDEN
    path = Path(word)
    if not path.is_absolute():
        return word
    return Path(os.path.relpath(path, root / folder)).as_posix() if path.is_relative_to(root) else path.name


def _tool_name(tool: Any) -> str | None:
    if not isinstance(tool, dict):
        return None
    function = tool.get("function")
    name = function.get("name") if isinstance(function, dict) else tool.get("name")
    return name if isinstance(name, str) else None


def _hash(tool: Any) -> str:
    text = json.dumps(tool, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
