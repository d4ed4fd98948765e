"""Label files, the level that labels settle on, and how far people agree."""

from __future__ import annotations

import pytest

from proctor.errors import UsageError
from proctor.judge.labels import human_agreement, read_labels, truth_of
from proctor.judge.pairs import pairs_of, read_pairs, scale_of
from proctor.judge.table import Scale
from tests.unit.judge.labelled import label, lines


class TestReading:
    def test_a_label_is_read_with_its_citations(self) -> None:
        given = label("ann", "t1", "safety", 2, citations=[{"step": 4, "quote": "ok"}], note="clear")
        assert read_labels(lines(given)) == ([given], [])

    def test_every_bad_line_is_named_and_the_others_are_read(self) -> None:
        good = label("ann", "t1", "safety", 2).model_dump(mode="json")
        data = lines(
            good,
            good | {"level": 7},
            good | {"level": 1.3},
            good | {"level": True},
            good | {"blind": "yes"},
            {key: value for key, value in good.items() if key != "blind"},
            good | {"levle": 2},
            good | {"annotator": ""},
            good | {"annotator": "bob"},
        )
        found, bad = read_labels(data + b"{\n\n[]\n" + b'{"level": NaN}\n')
        assert [each.annotator for each in found] == ["ann", "bob"]
        assert [each.line for each in bad] == [2, 3, 4, 5, 6, 7, 8, 10, 12, 13]
        assert str(bad[5]) == "line 7: not_valid: levle: Extra inputs are not permitted"

    def test_a_second_label_of_one_person_for_one_thing_is_a_bad_line(self) -> None:
        first, second = label("ann", "t1", "safety", 2), label("ann", "t1", "safety", 0)
        found, (bad,) = read_labels(lines(first, second))
        assert found == [first]
        assert str(bad) == "line 2: repeated_label: ann labelled t1, safety in line 1 already"

    def test_levels_of_half_a_surrogate_or_of_other_bytes_are_bad_lines(self) -> None:
        found, bad = read_labels(b'{"annotator": "\\ud800"}\n\xff\n')
        assert (found, [each.code for each in bad]) == ([], ["not_text", "not_utf8"])


class TestTruth:
    @pytest.mark.req(27)
    def test_it_is_the_mean_of_two_people_who_labelled_apart(self) -> None:
        truth = truth_of([label("ann", "t1", "accuracy", 4), label("bob", "t1", "accuracy", 5)])
        assert truth.levels == {"t1": {"accuracy": 4.5}}
        assert (truth.halfway, truth.single, truth.pairs) == (1, 0, 1)

    @pytest.mark.req(28)
    @pytest.mark.parametrize(("other", "flagged"), [(3.0, False), (3.5, True), (4.0, True)])
    def test_a_gap_of_one_is_not_flagged_and_one_and_a_half_is(self, other: float, flagged: bool) -> None:
        truth = truth_of([label("ann", "t1", "accuracy", 2), label("bob", "t1", "accuracy", other)])
        assert bool(truth.gaps) is flagged
        assert ("t1" in truth.levels) is not flagged
        if flagged:
            assert truth.gaps[0].levels == {"ann": 2, "bob": other}

    def test_a_third_person_s_decision_settles_a_gap_and_a_half(self) -> None:
        given = [label("ann", "t1", "safety", 0), label("bob", "t1", "safety", 2)]
        truth = truth_of([*given, label("eve", "t1", "safety", 1, adjudicated=True)])
        assert (truth.levels, truth.gaps, truth.adjudicated) == ({"t1": {"safety": 1}}, (), 1)

    def test_two_decisions_that_differ_settle_nothing(self) -> None:
        decisions = [label(who, "t1", "safety", level, adjudicated=True) for who, level in (("eve", 1), ("fay", 2))]
        truth = truth_of([label("ann", "t1", "safety", 1), *decisions])
        assert truth.levels == {}
        assert truth.gaps[0].levels == {"ann": 1, "eve (adjudicated)": 1, "fay (adjudicated)": 2}

    def test_a_label_given_with_the_judge_in_sight_never_counts(self) -> None:
        truth = truth_of([label("ann", "t1", "safety", 0), label("bob", "t1", "safety", 2, blind=False)])
        assert (truth.levels, truth.single, truth.seen_judge) == ({"t1": {"safety": 0}}, 1, 1)


class TestPeople:
    def test_agreement_is_over_pairs_of_people_and_before_anybody_decided(self) -> None:
        given = [
            *(label(who, "t1", "safety", 2) for who in ("ann", "bob", "cid")),
            label("ann", "t2", "safety", 0),
            label("bob", "t2", "safety", 2),
            label("eve", "t2", "safety", 2, adjudicated=True),
            label("cid", "t3", "safety", 1),
        ]
        human = human_agreement(given, "0-2")
        assert str(human.exact) == "75.0 % (3/4)"
        assert (human.trajectories, human.annotators) == (2, ("ann", "bob", "cid"))
        assert str(human.passed) == "75.0 % (3/4)"
        assert human.alpha.value == pytest.approx(0.0)

    def test_one_person_alone_is_not_assessable(self) -> None:
        human = human_agreement([label("ann", "t1", "safety", 2)], "0-2")
        assert (human.exact.value, human.alpha.value) == (None, None)


class TestPairs:
    def test_a_plain_file_may_name_things_as_other_projects_do(self) -> None:
        rows: list[dict[str, object]] = [
            {"human": True, "llm_judge": False, "criterion": "saved", "task": "t", "framework": "f", "category": "x"},
            {"human": 1, "judge": None, "criterion": "saved", "trajectory": "t9"},
        ]
        found, bad = read_pairs(lines(*rows))
        assert [(pair.trajectory, pair.human, pair.judge) for pair in pairs_of(found)] == [
            ("f/t", 1.0, 0.0),
            ("t9", 1.0, None),
        ]
        assert bad == []

    def test_a_pair_without_a_judge_or_a_trajectory_is_a_bad_line(self) -> None:
        rows = [
            {"human": True, "criterion": "saved", "task": "t"},
            {"human": True, "judge": True, "criterion": "saved"},
            {"human": "yes", "judge": True, "criterion": "saved", "task": "t"},
        ]
        found, bad = read_pairs(lines(*rows))
        assert (found, [each.line for each in bad]) == ([], [1, 2, 3])


class TestScale:
    def test_it_is_the_only_one_that_has_all_the_levels(self) -> None:
        every: tuple[Scale, ...] = ("0-1", "0-2", "1-5")
        assert scale_of([0, 1, 2], every, None) == "0-2"
        assert scale_of([1, 4], every, None) == "1-5"
        assert scale_of([False, True], every, None) == "0-1"
        assert scale_of([0, 1], ("0-2", "1-5"), None) == "0-2"

    @pytest.mark.parametrize("levels", [[0, 1], [1, 2], [0, 3], [True, 2], [1]])
    def test_in_doubt_it_is_asked_for_and_never_guessed(self, levels: list[float]) -> None:
        with pytest.raises(UsageError, match="scale") as error:
            scale_of(levels, ("0-1", "0-2", "1-5"), None)
        assert error.value.code == "which_scale"

    def test_one_that_does_not_have_the_levels_is_refused(self) -> None:
        with pytest.raises(UsageError) as error:
            scale_of([0, 2], ("0-2", "1-5"), "1-5")
        assert error.value.code == "off_scale"
