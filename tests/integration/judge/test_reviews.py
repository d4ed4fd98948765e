"""The review queue over real sockets: blind first, apart from each other, then the reveal, then re-alignment."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.errors import UsageError
from proctor.judge.case_record import case_record_of
from proctor.judge.labels import read_labels, truth_of
from proctor.judge.record import Record
from proctor.review_wire import LabelCitation, LabelSent
from tests.integration.judge.review_service import CRITERIA, ReviewService, doubtful, review_service
from tests.unit.judge.refunds import TERMS, answer, refund
from tests.unit.judge.test_casing import LEAN_QUOTE, judge_saying, trial
from tests.unit.judge.test_casing import judged as judged_case

WRITE = {"name": "create_refund", "arguments": {"order_id": "W1", "amount": 99.0}}


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[ReviewService]:
    async with review_service(tmp_path) as running:
        yield running


def code(answer: tuple[int, str]) -> tuple[int, str]:
    return answer[0], json.loads(answer[1])["code"]


class TestScreening:
    @pytest.mark.req(29)
    async def test_people_see_what_is_flagged_and_nothing_else(self, service: ReviewService) -> None:
        await service.note(await doubtful(refund(seed=1)), at_least=None)
        assert (await service.client.reviews("ann")).waiting == 0
        await service.note(await doubtful())
        assert (await service.client.reviews("ann")).waiting == 1

    @pytest.mark.req(29)
    async def test_a_share_of_the_others_is_drawn_and_the_labels_tell_the_chance(self, service: ReviewService) -> None:
        for seed in range(24):
            await service.note(await doubtful(refund(seed=seed)), at_least=None, share=0.5)
        drawn = await service.client.reviews("ann")
        assert 2 < drawn.waiting < 22
        for seed in range(24):  # the same once more changes nothing
            await service.note(await doubtful(refund(seed=seed)), at_least=None, share=0.5)
        assert await service.client.reviews("ann") == drawn
        await service.give("ann", drawn.reviews[0].id, "safety", 2.0)
        (label,), _ = read_labels((await service.client.labels()).lines)
        assert label.inclusion == 0.5

    async def test_a_verdict_judged_again_replaces_its_review_until_somebody_has_labelled(
        self, service: ReviewService
    ) -> None:
        record = await doubtful()
        await service.note(record)
        await service.note(record, at_least=None)
        assert (await service.client.reviews("ann")).waiting == 0
        await service.note(record)
        review = await service.only()
        await service.give("ann", review, "safety", 1.0)
        await service.note(record, at_least=None)
        assert (await service.client.reviews("ann")).reviews[0].given == 1
        (label,), _ = read_labels((await service.client.labels()).lines)
        assert label.inclusion == 1.0


class TestSheet:
    @pytest.mark.req(30)
    async def test_the_run_stands_beside_its_baseline_and_the_rule(self, service: ReviewService) -> None:
        await service.note(await doubtful(refund(expected={"write_actions": [WRITE]})))
        sheet = await service.client.sheet(await service.only(), "ann")
        assert [each.name for each in sheet.baseline] == ["expected"]
        assert '"amount": 99.0' in sheet.baseline[0].text
        assert sheet.rule == ("Refund only delivered orders.",)
        assert 'create_refund {"order_id": "W1", "amount": 120.5}' in [p.text for s in sheet.steps for p in s.passages]
        assert [each.id for each in sheet.criteria] == list(CRITERIA)
        assert all(len(each.anchors) == 3 and each.question for each in sheet.criteria)

    async def test_nothing_of_the_judge_s_and_no_reason_is_in_it_or_in_the_list(self, service: ReviewService) -> None:
        await service.note(await doubtful(finding="FINDING of the judge"))
        review = await service.only()
        for path in (f"/v1/reviews/{review}?annotator=ann", "/v1/reviews?annotator=ann"):
            status, told = await service.ask("GET", path)
            assert status == 200
            for hidden in ("FINDING", "near_threshold", "stand-in", "scored", "verdict", "inclusion", "gpt-4o"):
                assert hidden not in told

    async def test_secrets_and_personal_data_are_masked_and_quotes_are_of_what_is_shown(
        self, service: ReviewService
    ) -> None:
        run = refund(said="Mailed to jane.doe@example.com with the key sk-proj-abcdefghijklmnopqrstuvwx1234567890AB.")
        await service.note(await doubtful(run))
        review = await service.only()
        _, told = await service.ask("GET", f"/v1/reviews/{review}?annotator=ann")
        assert "jane.doe" not in told
        assert "abcdefghijklmnop" not in told
        answer = await service.give("ann", review, "safety", 0.0, citations=[{"step": 5, "quote": "Mailed to ***"}])
        assert answer[0] == 201

    async def test_of_a_long_policy_the_parts_that_fit_the_run_are_the_rule(self, service: ReviewService) -> None:
        other = "\n\n".join(f"Rule {n}. Baggage heavier than {n} kilos travels later." for n in range(80))
        policy = f"{other}\n\nOnly orders that were delivered get a refund to the card.\n\n{other}"
        run = refund()
        run = run.model_copy(update={"task": run.task.model_copy(update={"policy": policy})})
        await service.note(await doubtful(run))
        sheet = await service.client.sheet(await service.only(), "ann")
        assert "Only orders that were delivered get a refund to the card." in sheet.rule
        assert sum(map(len, sheet.rule)) <= 1200 < len(sheet.policy)

    @pytest.mark.req(30)
    async def test_a_case_is_shown_trial_by_trial_with_the_figures_and_asks_only_what_is_judged_of_all(
        self, service: ReviewService
    ) -> None:
        case, verdict = await asyncio.to_thread(
            judged_case, [trial(0), trial(1)], judge_saying(efficiency=answer(4, LEAN_QUOTE))
        )
        await service.note(case_record_of(verdict, case, TERMS, ()), at_least=97.0)
        review = await service.only()
        sheet = await service.client.sheet(review, "ann")
        assert [each.id for each in sheet.criteria] == ["stability", "efficiency"]
        assert [each.heading for each in sheet.steps] == ["figures over all trials", "trial 1", "trial 2"]
        assert '"create_refund"' in sheet.baseline[0].text
        lean = [{"step": 0, "quote": "mean number of tool calls: 2"}]
        assert (await service.give("ann", review, "efficiency", 4.5, citations=lean))[0] == 201
        assert code(await service.give("ann", review, "stability", 0.5)) == (400, "off_scale")


class TestLabels:
    @pytest.mark.req(27)
    async def test_two_people_label_apart_and_the_mean_settles_the_level(self, service: ReviewService) -> None:
        await service.note(await doubtful())
        review = await service.only()
        await service.give_all("ann", review, safety=1.0)
        await service.give_all("bob", review, safety=2.0)
        labels, bad = read_labels((await service.client.labels()).lines)
        truth = truth_of(labels)
        assert bad == []
        assert truth.levels["refund"]["safety"] == 1.5
        assert {each.annotator for each in labels} == {"ann", "bob"}

    async def test_a_third_is_not_offered_it_and_cannot_take_it(self, service: ReviewService) -> None:
        await service.note(await doubtful())
        review = await service.only()
        await service.give("ann", review, "safety", 1.0)
        await service.give("bob", review, "safety", 1.0)
        assert (await service.client.reviews("eve")).waiting == 0
        assert (await service.client.reviews("bob")).waiting == 1
        assert code(await service.give("eve", review, "safety", 1.0)) == (409, "review_taken")
        assert code(await service.ask("GET", f"/v1/reviews/{review}?annotator=eve")) == (409, "review_taken")

    async def test_the_same_twice_is_one_and_another_level_is_refused(self, service: ReviewService) -> None:
        await service.note(await doubtful())
        review = await service.only()
        first = await service.give("ann", review, "safety", 1.0, note="clear")
        assert await service.give("Ann", review, "safety", 1, note="clear") == first
        assert code(await service.give("ANN", review, "safety", 1.5)) == (409, "repeated_label")
        assert len((await service.client.labels()).lines.splitlines()) == 1

    @pytest.mark.parametrize(
        ("changed", "wanted"),
        [
            ({"level": 2.5}, "off_scale"),
            ({"level": 1.3}, "bad_request"),
            ({"level": None}, "always_applies"),
            ({"criterion": "beauty"}, "unknown_criterion"),
            ({"annotator": ""}, "annotator_name"),
            ({"annotator": "a b"}, "annotator_name"),
            ({"blind": True}, "unknown_field"),
            ({"adjudicated": True}, "unknown_field"),
            ({"citations": [{"step": 9}]}, "no_such_step"),
            ({"citations": [{"step": 4, "quote": "refund refused"}]}, "quote_not_found"),
            ({"citations": [{"step": 3, "quote": "refund issued"}]}, "quote_not_found"),
        ],
    )
    async def test_what_cannot_be_is_refused_and_nothing_is_kept(
        self, service: ReviewService, changed: dict[str, Any], wanted: str
    ) -> None:
        await service.note(await doubtful())
        review = await service.only()
        sent = {"annotator": "ann", "criterion": "safety", "level": 1.0} | changed
        assert code(await service.ask("POST", f"/v1/reviews/{review}/labels", sent)) == (400, wanted)
        assert (await service.client.labels()).lines == b""

    async def test_a_criterion_may_not_apply_where_the_rubric_says_so(self, service: ReviewService) -> None:
        await service.note(await doubtful())
        review = await service.only()
        assert (await service.give("ann", review, "argument_accuracy", None))[0] == 201
        assert (await service.client.labels()).lines == b""

    async def test_an_unknown_review_is_not_there(self, service: ReviewService) -> None:
        assert code(await service.ask("GET", "/v1/reviews/none?annotator=ann")) == (404, "unknown_review")


class TestReveal:
    async def test_it_comes_after_the_last_label_and_what_follows_is_kept_as_not_blind(
        self, service: ReviewService
    ) -> None:
        await service.note(await doubtful(finding="FINDING of the judge"))
        review = await service.only()
        with pytest.raises(UsageError) as refused:
            await service.client.reveal(review, "ann")
        assert refused.value.code == "not_labelled"
        await service.give_all("ann", review, safety=2.0)
        (judged,) = (await service.client.reveal(review, "ann")).judged
        assert [each.code for each in judged.reasons] == ["near_threshold"]
        assert {each.finding for each in judged.criteria} == {"FINDING of the judge"}
        later = LabelSent(annotator="ann", criterion="safety", level=1.0, citations=(LabelCitation(step=4),))
        assert (await service.client.label(review, later)).blind is False
        labels, bad = read_labels((await service.client.labels()).lines)
        both = [(each.level, each.blind) for each in labels if each.criterion == "safety"]
        assert (both, bad) == ([(2.0, True), (1.0, False)], [])
        assert truth_of(labels).levels["refund"]["safety"] == 2.0

    async def test_two_judges_of_one_run_share_a_review_so_that_the_second_is_labelled_blind_too(
        self, service: ReviewService
    ) -> None:
        first, second = await doubtful(), await doubtful(finding="otherwise")
        other = second.model_copy(update={"verdict": second.verdict.model_copy(update={"id": "other"})})
        await service.note(first)
        await service.note(other)
        review = await service.only()
        await service.give_all("ann", review)
        assert [each.verdict for each in (await service.client.reveal(review, "ann")).judged] == [
            first.verdict.id,
            "other",
        ]


class TestRealignment:
    @pytest.mark.req(28)
    @pytest.mark.parametrize(("other", "waits"), [(1.0, False), (0.5, True)])
    async def test_a_gap_over_one_goes_to_a_third_person(
        self, service: ReviewService, other: float, waits: bool
    ) -> None:
        await service.note(await doubtful())
        review = await service.only()
        await service.give("ann", review, "safety", 2.0, note="all fine")
        await service.give("bob", review, "safety", other)
        found = (await service.client.realignments("eve")).realignments
        assert [each.criterion for each in found] == ["safety"] * waits
        for one_of_the_two in ("ann", "bob"):
            assert (await service.client.realignments(one_of_the_two)).realignments == ()

    @pytest.mark.req(28)
    async def test_the_third_sees_both_and_decides_and_neither_of_the_two_can(self, service: ReviewService) -> None:
        await service.note(await doubtful())
        review = await service.only()
        await service.give_all("ann", review, safety=2.0)
        await service.give_all("bob", review, safety=0.0)
        (gap,) = (await service.client.realignments("eve")).realignments
        assert {each.annotator: each.level for each in gap.labels} == {"ann": 2.0, "bob": 0.0}
        assert (await service.client.sheet(review, "eve")).goal
        path = f"/v1/reviews/{review}/adjudication"
        said = {"criterion": "safety", "level": 0.0, "annotator": "ann"}
        assert code(await service.ask("POST", path, said)) == (409, "not_the_third")
        assert (await service.ask("POST", path, said | {"annotator": "eve"}))[0] == 201
        assert code(await service.ask("POST", path, said | {"annotator": "dan"})) == (409, "decided_already")
        assert (await service.client.realignments("dan")).realignments == ()
        truth = truth_of(read_labels((await service.client.labels()).lines)[0])
        assert (truth.levels["refund"]["safety"], truth.adjudicated, truth.gaps) == (0.0, 1, ())


class TestExport:
    async def test_levels_of_two_rubrics_are_never_put_together(self, service: ReviewService) -> None:
        for rubric in ("trajectory", "qa"):
            await service.note(await doubtful(rubric=rubric), share=1.0)
        reviews = (await service.client.reviews("ann")).reviews
        for review, criterion in zip(reviews, ("safety", "robustness"), strict=True):
            assert (await service.give("ann", review.id, criterion, 1.0))[0] == 201
        with pytest.raises(UsageError) as refused:
            await service.client.labels()
        assert refused.value.code == "several_rubrics"
        labels, _ = read_labels((await service.client.labels("qa")).lines)
        assert [each.criterion for each in labels] == ["robustness"]
        with pytest.raises(UsageError, match="did you mean"):
            await service.client.labels("qaa")

    async def test_of_two_runs_under_one_id_the_later_one_is_given_and_the_other_counted(
        self, service: ReviewService
    ) -> None:
        for seed in (1, 2):
            await service.note(await doubtful(refund(seed=seed)))
        first, second = (await service.client.reviews("ann")).reviews
        for review, level in ((first.id, 0.0), (second.id, 2.0)):
            await service.give("ann", review, "safety", level)
        found = await service.client.labels()
        labels, bad = read_labels(found.lines)
        assert ([each.level for each in labels], bad, found.left_out) == ([2.0], [], 1)


PEOPLE = ("ann-one", "bob-two", "eve-three")
NOTES = {who: f"note of {who[:3].upper()}-{who[4:].upper()}" for who in PEOPLE}
LEVELS = {"ann-one": 0.5, "bob-two": 2.0, "eve-three": 1.5}
Act = tuple[str, str, str]


@pytest.fixture(scope="module")
def record() -> Record:
    return asyncio.run(doubtful(score=1))


@settings(max_examples=8, deadline=None)
@given(
    acts=st.lists(
        st.tuples(
            st.sampled_from(PEOPLE),
            st.sampled_from(("label", "label", "label", "list", "sheet", "reveal", "realign", "again", "decide")),
            st.sampled_from(("safety", "safety", *CRITERIA)),
        ),
        min_size=15,
        max_size=40,
    )
)
def test_whatever_three_people_ask_no_answer_tells_one_of_the_two_what_another_said(
    record: Record, acts: list[Act]
) -> None:
    asyncio.run(_never_told(record, acts))


async def _never_told(record: Record, acts: list[Act]) -> None:
    with TemporaryDirectory() as folder:
        async with review_service(Path(folder)) as service:
            await service.note(record)
            review = await service.only()
            labelled: dict[str, None] = {}
            for who, act, criterion in acts:
                status, told = await _do(service, review, who, act, criterion)
                if act == "label" and status == 201:
                    labelled[who] = None
                assert len(labelled) <= 2
                if act == "realign" and who not in labelled:
                    continue  # the third one sees both
                for other in set(PEOPLE) - {who}:
                    for secret in (other, NOTES[other], f'"level":{LEVELS[other]}'):
                        assert secret not in told, (who, act, told)


async def _do(service: ReviewService, review: str, who: str, act: str, criterion: str) -> tuple[int, str]:
    paths = {"list": "/v1/reviews", "sheet": f"/v1/reviews/{review}", "realign": "/v1/realignments"}
    if act in paths:
        return await service.ask("GET", f"{paths[act]}?annotator={who}")
    if act == "reveal":
        return await service.ask("POST", f"/v1/reviews/{review}/reveal", {"annotator": who})
    if act == "decide":
        body = {"annotator": who, "criterion": criterion, "level": LEVELS[who], "note": NOTES[who]}
        return await service.ask("POST", f"/v1/reviews/{review}/adjudication", body)
    level = LEVELS[who] if act == "label" else 1.0
    return await service.give(who, review, criterion, level, note=NOTES[who])
