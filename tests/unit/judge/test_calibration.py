"""The claim, what stands beside it, and which verdicts a calibration holds for."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from proctor.errors import UsageError
from proctor.judge.agreement import agreement
from proctor.judge.bound import one_judge
from proctor.judge.calibration import Calibration, Source, calibrate
from proctor.judge.calibration_file import FRESH_DAYS, misfits, read_calibration, write_calibration
from proctor.judge.doubts import doubted
from proctor.judge.labels import Label, human_agreement, truth_of
from proctor.judge.pairs import Pair, joined, pairs_of, read_pairs
from proctor.verdict import Verdict
from tests.unit.judge.labelled import JUDGE, VERSIONS, label, verdict

TODAY = date(2026, 7, 1)


def pairs(right: int, of: int, *, a_run: int = 1, level: float = 2, wrong: float = 1) -> list[Pair]:
    """So many pairs, the wrong ones spread over runs of some pairs each."""
    runs = max(1, of // a_run)
    return [Pair(f"t{at % runs}", "steps", level, level if at >= of - right else wrong) for at in range(of)]


def of_labels(labels: list[Label], verdicts: list[Verdict]) -> Calibration:
    truth = truth_of(labels)
    source = Source(one_judge(verdicts), verdicts, truth, human_agreement(labels, "0-2"))
    return doubted(calibrate(joined(truth, verdicts), "0-2", today=TODAY, source=source))


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    """Of 30 runs that two people and the judge agree on."""
    labels = [label(who, f"t{at}", "safety", at % 3) for who in ("ann", "bob") for at in range(30)]
    return of_labels(labels, [verdict(f"t{at}", {"safety": at % 3}, language="en") for at in range(30)])


class TestRealPairs:
    @pytest.mark.req(83)
    def test_the_published_judge_of_devai_gets_its_figures(self, shared_data: Path) -> None:
        found, bad = read_pairs((shared_data / "agreement_devai.jsonl").read_bytes())
        calibration = calibrate(pairs_of(found), "0-1", today=TODAY)
        pooled, claim = calibration.pooled, calibration.claim
        assert (bad, pooled.n, pooled.trajectories) == ([], 1098, 165)
        assert str(claim.observed) == "89.6 % (984/1098)"
        assert [round(each.value or 0, 3) for each in (pooled.kappa, pooled.ac1, pooled.alpha)] == [0.778, 0.805, 0.778]
        assert pooled.exact_by_trajectory is not None
        assert pooled.kappa.interval is not None
        by_trajectory, kappas = pooled.exact_by_trajectory, pooled.kappa.interval
        assert (by_trajectory.low, by_trajectory.high) == pytest.approx((0.876, 0.915), abs=0.001)
        assert (kappas.low, kappas.high) == pytest.approx((0.735, 0.817), abs=0.002)
        assert (str(pooled.sensitivity), str(pooled.specificity)) == ("87.5 % (351/401)", "90.8 % (633/697)")
        assert calibration.pass_rate.corrected.value == pytest.approx(401 / 1098)
        assert (claim.reached, claim.proven) == (True, True)


class TestClaim:
    @pytest.mark.req(83)
    @pytest.mark.parametrize(("right", "reached"), [(51, True), (50, False), (60, True), (0, False)])
    def test_raw_agreement_decides_and_85_of_100_reaches_85_percent(self, right: int, reached: bool) -> None:
        assert calibrate(pairs(right, 60), "0-2", today=TODAY).claim.reached is reached

    def test_the_number_of_pairs_that_a_proof_needs_stands_beside_it(self) -> None:
        claim = calibrate(pairs(180, 200), "0-2", today=TODAY).claim
        assert (claim.proven, claim.needed_right, claim.pairs_needed) == (True, 180, 196)
        claim = calibrate(pairs(179, 200), "0-2", today=TODAY).claim
        assert (claim.reached, claim.proven, claim.needed_right) == (True, False, 180)
        assert calibrate(pairs(17, 20), "0-2", today=TODAY).claim.needed_right is None
        assert calibrate(pairs(40, 60), "0-2", today=TODAY).claim.pairs_needed is None

    def test_rows_that_fail_together_prove_less(self) -> None:
        together = [Pair(f"t{at // 20}", "steps", 2, 2 if at >= 20 else 1) for at in range(200)]
        assert calibrate(pairs(180, 200), "0-2", today=TODAY).claim.proven
        assert not calibrate(together, "0-2", today=TODAY).claim.proven

    def test_pairs_of_one_trajectory_prove_nothing(self) -> None:
        claim = calibrate(pairs(200, 200, a_run=200), "0-2", today=TODAY).claim
        assert (claim.reached, claim.proven) == (True, False)

    def test_a_judge_that_scored_nothing_reaches_nothing(self) -> None:
        calibration = doubted(calibrate([Pair("t1", "steps", 2, None)], "0-2", today=TODAY))
        assert (calibration.claim.reached, calibration.claim.proven) == (False, False)
        assert str(calibration.claim.observed) == "not assessable (0/0)"
        assert calibration.doubts == ("the judge scored nothing that people labelled",)
        assert not calibrate([], "0-2", today=TODAY).claim.reached


class TestAgreement:
    def test_an_error_is_no_score_and_shows_in_the_coverage_only(self) -> None:
        both = [label(who, run, "safety", 2) for who in ("ann", "bob") for run in ("t1", "t2", "t3")]
        verdicts = [verdict("t1", {"safety": 2}), verdict("t2", {"safety": "judge_error"})]
        calibration = of_labels(both, verdicts)
        assert str(calibration.claim.observed) == "100.0 % (1/1)"
        assert str(calibration.pooled.coverage) == "33.3 % (1/3)"
        assert "2 of 3 labelled pairs have no score of the judge's" in calibration.doubts

    def test_a_level_halfway_is_agreement_for_no_judge(self) -> None:
        found = agreement([Pair("t1", "a", 1.5, 2), Pair("t2", "a", 1.5, 1)], "0-2")
        assert (found.exact.right, found.within_one.right, found.passed.right) == (0, 2, 1)
        assert {(cell.human, cell.judge): cell.count for cell in found.table}[1.5, 2] == 1

    def test_the_recall_of_violations_is_exact(self) -> None:
        found = agreement([*(Pair(f"t{at}", "safety", 0, 0) for at in range(9)), Pair("t9", "safety", 0, 2)], "0-2")
        assert found.lowest.recall.interval is not None
        assert found.lowest.recall.interval.low == pytest.approx(0.555, abs=5e-4)  # 9 of 10, two-sided 95 %
        assert str(found.levels[1].recall) == "not assessable (0/0)"

    def test_a_judge_no_better_than_a_constant_is_told_so(self) -> None:
        skewed = [Pair(f"t{at}", "safety", 2 if at > 4 else 0, 2) for at in range(100)]
        calibration = doubted(calibrate(skewed, "0-2", today=TODAY))
        assert calibration.claim.reached
        assert "no better than always answering 2, which agrees in 95.0 % (95/100)" in calibration.doubts
        assert "weighted kappa is 0.00, under 0.6: much of the agreement is chance" in calibration.doubts

    def test_a_lenient_judge_and_a_weak_criterion_are_named(self) -> None:
        rows = [Pair(f"t{at}", name, 1, 2 if name == "safety" and at % 2 else 1) for at in range(60) for name in "ab"]
        rows += [Pair(f"t{at}", "safety", 0, 2 if at % 2 else 0) for at in range(60)]
        calibration = doubted(calibrate(rows, "0-2", today=TODAY))
        assert calibration.worst is not None
        assert calibration.worst[0] == "safety"
        assert "safety: agrees in 50.0 % (30/60), under 75.0 %" in calibration.doubts
        assert "the judge is lenient: +0.33 levels on average" in calibration.doubts

    def test_criteria_of_fewer_than_ten_pairs_have_their_rate_alone(self) -> None:
        rows = [*pairs(10, 10), Pair("t1", "rare", 2, 0), Pair("t2", "never", 2, None)]
        calibration = doubted(calibrate(rows, "0-2", today=TODAY))
        assert list(calibration.criteria) == ["steps"]
        assert {name: str(rate) for name, rate in calibration.few.items()} == {
            "rare": "0.0 % (0/1)",
            "never": "not assessable (0/0)",
        }
        assert "labelled, but never scored: never" in calibration.doubts

    def test_the_pass_rate_is_over_all_verdicts_and_corrected_by_the_labelled_ones(self) -> None:
        given = [2] * 30 + [0] * 30
        judged = [*given[:27], 0, 0, 0, *given[30:]]  # it fails three that pass
        labels = [label("ann", f"t{at}", "safety", level) for at, level in enumerate(given)]
        verdicts = [verdict(f"t{at}", {"safety": score}) for at, score in enumerate(judged)]
        more = [verdict(f"u{at}", {"safety": 2 if at < 9 else 0}) for at in range(40)]
        rates = of_labels(labels, [*verdicts, *more]).pass_rate
        assert str(rates.judged) == "36.0 % (36/100)"
        assert rates.corrected.value == pytest.approx(0.36 / 0.9)


class TestPeopleFirst:
    def test_what_the_labels_lack_is_told(self) -> None:
        labels = [
            *(label(who, "t1", "safety", level) for who, level in (("ann", 0), ("bob", 2))),
            *(label(who, "t2", "safety", level) for who, level in (("ann", 1), ("bob", 2))),
            label("ann", "t3", "safety", 2),
            label("bob", "t3", "safety", 2, blind=False),
        ]
        calibration = of_labels(labels, [verdict(run, {"safety": 2}) for run in ("t1", "t2", "t3")])
        assert calibration.pooled.n == 2
        assert calibration.doubts[-5:] == (
            "people agree with one another in 0.0 % (0/2) only: sharpen the anchors before the judge is blamed",
            "1 pairs await re-alignment, and are left out",
            "1 pairs were labelled by one person only",
            "1 labels lie between two levels and count as disagreement: have them adjudicated",
            "1 labels were given with the judge's result in sight, and are left out",
        )

    def test_a_stand_in_is_no_judge_that_was_measured(self) -> None:
        stand_in = JUDGE.model_copy(update={"stand_in": True})
        calibration = of_labels([label("ann", "t1", "safety", 2)], [verdict("t1", {"safety": 2}, judge=stand_in)])
        assert calibration.doubts[0] == "the judge is a stand-in: no live model was measured"


class TestOneJudge:
    @pytest.mark.parametrize(
        ("changed", "word"),
        [
            (
                {"judge": JUDGE.model_copy(update={"model": "other/judge-2"})},
                "model: other/judge-1, then other/judge-2",
            ),
            ({"judge": JUDGE.model_copy(update={"returned": ("judge-1-2026-06",)})}, "model that answered"),
            ({"versions": VERSIONS.model_copy(update={"prompt": "p2"})}, "prompt: p1, then p2"),
            ({"versions": VERSIONS.model_copy(update={"rubric_digest": "d2"})}, "rubric's digest"),
            ({"versions": VERSIONS.model_copy(update={"fold": "f2"})}, "fold of quotes"),
        ],
    )
    def test_verdicts_of_unequal_versions_are_never_put_together(self, changed: dict[str, object], word: str) -> None:
        with pytest.raises(UsageError, match="unequal versions") as error:
            one_judge([verdict("t1", {}), verdict("t2", {}, **changed)])
        assert word in error.value.message

    def test_a_verdict_that_rules_decided_asked_no_model_and_fits(self) -> None:
        by_rules = verdict("t0", {}, judge=JUDGE.model_copy(update={"returned": ()}))
        other = verdict("t2", {}, judge=JUDGE.model_copy(update={"returned": ("judge-1-2026-06",)}))
        assert one_judge([by_rules, verdict("t1", {})]).returned == JUDGE.returned
        with pytest.raises(UsageError):
            one_judge([by_rules, verdict("t1", {}), other])

    def test_two_verdicts_of_one_run_that_differ_are_refused(self) -> None:
        truth = truth_of([label("ann", "t1", "safety", 2)])
        same = verdict("t1", {"safety": 2})
        assert joined(truth, [same, same]) == [Pair("t1", "safety", 2, 2)]
        with pytest.raises(UsageError, match="two verdicts"):
            joined(truth, [same, verdict("t1", {"safety": 0})])


class TestFile:
    def test_it_is_read_as_it_was_written(self, calibration: Calibration, tmp_path: Path) -> None:
        write_calibration(tmp_path / "c.json", calibration)
        assert read_calibration(tmp_path / "c.json") == calibration

    def test_a_damaged_file_is_an_error_that_says_where(self, tmp_path: Path) -> None:
        (tmp_path / "c.json").write_text('{"v": 1}')
        with pytest.raises(UsageError, match="made_on"):
            read_calibration(tmp_path / "c.json")
        with pytest.raises(UsageError, match="cannot be read"):
            read_calibration(tmp_path / "none.json")

    def test_a_file_of_pairs_is_bound_to_no_judge_and_not_written(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="names no judge"):
            write_calibration(tmp_path / "c.json", calibrate(pairs(9, 9), "0-2", today=TODAY))

    def test_it_fits_verdicts_of_the_same_judge_and_versions(self, calibration: Calibration) -> None:
        assert calibration.languages == {"en": 30}
        assert list(misfits(calibration, verdict("u", {"safety": 0}, language="en"), TODAY)) == []

    @pytest.mark.parametrize(
        ("changed", "why"),
        [
            ({"versions": VERSIONS.model_copy(update={"prompt": "p2"})}, "prompt: p1, then p2"),
            ({"judge": JUDGE.model_copy(update={"returned": ("x",)})}, "answered: judge-1-2026-01, then x"),
            ({"language": "zh"}, "no trajectory in the language zh was labelled"),
        ],
    )
    def test_another_judge_version_or_language_does_not_fit(
        self, calibration: Calibration, changed: dict[str, object], why: str
    ) -> None:
        (told,) = misfits(calibration, verdict("u", {"safety": 0}, **changed), TODAY)
        assert why in told

    def test_a_criterion_that_nobody_labelled_and_age_do_not_fit(self, calibration: Calibration) -> None:
        late = TODAY + timedelta(days=FRESH_DAYS + 1)
        told = list(misfits(calibration, verdict("u", {"safety": 0, "steps": 1}), late))
        assert told == ["it was made on 2026-07-01, 91 days before: after 90 it is stale", "nobody labelled steps"]

    def test_a_judge_that_did_not_reach_its_target_fits_nothing(self) -> None:
        labels = [label("ann", f"t{at}", "safety", 0) for at in range(10)]
        calibration = of_labels(labels, [verdict(f"t{at}", {"safety": 2}) for at in range(10)])
        (told,) = misfits(calibration, verdict("u", {"safety": 0}), TODAY)
        assert told == "the judge did not reach 85 %: it agrees in 0.0 % (0/10)"
