"""CPU of opening a large tape for replay, over that of parsing the same file as YAML; a process for each opening.

`python -m bench.opening yaml|tape FOLDER NAME` opens once and prints the CPU seconds it took, user and system.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.large import write_tape
from bench.pipes import ROOT, BenchFailed, clean_environment
from bench.traffic import LARGE

TAPE = "large"
_RUNS = 3
_SECONDS = 120.0


def measure_opening(project: Path, say: Callable[[str], None]) -> dict[str, float]:
    """Open the tape with and without its cache, in turns with the yardstick; gives ratios of the best of three."""
    from proctor.paths import Layout

    path = write_tape(project, TAPE, LARGE)
    cache = Layout(project).tape_cache
    taken: dict[str, list[float]] = {"yaml": [], "first": [], "cached": []}
    for _ in range(_RUNS):
        taken["yaml"].append(_opened("yaml", project))
        for file in cache.glob("*"):
            file.unlink()
        taken["first"].append(_opened("tape", project))
        if not any(cache.glob("*")):
            raise BenchFailed("opening the large tape left no cache")
        taken["cached"].append(_opened("tape", project))
    best = {name: min(times) for name, times in taken.items()}
    told = ", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in best.items())
    say(f"opening {LARGE} interactions, {path.stat().st_size / 1e6:.0f} MB: {told} of CPU")
    return {
        "open_first_ratio": round(best["first"] / best["yaml"], 3),
        "open_cached_ratio": round(best["cached"] / best["yaml"], 3),
        **{f"open_{name}_ms": round(seconds * 1000, 1) for name, seconds in best.items()},
    }


def _opened(what: str, project: Path) -> float:
    command = [sys.executable, "-m", "bench.opening", what, str(project), TAPE]
    ended = subprocess.run(
        command, cwd=ROOT, env=clean_environment(), capture_output=True, timeout=_SECONDS, check=False
    )
    if ended.returncode:
        raise BenchFailed(f"{' '.join(command)} ended with {ended.returncode}: {ended.stderr.decode(errors='replace')}")
    return float(ended.stdout)


def _open_yaml(project: Path, name: str) -> Callable[[], object]:
    import yaml

    from proctor.paths import Layout

    path = Layout(project).cassette(name)
    return lambda: yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)


def _open_tape(project: Path, name: str) -> Callable[[], object]:
    """Loaded, verified and indexed: ready to answer."""
    from proctor.config import CONFIG_NAME, load_config
    from proctor.proxy.shelf import Shelf

    shelf = Shelf(load_config(project / CONFIG_NAME), {})
    return lambda: shelf.tape(name)


def main(what: str, folder: str, name: str) -> None:
    """Open once; what is imported is not counted, and nothing is collected meanwhile."""
    open_it = (_open_yaml if what == "yaml" else _open_tape)(Path(folder), name)
    gc.disable()
    began = time.process_time()
    opened = open_it()
    print(time.process_time() - began)
    assert opened


if __name__ == "__main__":
    main(*sys.argv[1:])
