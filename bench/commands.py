"""Wall time of the commands, over that of importing aiohttp on the same machine at the same time."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.pipes import BenchFailed, clean_environment
from bench.throughput import SMALL_TAPE

_RUNS = 9
_SECONDS = 30.0
_NOTHING_ASKED = 3
"""With what status `replay` ends where the command asked for nothing."""


def measure_commands(project: Path, say: Callable[[str], None]) -> dict[str, float]:
    """Run each command nine times, in turns; gives ratios and milliseconds. Needs the tape SMALL_TAPE."""
    proctor = str(Path(sys.executable).with_name("proctor"))
    commands = {
        "import": ([sys.executable, "-c", "import aiohttp"], 0),
        "help": ([proctor, "--help"], 0),
        "start": ([proctor, "replay", "--cassette", SMALL_TAPE, "--", "true"], _NOTHING_ASKED),
    }
    for command, status in commands.values():
        _timed(command, status, project)  # bytecode and page cache
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(_RUNS):
        for name, (command, status) in commands.items():
            taken[name].append(_timed(command, status, project))
    medians = {name: median(times) for name, times in taken.items()}
    say(", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in medians.items()))
    return {
        "help_ratio": round(medians["help"] / medians["import"], 3),
        "start_ratio": round(medians["start"] / medians["import"], 3),
        **{f"{name}_ms": round(seconds * 1000, 1) for name, seconds in medians.items()},
    }


def _timed(command: list[str], status: int, project: Path) -> float:
    """Seconds that one command took. Raises BenchFailed where it ends with another status than it must."""
    began = time.perf_counter()
    ended = subprocess.run(
        command,
        cwd=project,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    seconds = time.perf_counter() - began
    if ended.returncode != status:
        said = ended.stderr.decode(errors="replace")
        raise BenchFailed(f"{' '.join(command)} ended with {ended.returncode}, not {status}:\n{said}")
    return seconds
