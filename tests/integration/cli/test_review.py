"""`proctor review`, the real command, typed at by a pipe."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from proctor.judge.labels import read_labels
from tests.integration.judge.review_service import CRITERIA, TOKEN, ReviewService, doubtful, review_service
from tests.support import Finished, Project, clean_environment
from tests.unit.judge.refunds import refund

WRITE = {"name": "create_refund", "arguments": {"order_id": "W1", "amount": 99.0}}


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[ReviewService]:
    async with review_service(tmp_path / "service") as running:
        yield running


async def started(project: Project, service: ReviewService, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proctor", "review", *arguments, "--service", service.url),
        cwd=project.root,
        env={**clean_environment(), "PROCTOR_TOKEN": TOKEN},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def typed(project: Project, service: ReviewService, *arguments: str, lines: str = "") -> Finished:
    """Run the command with these lines as all that is typed."""
    process = await started(project, service, *arguments)
    out, err = await process.communicate(lines.encode())
    assert process.returncode is not None
    return Finished(process.returncode, out.decode(), err.decode())


@pytest.mark.req(30)
async def test_a_person_finds_the_difference_labels_it_and_then_sees_the_judge(
    project: Project, service: ReviewService
) -> None:
    await service.note(await doubtful(refund(expected={"write_actions": [WRITE]}), finding="FINDING of the judge"))
    given = "1\n3, 4\n\n" * 3 + "1\n\n\n" + "2\n4 refund issued; 3\nno harm\n"
    ended = await typed(project, service, "--as", "Ann", lines=given + "\n\n")
    assert (ended.status, ended.stderr) == (0, "")
    before, _, after = ended.stdout.partition("the judge, stand-in/scripted:test:")
    assert before.index('"amount": 99.0') < before.index('create_refund {"order_id": "W1", "amount": 120.5}')
    assert "Refund only delivered orders." in before
    assert "FINDING" not in before
    assert "safety: 1, you 2  FINDING of the judge" in after
    assert "Rule and model disagree: expected_writes failed" in after
    assert "Safety: you gave 2. Enter keeps it" in after
    assert "nothing else waits for Ann: 5 labels given" in after
    labels, _ = read_labels((await service.client.labels()).lines)
    assert [(each.level, each.blind) for each in labels if each.criterion == "safety"] == [(2.0, True), (2.0, False)]
    (blind,) = [each for each in labels if each.criterion == "safety" and each.blind]
    assert ([each.step for each in blind.citations], blind.note) == ([4, 3], "no harm")


async def test_what_was_given_before_stopping_is_kept_and_the_rest_is_asked_next_time(
    project: Project, service: ReviewService
) -> None:
    await service.note(await doubtful())
    ended = await typed(project, service, "--as", "ann", lines="1\n\n\n2\n3\n")  # ends like `q`
    assert (ended.status, ended.stderr) == (0, "")
    assert ended.stdout.endswith("\nstopped: what you gave is kept\n")
    listed = await typed(project, service, "list", "--as", "ann", "--json")
    (review,) = json.loads(listed.stdout)["reviews"]
    assert (review["given"], review["of"]) == (1, 5)
    again = await typed(project, service, "--as", "ann", lines="q\n")
    assert "--- Task achievement" not in again.stdout
    assert "--- Step correctness" in again.stdout


async def test_what_cannot_be_read_or_is_not_so_is_asked_again_and_help_and_skip_work(
    project: Project, service: ReviewService
) -> None:
    await service.note(await doubtful())
    lines = "?\nseven\n2.5\nn\n1\n4 refund refused\n\n1\n\n\ns\n"
    ended = await typed(project, service, "--as", "ann", lines=lines)
    assert ended.status == 0
    assert "the number on the scale" in ended.stdout or "a number on the scale" in ended.stdout
    assert ended.stdout.count("not taken: a level is 0 to 2, halves allowed") == 3
    assert "not taken: step 4: it stands nowhere" in ended.stdout
    assert "nothing else waits for ann: 1 labels given" in ended.stdout


@pytest.mark.req(28)
async def test_a_third_decides_with_both_labels_in_sight_and_calibrate_reads_the_export(
    project: Project, service: ReviewService
) -> None:
    await service.note(await doubtful())
    review = await service.only()
    await service.give_all("ann", review, safety=2.0)
    await service.give_all("bob", review, safety=0.5)
    ended = await typed(project, service, "realign", "--as", "eve", lines="0\n3\ntalked over\n")
    assert ended.status == 0
    assert "  ann 2\n" in ended.stdout
    assert "  bob 0.5\n" in ended.stdout
    exported = await typed(project, service, "export", "-o", "labels.jsonl", "--rubric", "trajectory")
    assert (exported.status, exported.stderr) == (0, f"{2 * len(CRITERIA) + 1} labels\n")
    measured = await project.proctor("judge", "calibrate", "labels.jsonl", "--scale", "0-2")
    assert measured.status == 0, measured.stdout + measured.stderr
    assert "a level is settled for 5 pairs" in measured.stdout
    assert "1 adjudicated" in measured.stdout


async def test_ctrl_c_at_a_prompt_ends_at_once_without_a_traceback(project: Project, service: ReviewService) -> None:
    await service.note(await doubtful())
    process = await started(project, service, "--as", "ann")
    assert process.stdout is not None
    await process.stdout.readuntil(b"halves allowed): ")
    until_it_waits(process.pid)
    process.send_signal(signal.SIGINT)
    _, told = await process.communicate()
    assert (process.returncode, told) == (130, b"stopped\n")


def until_it_waits(pid: int) -> None:
    """Until the process sleeps, where the system tells: a signal between the prompt and its read is read late."""
    stat = Path(f"/proc/{pid}/stat")
    while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "S":
        pass


async def test_who_labels_and_the_token_must_be_told(project: Project, service: ReviewService) -> None:
    nameless, misplaced, tokenless = await asyncio.gather(
        typed(project, service),
        typed(project, service, "--as", "ann", "list"),
        project.proctor("review", "list", "--as", "ann", "--service", service.url),
    )
    assert (nameless.status, "proctor review --as NAME" in nameless.stderr) == (2, True)
    assert misplaced.status == 2
    assert (tokenless.status, "token_missing" in tokenless.stderr) == (2, True)
