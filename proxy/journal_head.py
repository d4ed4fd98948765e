"""The first line of a recording's journal."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from proctor.config import Config
from proctor.redaction.environment import secret_variables
from proctor.stamp import shown_command
from proctor.wire import KEPT, SessionSpec


def journal_head(
    session_id: str,
    spec: SessionSpec,
    config: Config,
    urls: Mapping[str, str],
    environ: Mapping[str, str],
    earlier: Mapping[str, Any],
) -> dict[str, Any]:
    """The first line of a recording's journal: all that sealing needs to know, also after a kill.

    `earlier` has the facts of earlier tapes (see `proctor.earlier`).
    """
    recorded = [name for name, mode in spec.modes.items() if mode in KEPT]
    return {
        "session": session_id,
        "cassette": spec.cassette,
        "environment": config.cassettes.environment_now(environ),
        "host": platform.node(),
        "command": shown_command(spec.command, config.root, spec.folder),
        "folder": spec.folder,
        **earlier,
        "llms": sorted(config.llm_services),
        "redact": config.redact.model_dump(),
        "variables": secret_variables(environ, config.redact.keep, config.credential_variables),
        "body_files_over": config.cassettes.body_files_over,
        "recorded_at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "modes": spec.modes,
        "faults": [fault.told for fault in spec.faults.fault] if spec.faults else [],
        "services": {
            name: {
                "url": urls[name],
                "expected_status": list(config.services[name].expected_status),
                "key_headers": [header.lower() for header in config.services[name].key_headers],
            }
            for name in recorded
        },
        "identities": {
            name: {
                identity: environ[variable]
                for identity, variable in config.services[name].identity_variables.items()
                if environ.get(variable)
            }
            for name in recorded
        },
    }
