"""The load knows its own verdicts from any other."""

from __future__ import annotations

from proctor.judge.inquiry import Inquiry, Terms
from proctor.judge.judging import judge
from proctor.judge.stand_ins import stand_in
from proctor.judge_wire import VerdictAnswer
from proctor.rubric_file import shipped_rubric
from proctor.trajectory import Trajectory
from tools.service_load import MODEL, RUBRIC, mixed, run


async def answered(sent: Trajectory) -> VerdictAnswer:
    terms = Terms(bytes(32), lambda text: len(text) // 4)
    verdict = await judge(Inquiry(sent, shipped_rubric(RUBRIC)), stand_in(MODEL), terms)
    return VerdictAnswer(id=verdict.id, trajectory=sent.id, state="done", verdict=verdict)


async def test_a_verdict_on_another_run_is_told_by_id_by_content_and_by_its_quotes() -> None:
    mine = await answered(run(1))
    other = await answered(run(2).model_copy(update={"id": run(1).id}))
    assert mine.verdict is not None
    assert other.verdict is not None
    quoting = mine.verdict.model_copy(update={"criteria": other.verdict.criteria})
    assert mixed(1, run(1), mine) == ""
    assert "the verdict" in mixed(2, run(2), mine)
    assert "another content" in mixed(1, run(1), other)
    assert "not what is quoted" in mixed(1, run(1), mine.model_copy(update={"verdict": quoting}))
    assert "no verdict, queued" in mixed(1, run(1), VerdictAnswer(id="x", trajectory="run-1", state="queued"))
