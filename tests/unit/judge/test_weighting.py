"""Agreement over all that was judged, where flagged runs were labelled more often."""

from __future__ import annotations

import random
from datetime import date

import pytest

from proctor.cli.calibration_shown import calibration_lines
from proctor.judge.calibration import calibrate
from proctor.judge.doubts import doubted
from proctor.judge.labels import read_labels, truth_of
from proctor.judge.pairs import Pair, joined
from proctor.judge.weighting import weighted_agreement
from tests.unit.judge.labelled import label, lines, verdict


def test_pairs_that_weigh_the_same_have_no_second_number() -> None:
    assert weighted_agreement([Pair("t1", "a", 2, 2), Pair("t2", "a", 2, 1)]) is None
    assert weighted_agreement([Pair("t1", "a", 2, 2, 0.1), Pair("t2", "a", 2, None, 1.0)]) is None
    assert weighted_agreement([]) is None


def test_each_pair_counts_by_how_many_it_stands_for() -> None:
    found = weighted_agreement([Pair("t1", "a", 2, 2), Pair("t2", "a", 2, 1, 0.1), Pair("t3", "a", 2, 2, 0.1)])
    assert found is not None
    assert found.value == pytest.approx((1 + 10) / (1 + 10 + 10))


def test_it_comes_out_at_the_true_agreement_where_the_raw_one_does_not() -> None:
    draw = random.Random(1)
    everything = [(f"t{at}", at % 5 == 0) for at in range(4000)]  # one in five is flagged, and there the judge errs
    right = {run: draw.random() < (0.5 if flagged else 0.95) for run, flagged in everything}
    seen = [(run, 1.0 if flagged else 0.1) for run, flagged in everything if flagged or draw.random() < 0.1]
    pairs = [Pair(run, "a", 2, 2 if right[run] else 1, chance) for run, chance in seen]
    found = weighted_agreement(pairs)
    assert found is not None
    assert found.interval is not None
    true = sum(right.values()) / len(everything)
    assert found.interval.low < true < found.interval.high
    assert sum(pair.human == pair.judge for pair in pairs) / len(pairs) < found.interval.low


def test_the_chance_goes_from_the_label_to_the_output_with_a_sentence_on_why() -> None:
    labels = [label("ann", f"t{at}", "safety", 2, inclusion=1.0 if at < 15 else 0.25) for at in range(20)]
    found, bad = read_labels(lines(*labels))
    assert (found, bad) == (labels, [])
    judged = [verdict(f"t{at}", {"safety": 2 if at < 18 else 1}) for at in range(20)]
    calibration = doubted(calibrate(joined(truth_of(found), judged), "0-2", today=date(2026, 7, 1)))
    shown = "\n".join(calibration_lines(calibration))
    assert "raw         90.0 % (18/20)" in shown
    assert "weighted    77.1 % (" in shown
    assert "flagged runs were labelled more often, so each pair counts by how many it stands for" in shown
    assert "over all that was judged it agrees in 77.1 %, under the target: see `weighted`" in calibration.doubts


def test_a_label_given_with_the_judge_in_sight_stands_beside_the_blind_one() -> None:
    both = [label("ann", "t1", "safety", 1), label("ann", "t1", "safety", 2, blind=False)]
    found, bad = read_labels(lines(*both))
    assert (found, bad) == (both, [])
    truth = truth_of(found)
    assert (truth.levels, truth.seen_judge) == ({"t1": {"safety": 1}}, 1)
