"""`build python node` makes the clients' environments; without arguments all run and the table is written.

Status 1 where a client failed or was skipped: a skip never passes for a run.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.clients import environments, table
from tests.clients.catalogue import CLIENTS
from tests.clients.running import run_one


def main() -> int:
    """See the module."""
    if sys.argv[1:2] == ["build"]:
        environments.build(sys.argv[2:])
        return 0
    found: dict[str, table.Row] = {}
    for client in CLIENTS:
        reason = environments.missing(client)
        if reason:
            print(f"{client.name:<40} skipped: {reason}")
            continue
        with tempfile.TemporaryDirectory(prefix="proctor-clients-") as folder:
            outcome = run_one(client, Path(folder))
        version = environments.version(client)
        row = table.Row(version, outcome.was_recorded, outcome.was_replayed, outcome.past_was_seen)
        found[client.name] = row
        print(f"{client.name:<40} {row.version:<10} recorded {row.recorded}, replayed {row.replayed}", flush=True)
        if not row.replayed:
            print(outcome.recorded.stderr, outcome.replayed.stderr, sep="\n")
    table.write(found)
    return 0 if len(found) == len(CLIENTS) and all(row.replayed for row in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
