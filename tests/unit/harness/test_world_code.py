"""What a world can be made of: any module of the project, and the data in its own folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.errors import WorldError
from proctor.harness.world_code import installed, world_code

FILES = (
    "shop/world.py",
    "shop/catalog.json",
    "shop/deep/prices.csv",
    "rules.py",
    "far/away/lazy.py",
    "README.md",
    "suites/shop.yaml",
    ".proctor/runs.db",
    ".hidden/mod.py",
    "node_modules/x.py",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a world in a folder of its own."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    return tmp_path


def changes(root: Path, name: str, reference: str = "shop.world:Shop") -> bool:
    """Whether another content of a file is another code of the world."""
    before = world_code(root, [reference])
    (root / name).write_text("changed", encoding="utf-8")
    return world_code(root, [reference]) != before


@pytest.mark.req(209)
@pytest.mark.parametrize("name", ["shop/world.py", "rules.py", "far/away/lazy.py", "shop/catalog.json"])
def test_any_module_of_the_project_counts_whether_it_is_imported_yet_or_not(root: Path, name: str) -> None:
    assert changes(root, name)


def test_data_below_the_world_s_own_folder_counts_at_any_depth(root: Path) -> None:
    assert changes(root, "shop/deep/prices.csv")


@pytest.mark.parametrize(
    "name", ["README.md", "suites/shop.yaml", ".proctor/runs.db", ".hidden/mod.py", "node_modules/x.py"]
)
def test_other_files_do_not_count(root: Path, name: str) -> None:
    assert not changes(root, name)


def test_of_a_world_in_the_project_s_own_folder_the_modules_count_and_no_data(root: Path) -> None:
    assert changes(root, "far/away/lazy.py", "rules:Rules")
    assert not changes(root, "shop/catalog.json", "rules:Rules")


def test_a_new_module_and_one_that_is_gone_count(root: Path) -> None:
    before = world_code(root, ["rules:Rules"])
    (root / "new.py").write_text("", encoding="utf-8")
    more = world_code(root, ["rules:Rules"])
    (root / "far" / "away" / "lazy.py").unlink()
    assert len({before, more, world_code(root, ["rules:Rules"])}) == 3


def test_modules_behind_a_link_count(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "lib.py").write_text("one", encoding="utf-8")
    (root / "linked").symlink_to(outside)
    before = world_code(root, ["rules:Rules"])
    (outside / "lib.py").write_text("two", encoding="utf-8")
    assert world_code(root, ["rules:Rules"]) != before


def test_without_worlds_there_is_none_and_one_that_is_not_there_is_an_error(root: Path) -> None:
    assert world_code(root, []) == ""
    with pytest.raises(WorldError) as caught:
        world_code(root, ["nosuch:World"])
    assert caught.value.code == "world_missing"


def test_what_is_installed_is_told_alike_each_time() -> None:
    assert installed() == installed()
    assert len(installed()) == 64
