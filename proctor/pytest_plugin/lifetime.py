"""Opening a test's session before it, closing it afterwards, and what both make of the test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from proctor.config import find_config
from proctor.errors import CassetteMissing, ConfigError, ProctorError, UsageError
from proctor.fault_file import read_plan
from proctor.launch import agent_environment, chosen_modes, session_spec
from proctor.pytest_plugin.background import BackgroundProxy, Proxies
from proctor.pytest_plugin.naming import shared_names, tape_name
from proctor.pytest_plugin.session import ProctorSession
from proctor.pytest_plugin.stash import REPORTS, SHARED
from proctor.pytest_plugin.verdict import Outcome, verdict
from proctor.pytest_plugin.wanted import RECORD, Wanted, recording_command, test_id, test_name, wanted_by
from proctor.wire import Mode, SessionInfo, SessionSpec

_STATUSES: dict[Outcome, int] = {"passed": 0, "interrupted": 130}
_FAILED = 1


@contextmanager
def session_of(item: pytest.Item, proxies: Proxies) -> Iterator[ProctorSession]:
    """A session around a test, its variables set in this process. Fails the test for whatever goes wrong in it."""
    item.stash[REPORTS] = {}  # a test that is run again starts anew
    with _failures():
        proxy = proxies.of(find_config(item.path.parent))
        spec = _spec(item, proxy, wanted_by(item))
        info = _opened(proxy, spec)
    variables = agent_environment(proxy.config, info)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        try:
            yield ProctorSession(proxy, info, variables)
        finally:
            _close(item, proxy, info.session)


def tests_with_one_tape(items: Iterable[pytest.Item]) -> dict[str, tuple[str, ...]]:
    """By test, the others that would have its tape. What is wrong in another way is told when the test runs."""
    named = []
    for item in items:
        try:
            root = find_config(item.path.parent).parent
            named.append((test_id(item), f"{root}/{_tape_of(item, root, wanted_by(item))}"))
        except (ConfigError, UsageError):
            continue
    return shared_names(named)


def _spec(item: pytest.Item, proxy: BackgroundProxy, wanted: Wanted) -> SessionSpec:
    default: Mode = "record" if item.config.getoption(RECORD) else "replay"
    modes = chosen_modes(proxy.config, default, [f"{name}={mode}" for name, mode in wanted.modes.items()])
    name = _tape_of(item, find_config(item.path.parent).parent, wanted)
    others = item.config.stash.get(SHARED, {}).get(test_id(item), ())
    if others and ("record" in modes.values() or not wanted.cassette):
        raise UsageError(
            "tape_shared",
            f"{test_id(item)} and {', '.join(others)} would have one tape: cassettes/{name}.yaml",
            "give one of them another id, or a tape by @pytest.mark.proctor(cassette=...)",
        )
    return session_spec(
        proxy.config,
        name,
        modes,
        command=("pytest", test_id(item)),
        allow_unused=wanted.allow_unused,
        strict=wanted.strict,
        timing=wanted.timing,
        faults=read_plan(wanted.faults) if wanted.faults else None,
        recorded_by=recording_command(item),
    )


def _opened(proxy: BackgroundProxy, spec: SessionSpec) -> SessionInfo:
    try:
        return proxy.open(spec)
    except CassetteMissing as error:
        error.fix = f"record it: {spec.recorded_by}"
        raise


def _tape_of(item: pytest.Item, root: Path, wanted: Wanted) -> str:
    return wanted.cassette or tape_name(item.path.relative_to(root), test_name(item))


def _close(item: pytest.Item, proxy: BackgroundProxy, session_id: str) -> None:
    outcome = _outcome(item.stash[REPORTS])
    with _failures():
        summary = proxy.close(session_id, _STATUSES.get(outcome, _FAILED)).summary
    found = verdict(summary, outcome, proxy.config.root)
    if found.fails:
        pytest.fail(found.text, pytrace=False)
    if found.text:
        item.add_report_section("teardown", "proctor", found.text)


def _outcome(reports: dict[str, pytest.TestReport]) -> Outcome:
    setup, call = reports.get("setup"), reports.get("call")
    if call is not None and call.skipped:
        return "failed" if hasattr(call, "wasxfail") else "skipped"
    if call is not None:
        return "passed" if call.passed else "failed"
    if setup is None or setup.passed:
        return "interrupted"
    return "skipped" if setup.skipped else "not run"


@contextmanager
def _failures() -> Iterator[None]:
    """Tells Proctor's errors in their own words, without a traceback through Proctor."""
    try:
        yield
    except ProctorError as error:
        raise pytest.fail.Exception(f"proctor: {error.code}: {error}", pytrace=False) from None
