"""Raw agreement over all that was judged, where flagged things were labelled more often than others.

Each pair counts by how many it stands for, one over the chance with which it was labelled (Horvitz and Thompson 1952):
where all flagged verdicts and one in ten of the others are labelled, one of the others stands for ten.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from proctor.judge.intervals import Figure, bootstrap
from proctor.judge.pairs import Pair, by_trajectory


def weighted_agreement(pairs: Sequence[Pair]) -> Figure | None:
    """The weighted share of scored pairs in which the judge agrees, by trajectories; None where all weigh the same."""
    scored = [pair for pair in pairs if pair.judge is not None]
    if len({pair.inclusion for pair in scored}) < 2:
        return None
    runs = list(by_trajectory(scored).values())
    (interval,) = bootstrap(runs, lambda drawn: [_share([pair for run in drawn for pair in run])])
    return Figure(value=_share(scored), interval=interval)


def _share(pairs: Sequence[Pair]) -> float:
    whole = math.fsum(1 / pair.inclusion for pair in pairs)
    return math.fsum(1 / pair.inclusion for pair in pairs if pair.human == pair.judge) / whole
