"""`python -m bench`, from the root of the repository: what Proctor costs, as ratios taken within one run.

Prints its progress and, on the last line of stdout, one JSON object. Exit status 1 where a must does not hold or the
bench could not measure. Traffic is on loopback only, files are in a temporary folder; nothing is left behind.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.commands import measure_commands
from bench.goals import failures, table
from bench.opening import measure_opening
from bench.pipes import BenchFailed
from bench.size import measure_size
from bench.streams import measure_streams
from bench.throughput import measure_throughput
from bench.trials import measure_trials
from bench.worlds import measure_worlds


def main() -> int:
    """Measure all, print all; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="What Proctor costs, over bare aiohttp.")
    parser.add_argument("--json-only", action="store_true", help="print nothing but the last line, the JSON object")
    say = _silent if parser.parse_args().json_only else _progress
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does: children and folder are cleared
    try:
        figures = _measure(say)
    except BenchFailed as error:
        print(f"bench: could not measure: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("bench: stopped", file=sys.stderr)
        return 130
    say(table(figures))
    failed = failures(figures)
    for line in failed:
        print(f"bench: {line}", file=sys.stderr)
    print(json.dumps(figures), flush=True)
    return 1 if failed else 0


def _measure(say: Callable[[str], None]) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="proctor-bench-") as folder:
        project = Path(folder)
        return {
            **asyncio.run(measure_throughput(project, say)),
            **asyncio.run(measure_streams(project, say)),
            **measure_commands(project, say),
            **measure_opening(project, say),
            **asyncio.run(measure_size(project, say)),
            **asyncio.run(measure_worlds(project, say)),
            **measure_trials(project, say),
        }


def _progress(text: str) -> None:
    print(text, flush=True)


def _silent(_text: str) -> None:
    """Progress that nobody asked for."""


if __name__ == "__main__":
    sys.exit(main())
