"""What share truly passes, where the judge that says so errs in a known way.

Sources: Rogan and Gladen 1978 (the estimate); Lang and Reiczigel 2014 (the interval, which counts that the judge's
own rates are known from a sample only).
"""

from __future__ import annotations

import math

from proctor.judge.intervals import Figure, Interval, Rate, Z

LEAST_TOLD = 0.1
"""Below this TPR + TNR - 1 the judge hardly tells passes from failures, and dividing by it would make up a number."""


def corrected_rate(observed: Rate, passes: Rate, failures: Rate) -> Figure:
    """The true pass rate from the observed one, `passes` (TPR) being those that the judge passed of all that people
    passed, and `failures` (TNR) those that it failed of all that people failed.

    Not assessable where one of them has no denominator, or where TPR + TNR is near 1.
    """
    if observed.value is None or passes.value is None or failures.value is None:
        return Figure(value=None)
    told = passes.value + failures.value - 1
    if told < LEAST_TOLD:
        return Figure(value=None)
    share = (observed.value + failures.value - 1) / told
    return Figure(value=min(1.0, max(0.0, share)), interval=_interval(observed, passes, failures))


def _interval(observed: Rate, passes: Rate, failures: Rate) -> Interval | None:
    n, seen = observed.of + Z * Z, (observed.right + Z * Z / 2) / (observed.of + Z * Z)
    tp, tpr = passes.of + 2, (passes.right + 1) / (passes.of + 2)
    tn, tnr = failures.of + 2, (failures.right + 1) / (failures.of + 2)
    told = tpr + tnr - 1
    if told < LEAST_TOLD:
        return None
    share = (seen + tnr - 1) / told
    of_passes, of_failures = tpr * (1 - tpr) / tp, tnr * (1 - tnr) / tn
    shift = 2 * Z * Z * (share * of_passes - (1 - share) * of_failures)
    spread = seen * (1 - seen) / n + (1 - share) ** 2 * of_failures + share**2 * of_passes
    half = Z * math.sqrt(spread) / told
    return Interval(low=max(0.0, share + shift - half), high=min(1.0, share + shift + half))
