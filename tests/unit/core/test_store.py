"""The SQLite store: what is told to be kept is kept, together and apart from what fails."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlite_utils import Database

from proctor.errors import StoreError
from proctor.store import Store


def make(database: Database) -> None:
    database.execute("CREATE TABLE kept (name TEXT PRIMARY KEY)")


def keep(name: str) -> Callable[[Database], str]:
    def work(database: Database) -> str:
        database.execute("INSERT INTO kept VALUES (?)", (name,))
        if name == "bad":
            raise ValueError(name)
        return name

    return work


def second(database: Database) -> None:
    keep("second")(database)


def names(database: Database) -> list[str]:
    return [row[0] for row in database.execute("SELECT name FROM kept ORDER BY rowid").fetchall()]


async def test_what_was_written_is_in_the_file_when_the_call_returns(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "deep" / "x.db", [make])
    await store.run(keep("a"))
    with sqlite3.connect(tmp_path / "deep" / "x.db") as other:
        assert other.execute("SELECT name FROM kept").fetchall() == [("a",)]
    other.close()
    await store.close()
    assert (tmp_path / "deep" / "x.db").stat().st_mode & 0o777 == 0o600


async def test_work_that_fails_is_undone_alone_among_others_of_its_transaction(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "x.db", [make])
    done = await asyncio.gather(
        *(store.run(keep(name)) for name in ("a", "bad", "b", "a", "c")), return_exceptions=True
    )
    assert [type(each).__name__ for each in done] == ["str", "ValueError", "str", "IntegrityError", "str"]
    assert await store.run(names) == ["a", "b", "c"]
    await store.close()


async def test_closing_finishes_what_was_asked_for_before_it(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "x.db", [make])
    asked = [asyncio.ensure_future(store.run(keep(str(number)))) for number in range(500)]
    await asyncio.sleep(0)
    await store.close()
    assert [await each for each in asked] == [str(number) for number in range(500)]
    with pytest.raises(StoreError, match="is closed"):
        await store.run(names)


async def test_work_goes_on_when_whoever_waited_for_it_was_cancelled(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "x.db", [make])
    asked = asyncio.ensure_future(store.run(keep("a")))
    await asyncio.sleep(0)
    asked.cancel()
    assert await store.run(names) == ["a"]
    await store.close()


async def test_steps_are_applied_once_and_a_newer_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    await (await Store.open(path, [make])).close()
    store = await Store.open(path, [make, second])
    assert await store.run(names) == ["second"]
    await store.close()
    with pytest.raises(StoreError) as refused:
        await Store.open(path, [make])
    assert (refused.value.code, "step 2; this one knows 1" in refused.value.message) == ("store_newer", True)


async def test_a_step_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "x.db"

    def half(database: Database) -> None:
        make(database)
        raise RuntimeError("half")

    with pytest.raises(RuntimeError, match="half"):
        await Store.open(path, [half])
    store = await Store.open(path, [make])
    assert await store.run(names) == []
    await store.close()


async def test_a_file_that_is_no_database_and_a_folder_that_cannot_be_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError) as damaged:
        await Store.open(path, [make])
    assert damaged.value.code == "store_damaged"
    with pytest.raises(StoreError) as unwritable:
        await Store.open(path / "below" / "x.db", [make])
    assert unwritable.value.code == "not_writable"


async def test_a_full_disk_fails_all_that_was_to_be_committed_with_it(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "x.db", [make])
    await store.run(keep("before"))
    await store.run(lambda database: database.execute("PRAGMA max_page_count = 12").fetchall())
    done = await asyncio.gather(
        *(store.run(keep(str(number) * 400)) for number in range(100, 160)), return_exceptions=True
    )
    kept = {each for each in done if isinstance(each, str)}
    codes = {getattr(each, "code", "") for each in done}
    assert "not_writable" in codes
    assert set(await store.run(names)) == {"before", *kept}, "told as kept if and only if it is"
    await store.close()
