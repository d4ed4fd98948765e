"""Whether one side changed more than the other: the exact test on what changed (McNemar 1947, the binomial form)."""

from __future__ import annotations

from proctor.judge.intervals import at_least


def mcnemar(one_way: int, other_way: int) -> float:
    """The two-sided chance of changes as uneven as these, were both ways equally likely. 1 where nothing changed."""
    changed = one_way + other_way
    return min(1.0, 2 * at_least(max(one_way, other_way), changed, 0.5)) if changed else 1.0
