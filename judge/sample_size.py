"""How many labels a claim "agrees in at least 85 %" takes.

The claim is proven where the lower end of Wilson's 95 % interval reaches the target. How many must be right for that,
and how likely a judge of a given true agreement gets there, is arithmetic; see docs/calibration.md.
"""

from __future__ import annotations

import math

from proctor.judge.intervals import Z, at_least, wilson

TABLED = (60, 100, 200, 300, 400)
TRUTHS = (0.90, 0.92, 0.95)


def needed_right(n: int, target: float) -> int | None:
    """The fewest of `n` pairs that must agree to prove the target; None where not even all of them would."""
    low, high = 0, n + 1
    while low < high:
        middle = (low + high) // 2
        if _proves(middle, n, target):
            high = middle
        else:
            low = middle + 1
    return low if low <= n else None


def power(n: int, target: float, truth: float) -> float:
    """The chance that `n` pairs prove the target, where the judge truly agrees in `truth` of all."""
    needed = needed_right(n, target)
    return 0.0 if needed is None else at_least(needed, n, truth)


def pairs_needed(observed: float, target: float) -> int | None:
    """The fewest pairs that prove the target if they agree as those seen; None where `observed` is not above it.

    Solved from Wilson's lower end: n = z^2 * target * (1 - target) / (observed - target)^2.
    """
    if observed <= target:
        return None
    return math.ceil(Z * Z * target * (1 - target) / (observed - target) ** 2)


def _proves(right: int, n: int, target: float) -> bool:
    interval = wilson(right, n) if right <= n else None
    return right > n or (interval is not None and interval.low >= target)
