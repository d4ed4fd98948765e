"""docs/review.md: its commands are typed in order, and its tables name all that there is."""

from __future__ import annotations

import asyncio
import re
import shlex
import sys
from typing import get_args

from proctor.review_wire import ReasonCode
from tests.docs.test_commands_in_docs import commands_of
from tests.support import ROOT, Project, clean_environment
from tests.unit.judge.refunds import refund

PAGE = (ROOT / "docs" / "review.md").read_text(encoding="utf-8")
TYPED = {
    "proctor review --as ann": "2\n4\n\n" * 5,
    "proctor review --as bob": "0\n4 refund issued\nnot so\n" + "2\n\n\n" * 4 + "\n",
    "proctor review realign --as eve": "1\n4\n\n",
}
"""What a person types at those that ask."""


async def test_the_commands_work_in_order_from_a_verdict_to_a_measured_agreement(project: Project) -> None:
    run = refund(llm="stand-in")
    (project.root / "runs.jsonl").write_text(run.model_dump_json() + "\n", encoding="utf-8")
    told = {}
    for command in commands_of("docs/review.md"):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", *shlex.split(command)),
            cwd=project.root,
            env=clean_environment(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate(TYPED.get(command, "").encode())
        assert process.returncode == 0, f"$ {command}\n{out.decode()}{err.decode()}"
        told[command] = out.decode()
    assert "1 wait for ann" in told["proctor review list --as ann"]
    assert "5 labels given" in told["proctor review --as bob"]
    assert "a level is settled for 5 pairs" in told["proctor judge calibrate labels.jsonl"]


def test_every_reason_is_explained() -> None:
    rows = "\n".join(line for line in PAGE.splitlines() if line.startswith("| `"))
    assert set(get_args(ReasonCode)) <= set(re.findall(r"`(\w+)`", rows))
