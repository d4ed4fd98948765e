"""Going on with a run that was stopped."""

from __future__ import annotations

from proctor.errors import UsageError
from proctor.harness.planning import RunOptions
from proctor.harness.run_reading import Row, one_run
from proctor.paths import Layout


async def resumed_options(layout: Layout, run: str, suite: str | None) -> tuple[RunOptions, str]:
    """What a run that is not finished was asked for, and its id. Raises UsageError."""
    recorded = await one_run(layout.state, run, unfinished=True)
    options = recorded.options
    if suite is not None and suite not in (options.suite, recorded.run["suite"]):
        told = f"the run {recorded.run['id']} is of the suite {recorded.run['suite']}, not of {suite}"
        raise UsageError("resume_other_suite", told, "leave the suite out")
    return options, str(recorded.run["id"])


def check_same(stored: Row, suite_version: str, agent_version: str) -> None:
    """Raise UsageError where what is run is no longer what the run began with: its halves would not fit together."""
    for what, before, now in (
        ("suite", stored["suite_version"], suite_version),
        ("agent", stored["agent_version"], agent_version),
    ):
        if before != now:
            told = f"the {what} has changed since the run began: {before or 'no version'} then, {now or 'none'} now"
            raise UsageError("resume_changed", told, "begin a new run, or put it back as it was")
