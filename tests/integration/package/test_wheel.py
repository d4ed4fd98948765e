"""What a stranger installs: a wheel from the sdist, in a clean environment, outside the repository."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support import ROOT, Finished, run

LOOK = """
import importlib.resources, pathlib
import proctor, proctor.proxy.server, proctor.judge, proctor.canary
assert "site-packages" in proctor.__file__, proctor.__file__
from proctor.rubric_file import load_rubric, shipped
assert [load_rubric(name).name for name in shipped()] == ["acmse", "qa", "trajectory"]
assert (importlib.resources.files("proctor") / "rubrics" / "README.md").is_file()
assert pathlib.Path(proctor.__file__).with_name("py.typed").exists()
print("whole")
"""


async def ok(*command: str, cwd: Path) -> Finished:
    done = await run(*command, cwd=cwd, env={"PYTHONPATH": "", "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    assert done.status == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done


@pytest.mark.timeout(400)
async def test_a_wheel_built_from_the_sdist_works_in_a_clean_environment(tmp_path: Path) -> None:
    await ok(sys.executable, "-m", "build", "--outdir", str(tmp_path / "dist"), str(ROOT), cwd=tmp_path)
    wheel = next((tmp_path / "dist").glob("*.whl"))
    await ok(sys.executable, "-m", "venv", "clean", cwd=tmp_path)
    python = str(tmp_path / "clean" / "bin" / "python")
    constraints = str(ROOT / "constraints.txt")
    await ok(python, "-m", "pip", "install", "--quiet", "--constraint", constraints, str(wheel), cwd=tmp_path)
    assert (await ok(python, "-c", LOOK, cwd=tmp_path)).stdout == "whole\n"
    proctor = str(tmp_path / "clean" / "bin" / "proctor")
    assert "proctor, version" in (await ok(proctor, "--version", cwd=tmp_path)).stdout
    assert "trajectory: fine" in (await ok(proctor, "judge", "lint", cwd=tmp_path)).stdout
    await ok(proctor, "init", cwd=tmp_path)
    listed = await ok(proctor, "cassette", "ls", cwd=tmp_path)
    assert "no cassettes yet" in listed.stderr


@pytest.mark.parametrize("part", ["proxy", "judge", "canary"])
async def test_a_part_refuses_to_be_imported_by_its_bare_name(part: str) -> None:
    done = await run(sys.executable, "-c", f"import {part}", cwd=ROOT)
    assert done.status == 1
    assert f"import proctor.{part}, not {part}" in done.stderr
