"""Which agent was tested: what is told of it, and the content of its sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proctor.config import AgentConfig
from proctor.errors import ConfigError
from proctor.harness.agent_version import agent_version
from proctor.harness.source_files import named_files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with an agent of three files, and a folder outside of it."""
    for name in ("project/agent/main.py", "project/agent/tools/refund.py", "project/agent/prompt.txt", "other/lib.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return tmp_path / "project"


def version(root: Path, environ: dict[str, str] | None = None, **said: Any) -> str:
    return agent_version(AgentConfig.model_validate(said), root, environ or {})


def refused(root: Path, **said: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        version(root, **said)
    return caught.value


def test_it_is_the_version_as_told_or_as_its_variable_holds_it(root: Path) -> None:
    assert version(root) == ""
    assert version(root, version="1.4.2") == "1.4.2"
    assert version(root, {"SHA": " 3f9c \n"}, version="env:SHA") == "3f9c"


@pytest.mark.parametrize("environ", [{}, {"SHA": ""}, {"SHA": " "}])
def test_a_variable_that_is_not_set_is_an_error_and_no_empty_version(root: Path, environ: dict[str, str]) -> None:
    with pytest.raises(ConfigError) as caught:
        version(root, environ, version="env:SHA")
    assert caught.value.code == "agent_version_unset"
    assert "export SHA=" in caught.value.fix


def test_sources_add_a_digest_of_their_paths_and_contents(root: Path) -> None:
    first = version(root, version="1.4.2", sources=["agent/**"])
    told, _, digest = first.partition("+")
    assert (told, len(digest)) == ("1.4.2", 12)
    assert version(root, sources=["agent/**"]) == digest
    assert version(root, sources=["agent/*.txt", "agent/**/*.py"]) == digest, "however the same files are named"
    (root / "agent" / "tools" / "refund.py").write_text("changed", encoding="utf-8")
    changed = version(root, sources=["agent/**"])
    (root / "agent" / "tools" / "refund.py").rename(root / "agent" / "refund.py")
    assert len({digest, changed, version(root, sources=["agent/**"])}) == 3, "a file that moved is another version"


def test_compiled_files_do_not_count(root: Path) -> None:
    before = version(root, sources=["agent/**"])
    (root / "agent" / "__pycache__").mkdir()
    (root / "agent" / "__pycache__" / "main.pyc").write_bytes(b"made of main.py")
    assert version(root, sources=["agent/**"]) == before


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("nosuch/*.py", "source_missing"),
        ("agent/nosuch.py", "source_missing"),
        ("", "source_missing"),
        ("agent/\0", "source_missing"),
        ("../other/lib.py", "source_outside"),
        ("agent/../../other/*", "source_outside"),
        ("/etc/hosts", "source_outside"),
    ],
)
def test_a_pattern_without_a_file_and_one_that_leads_out_are_errors(root: Path, pattern: str, code: str) -> None:
    assert refused(root, sources=["agent/main.py", pattern]).code == code


def test_a_folder_is_no_file_and_the_fix_says_how_to_name_what_is_in_it(root: Path) -> None:
    error = refused(root, sources=["agent/"])
    assert (error.code, '"agent/**"' in error.fix) == ("source_missing", True)


@pytest.mark.parametrize("target", ["lib.py", ""])
def test_a_link_out_of_the_project_is_refused(root: Path, target: str) -> None:
    (root / "agent" / "linked").symlink_to(root.parent / "other" / target)
    assert refused(root, sources=["agent/**"]).code == "source_outside"


def test_what_a_link_within_the_project_leads_to_counts(root: Path) -> None:
    (root / "shared").mkdir()
    (root / "shared" / "rules.txt").write_text("14 days", encoding="utf-8")
    (root / "agent" / "linked").symlink_to(root / "shared")
    before = version(root, sources=["agent/**"])
    (root / "shared" / "rules.txt").write_text("30 days", encoding="utf-8")
    assert version(root, sources=["agent/**"]) != before


def test_links_in_circles_end_and_change_nothing(root: Path) -> None:
    before = version(root, sources=["agent/**"])
    for name in ("one", "two", "three"):
        (root / "agent" / name).symlink_to(root / "agent")
    assert version(root, sources=["agent/**"]) == before


def test_hidden_files_count_where_a_pattern_names_them(root: Path) -> None:
    (root / "agent" / ".rules").write_text("hidden", encoding="utf-8")
    assert version(root, sources=["agent/**", "agent/.rules"]) != version(root, sources=["agent/**"])


def test_what_is_installed_beside_an_agent_does_not_count(root: Path) -> None:
    before = version(root, sources=["agent/**"])
    for name in ("node_modules/left-pad/index.js", "venv/pyvenv.cfg", "venv/lib/site.py"):
        (root / "agent" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "agent" / name).write_text("", encoding="utf-8")
    assert version(root, sources=["agent/**"]) == before


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("agent/*", ["agent/main.py", "agent/prompt.txt"]),
        ("./agent/m*.py", ["agent/main.py"]),
        ("**/*.py", ["agent/main.py", "agent/tools/refund.py"]),
        ("**/tools/**", ["agent/tools/refund.py"]),
        ("*/*/*", ["agent/tools/refund.py"]),
        ("agent/[mp]*", ["agent/main.py", "agent/prompt.txt"]),
    ],
)
def test_patterns_read_as_globs_do(root: Path, pattern: str, files: list[str]) -> None:
    assert sorted(named_files([pattern], root)) == files
