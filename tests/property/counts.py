"""How many examples a test takes: few in CI, from a fixed seed; all of them in `make soak`."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

SOAK = os.environ.get("PROCTOR_SOAK") == "1"


def count(ci: int, soak: int) -> int:
    """The number for this run."""
    return soak if SOAK else ci


def examples(ci: int, soak: int, *, shrink: bool = True) -> settings:
    """Hypothesis settings: so many examples, the same ones in every CI run, no deadline.

    Without `shrink` a failure is shown as found: for tests over sockets, where making it small takes minutes.
    """
    return settings(
        max_examples=count(ci, soak),
        derandomize=not SOAK,
        deadline=None,
        database=None,
        phases=(Phase.explicit, Phase.generate, *([Phase.shrink] if shrink else [])),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
    )
