"""A project that has Proctor installed and does not use it sees no change."""

from __future__ import annotations

from importlib.metadata import requires

from tests.integration.pytest_plugin.support import INI, run_pytest
from tests.support import Project

IDLE = """
import sys

def test_nothing_of_proctor_is_there(pytestconfig):
    plugin = pytestconfig.pluginmanager.get_plugin("proctor")
    assert plugin is not None
    heavy = {"aiohttp", "pydantic", "yaml", "vcr", "orjson", "click", "rich", "sqlite_utils"} & sys.modules.keys()
    assert not heavy
    ours = {name for name in sys.modules if name.startswith("proctor.")}
    assert ours == {"proctor.errors", "proctor.pytest_plugin"} | {
        f"proctor.pytest_plugin.{name}" for name in ("plugin", "session", "stash", "wanted")
    }

def test_no_thread_and_no_fixture(request):
    import threading
    assert [thread.name for thread in threading.enumerate()] == ["MainThread"]
    assert request.fixturenames == ["request"]
"""


async def test_a_project_that_does_not_use_it_loads_nothing_and_sets_nothing_up(project: Project) -> None:
    (project.root / "pytest.ini").write_text(INI.replace("asyncio_", "# asyncio_"), encoding="utf-8")
    (project.root / "test_idle.py").write_text(IDLE, encoding="utf-8")
    plain = ("-p", "no:asyncio", "-p", "no:anyio", "-p", "no:xdist", "-p", "no:hypothesispytest", "-p", "no:timeout")
    done = await run_pytest(project, *plain)
    assert done.status == 0, done.stdout
    assert "2 passed" in done.stdout
    assert sorted(path.name for path in project.root.iterdir() if path.name != "__pycache__") == [
        "pytest.ini",
        "test_idle.py",
    ]


async def test_pytest_tells_of_the_options_and_the_marker(project: Project) -> None:
    told = await run_pytest(project, "--help")
    assert "\nproctor: record and replay" in told.stdout
    assert "--proctor-record" in told.stdout
    assert "--proctor-strict" in told.stdout
    assert (
        "@pytest.mark.proctor(cassette, modes, strict, timing, allow_unused, faults)"
        in (await run_pytest(project, "--markers")).stdout
    )


def test_pytest_is_no_requirement_of_the_package() -> None:
    needed = [text for text in requires("proctor") or [] if "extra ==" not in text]
    assert needed
    assert not [text for text in needed if text.startswith("pytest")]
