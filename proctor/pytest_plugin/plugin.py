"""What pytest loads: options, the marker, the fixture. Everything else is imported when a test asks for a session."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from proctor.pytest_plugin.session import ProctorSession
from proctor.pytest_plugin.stash import REPORTS, SHARED
from proctor.pytest_plugin.wanted import FIXTURE, MARKER, RECORD, STRICT

if TYPE_CHECKING:
    from proctor.pytest_plugin.background import Proxies

_MARKER_HELP = (
    f"{MARKER}(cassette, modes, strict, timing, allow_unused, faults): run the test in a session of Proctor, as the "
    f"fixture {FIXTURE} does; cassette names another tape than the test's, modes the services that are not in the "
    "run's mode"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The group "proctor" of `pytest --help`."""
    group = parser.getgroup("proctor", "proctor: record and replay what agents are answered (docs/pytest.md)")
    group.addoption(
        RECORD, action="store_true", help="Ask the real services; each test that passes gets a new tape of its own."
    )
    group.addoption(STRICT, action="store_true", help="An answer that was recorded in another state is a miss.")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", _MARKER_HELP)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """A run that asked real services says so, however quiet it is."""
    if config.getoption(RECORD):
        terminalreporter.write_line("proctor: recording: the real services are asked")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give marked tests the fixture, and find tests that would share a tape, before any is deselected."""
    asking = [item for item in items if _asks(item)]
    if asking:
        from proctor.pytest_plugin.lifetime import tests_with_one_tape

        config.stash[SHARED] = tests_with_one_tape(asking)


@pytest.hookimpl(hookwrapper=True)  # the old kind, which every pytest knows: this is loaded where nobody asked for it
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Keep a test's reports for the end of its session."""
    outcome = yield
    if REPORTS in item.stash:
        report: pytest.TestReport = outcome.get_result()
        item.stash[REPORTS][report.when] = report


@pytest.fixture(scope="session")
def _proctor_proxies() -> Iterator[Proxies]:
    from proctor.pytest_plugin.background import Proxies

    proxies = Proxies()
    try:
        yield proxies
    finally:
        proxies.stop()


@pytest.fixture
def proctor_session(request: pytest.FixtureRequest, _proctor_proxies: Proxies) -> Iterator[ProctorSession]:
    """A session of Proctor around the test: its services answer from the test's tape, or are recorded to it.

    Misses, calls past the services, and whatever else fails `proctor replay` fail the test.
    """
    from proctor.pytest_plugin.lifetime import session_of

    with session_of(request.node, _proctor_proxies) as session:
        yield session


def _asks(item: pytest.Item) -> bool:
    """Whether a test runs in a session; one that is marked gets the fixture here."""
    if not isinstance(item, pytest.Function):
        return False
    if FIXTURE in item.fixturenames:
        return True
    marked = item.get_closest_marker(MARKER) is not None
    if marked:
        item.fixturenames = _with_session(item)
    return marked


def _with_session(item: pytest.Function) -> list[str]:
    """The names of a test's fixtures, the session before any other of the test's own: those may read its variables."""
    defined = item._fixtureinfo.name2fixturedefs
    wide = [name for name in item.fixturenames if name in defined and defined[name][-1].scope != "function"]
    return [*wide, FIXTURE, *(name for name in item.fixturenames if name not in wide)]
