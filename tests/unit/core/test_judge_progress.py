"""The last lines of `proctor judge run`: which limit stood in the way."""

from __future__ import annotations

import pytest

from proctor.cli.judge_progress import Progress
from proctor.judge_wire import VerdictAnswer, VerdictCame
from proctor.wire import ErrorAnswer


@pytest.mark.parametrize(("code", "told"), [("budget_batch", True), ("budget_day", False), ("price_unknown", False)])
def test_only_a_batch_s_own_limit_is_told_as_max_cost(
    code: str, told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress(1)
    error = ErrorAnswer(code=code, message="the call was not made")
    progress.judged(VerdictCame(place=0, answer=VerdictAnswer(id="1", trajectory="a", state="refused", error=error)))
    progress.whole(2.5)
    assert ("--max-cost 2.5 is reached" in capsys.readouterr().err) == told
