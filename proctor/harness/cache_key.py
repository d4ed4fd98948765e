"""The key of a trial's result: two trials that could differ in anything but chance have two keys.

What stands in a key is text and digests of files; nothing that is secret goes in, so another credential changes none.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proctor import __version__
from proctor.cases.case import Case
from proctor.cases.parts import Limits
from proctor.config import Config
from proctor.errors import UsageError, cassette_missing
from proctor.harness.agent_version import sources_digest, told_version
from proctor.harness.source_files import file_digest
from proctor.harness.world_code import installed, world_code
from proctor.paths import Layout
from proctor.service_config import upstream_url
from proctor.wire import ASKED, KEPT, Mode, SessionSpec, set_up_of

_NOT_OF_THE_RESULT = {"session", "cassette", "notes", "recorded_by", "extended_by"}
"""Of what is asked of the proxy: names and words for people. For the tape its content stands."""


@dataclass(frozen=True)
class ProjectInputs:
    """What all trials of a run have in common, as JSON data that is made once."""

    data: Mapping[str, Any]
    llms: frozenset[str]


@dataclass(frozen=True)
class TrialInputs:
    """What one trial has of its own."""

    case: Case
    trial: int
    limits: Limits
    """The case's, else the suite's."""
    spec: SessionSpec
    """What is asked of the proxy: modes, seed, start of the worlds, overlay, faults, guard."""
    tape: str = ""
    """The digest of the tape that answers (`tape_digest`); empty where none does."""
    account: str = ""
    audience: str = ""


def reusable(modes: Mapping[str, Mode], llms: frozenset[str]) -> bool:
    """Whether a result may stand for a later trial: only where no real service but a model is asked, and none recorded.

    What a real service answers depends on what nobody can put into a key, and a recording is run for its tape.
    """
    return not any(mode in KEPT or (mode in ASKED and name not in llms) for name, mode in modes.items())


def project_inputs(config: Config, modes: Mapping[str, Mode], environ: Mapping[str, str] = os.environ) -> ProjectInputs:
    """What of the project matters to every trial.

    Raises UsageError (`cache_without_version`) for an agent of which neither `version` nor `sources` is told,
    ConfigError and WorldError for files, variables and worlds that are not there.
    """
    worlds = [config.services[name].world for name, mode in modes.items() if mode == "world"]
    asked = [name for name, mode in modes.items() if mode in ASKED]
    data = {
        "proctor": __version__,
        "python": platform.python_version(),
        "installed": installed(),
        "agent": _agent(config, environ),
        "services": {name: each.model_dump(mode="json") for name, each in config.services.items()},
        "addresses": {name: upstream_url(name, config.services[name], environ) for name in asked},
        "worlds": world_code(config.root, worlds),
    }
    return ProjectInputs(data, config.llm_services)


def trial_key(project: ProjectInputs, trial: TrialInputs) -> str:
    """The SHA-256, in hexadecimal.

    Of objects the order of keys counts too: a world whose state is written in another order may list it so.
    """
    held = {
        "project": project.data,
        "case": trial.case.model_dump(mode="json"),
        "trial": trial.trial,
        "limits": trial.limits.model_dump(mode="json"),
        "set_up": set_up_of(trial.spec.modes, project.llms),
        "session": trial.spec.model_dump(mode="json", exclude=_NOT_OF_THE_RESULT),
        "tape": trial.tape,
        "account": trial.account,
        "audience": trial.audience,
    }
    return hashlib.sha256(json.dumps(held, separators=(",", ":")).encode()).hexdigest()


def tape_digest(layout: Layout, name: str) -> str:
    """The SHA-256 of a tape's file; bodies beside it are named in it by their content. Raises CassetteError."""
    path = layout.confined_cassette(name)
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        raise cassette_missing(name, path, layout.cassette_names()) from None


def _agent(config: Config, environ: Mapping[str, str]) -> dict[str, Any]:
    agent, root = config.agent, config.root
    version, sources = told_version(agent, environ), sources_digest(agent, root)
    if not version and not sources:
        told = "results cannot be kept: nothing says which version of the agent they are of"
        fix = 'version = "..." or sources = ["agent/**"] under [agent] in proctor.toml'
        raise UsageError("cache_without_version", told, fix)
    prompt = agent.chat.prompt_file if agent.chat else ""
    digest = file_digest(root, prompt, "[agent.chat] prompt_file") if prompt else ""
    return {**agent.model_dump(mode="json"), "version": version, "sources": sources, "prompt": digest}
