"""Where a tape cannot be written or read, that is said by name, before the agent runs; the old tape stays."""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from proctor.cassette import check_place, load_cassette, save_cassette
from proctor.errors import CassetteUnwritable, UsageError
from proctor.paths import Layout
from tests.integration.cli.support import Desk, error_of, kept, record, replay
from tests.support import Project, services, serving, session

ASK = 'open("ran", "w").close(); call(DESK + "/a")'
NOBODY = 65534


async def recorded(project: Project, source: str = ASK, tape: str = "t") -> bytes:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        assert (await record(project, source, tape=tape)).status == 0
    (project.root / "ran").unlink(missing_ok=True)
    return project.layout.cassette(tape).read_bytes()


def exchanged(project: Project, tape: str) -> list[tuple[str, str, int, bytes]]:
    """What a tape holds of its exchanges, without times, ports and dates."""
    return [
        (each.request.method, each.request.target, each.response.status, each.response.body)
        for each in project.tape(tape).interactions
    ]


def assert_never_run(project: Project) -> None:
    assert not (project.root / "ran").exists()
    assert not any(path.startswith(".proctor/journals") for path in kept(project))


RECORDING_TWICE = """
import subprocess
command = [sys.executable, "-m", "proctor", "record", "--cassette", "t", "--json", "--", "touch", "ran"]
done = subprocess.run(command, capture_output=True, text=True)
print(done.stdout)
call(DESK + "/a")
"""


async def test_a_second_recorder_of_a_tape_is_refused_and_the_first_goes_on(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        ended = await record(project, RECORDING_TWICE)
    assert '"code": "cassette_busy"' in ended.stdout
    assert "tape t is being written by the recording of session " in ended.stdout
    assert (ended.status, kept(project)) == (0, ["cassettes/t.yaml"])
    assert_never_run(project)


async def test_a_tape_that_is_being_recorded_is_neither_sealed_again_nor_accepted(project: Project) -> None:
    await recorded(project)
    project.layout.aside.mkdir(parents=True)
    shutil.copy(project.layout.cassette("t"), project.layout.aside / "t.yaml")
    async with session(project, "t"):
        for command in ("seal", "accept"):
            ended = await project.proctor("cassette", command, "t", "--json")
            assert (ended.status, error_of(ended)["code"]) == (2, "cassette_busy")


async def test_the_lock_goes_with_its_holder(project: Project) -> None:
    await recorded(project)
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as first:
            await first.close()
        await recorded(project)


async def test_a_tape_that_a_link_leads_out_of_the_project_is_neither_read_nor_written(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    old = await recorded(project)
    outside = tmp_path_factory.mktemp("outside")
    shutil.move(project.layout.cassettes / "t.yaml", outside / "t.yaml")
    shutil.rmtree(project.layout.cassettes)
    project.layout.cassettes.symlink_to(outside)
    for run in (record, replay):
        ended = await run(project, ASK)
        error = error_of(ended)
        assert (ended.status, error["code"]) == (2, "cassette_outside")
        assert str(outside / "t.yaml") in error["message"]
        assert_never_run(project)
    assert (outside / "t.yaml").read_bytes() == old


async def test_a_link_that_stays_in_the_project_is_followed_and_kept(project: Project) -> None:
    await recorded(project)
    real = project.root / "fixtures"
    shutil.move(project.layout.cassettes, real)
    project.layout.cassettes.symlink_to(real)
    await recorded(project)
    assert project.layout.cassettes.is_symlink()
    assert len(project.tape("t").interactions) == 1
    (real / "other.yaml").symlink_to(real / "t.yaml")
    await recorded(project, tape="other")
    assert (real / "other.yaml").is_symlink()


async def test_a_link_in_a_circle_is_named(project: Project) -> None:
    await recorded(project)
    path = project.layout.cassette("round")
    path.symlink_to(path)
    ended = await replay(project, ASK, tape="round")
    assert (ended.status, error_of(ended)["code"]) == (2, "cassette_link")


async def test_a_missing_folder_is_made_by_recording_and_named_in_replay(project: Project) -> None:
    await recorded(project, tape="deep/down/t")
    old = exchanged(project, "deep/down/t")
    shutil.rmtree(project.layout.cassettes)
    ended = await replay(project, ASK, tape="deep/down/t")
    assert (ended.status, error_of(ended)["code"]) == (2, "cassette_missing")
    await recorded(project, tape="deep/down/t")
    assert exchanged(project, "deep/down/t") == old
    assert len(old) == 1


async def test_a_folder_where_the_tape_should_be_is_named(project: Project) -> None:
    await recorded(project)
    project.layout.cassette("there").mkdir()
    for run in (record, replay):
        ended = await run(project, ASK, tape="there")
        assert (ended.status, error_of(ended)["code"]) == (2, "cassette_is_folder")
        assert_never_run(project)


@pytest.mark.parametrize("name", ["../t", "/etc/t", "a/../../t", "..", ".hidden", "a//t", "a\nb", "t\0", "x" * 300])
def test_a_name_that_climbs_out_or_hides_is_refused(tmp_path: Path, name: str) -> None:
    for place in (Layout(tmp_path).cassette, Layout(tmp_path).confined_cassette, Layout(tmp_path).lock):
        with pytest.raises(UsageError) as caught:
            place(name)
        assert caught.value.code == "cassette_name"


@contextmanager
def without_root() -> Iterator[None]:
    """Root may write anywhere: for a while, be somebody who may not."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A project that everybody may enter, unlike pytest's own folders."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder.resolve()
    shutil.rmtree(folder)


async def test_a_folder_that_takes_no_file_is_named_before_the_run_and_the_old_tape_stays(
    project: Project, open_folder: Path
) -> None:
    old = await recorded(project)
    layout = Layout(open_folder)
    layout.cassettes.mkdir()
    # This imports vcrpy, lazily: not possible any more as somebody who may not read the folder in which Python lies.
    save_cassette(layout.cassette("t"), project.tape("t"))
    for path in (layout.cassette("t"), layout.cassettes):
        path.chmod(0o555 if path.is_dir() else 0o444)
    with without_root():
        with pytest.raises(CassetteUnwritable, match=r"takes no file, so .* could not be written: Permission denied"):
            check_place(layout, "t")
        with pytest.raises(CassetteUnwritable, match="cannot be written: Permission denied"):
            save_cassette(layout.cassette("t"), load_cassette(layout, "t"))
    layout.cassettes.chmod(0o755)
    assert [path.name for path in layout.cassettes.iterdir()] == ["t.yaml"]
    assert layout.cassette("t").read_bytes() == old


async def test_a_disk_that_fills_up_while_sealing_keeps_the_old_tape_and_the_journal(project: Project) -> None:
    old = await recorded(project)
    layout = project.layout
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with session(project, "t") as run:
            async with run.http.post(run.url("desk", "/a"), data=b"x" * 5000) as answer:
                await answer.read()
            with full_disk(6000):
                summary = await run.close()
    assert [error.code for error in summary.errors] == ["seal_failed"]
    assert "File too large" in summary.errors[0].message
    assert layout.cassette("t").read_bytes() == old
    assert [path for path in kept(project) if "journals" not in path] == ["cassettes/t.yaml"]
    recovered = await project.proctor("cassette", "recover")
    assert (recovered.status, len(project.tape("t").interactions)) == (0, 1)


@contextmanager
def full_disk(largest: int) -> Iterator[None]:
    """No file of this process may grow past `largest` bytes, as on a disk that has no more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
