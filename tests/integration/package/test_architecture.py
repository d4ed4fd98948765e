"""The shape of the house, read off its imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import ROOT

PARTS = ("proxy", "judge", "canary")
HEAVY = {
    "vcr": {"proctor/vcrpy_tapes.py"},
    "sqlite_utils": {"proctor/store.py"},
    "litellm": {"proctor/model.py"},
    "tiktoken": {"proctor/tokens.py"},
    "tomlkit": {"proctor/config_edit.py"},
}
SOURCES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("proctor", *PARTS)
    for path in (ROOT / folder).glob("**/*.py")
    if not any(parent.is_symlink() for parent in path.parents)
)
RANKS = (
    {"errors", "presets", "toml_file", "upstream_config", "service_config", "config", "last_seen"},
    {
        "interaction",
        "encoding",
        "canonical",
        "matchkey",
        "credentials",
        "effects",
        "paths",
        "pieces",
        "trace",
        "wire",
        "diff",
        "json_spans",
        "trajectory",
        "events",
        "check",
        "rubric",
        "rubric_lint",
        "rubric_wording",
        "vendor_table",
        "vendors",
        "scoring",
        "case_scoring",
        "verdict",
        "judge_wire",
        "review_wire",
        "model_call",
        "model_gate",
        "tokens",
        "prices",
        "model_ways",
        "model_failures",
        "tool_calls",
        "placeholders",
        "proposing",
        "overlay",
        "fault_plan",
        "fault_text",
        "fault_file",
        "fault_schedule",
        "fault_told",
        "json_patch",
        "forgiving",
        "bindings",
    },
    {
        "summary",
        "stamp",
        "launch",
        "loading",
        "replacing",
        "effect_table",
        "http_client",
        "misfits",
        "http_server",
        "listening",
        "review_client",
        "rubric_file",
        "plain_yaml",
        "plain_shape",
        "model",
        "model_chat",
        "model_route",
        "store",
        "folder_lock",
        "prometheus",
    },
    {"tape_yaml", "tape_seal", "tape_format", "tape_bodies", "tape_cache", "tape_lock", "vcrpy_tapes"},
    {
        "config_edit",
        "cassette",
        "vcrpy_services",
        "journal",
        "identities",
        "earlier",
        "redacted_trace",
        "client",
        "judge_client",
    },
    {
        "tape_text",
        "tape_reading",
        "tape_readings",
        "tape_alignment",
        "renumbering",
        "tape_changes",
        "tape_diff",
        "tape_masking",
        "tape_outline",
        "tape_mixes",
    },
    {"retries", "extending", "sealing", "resealing", "again", "learning"},
)
"""The core, from what nothing depends on to what depends on most: imports go down, or stay within a rank."""


def imports_of(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse((ROOT / source).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rank_of(module: str) -> int | None:
    return next((rank for rank, names in enumerate(RANKS) if module in names), None)


def test_every_module_of_the_core_has_a_rank() -> None:
    core = {Path(s).stem for s in SOURCES if s.startswith("proctor/") and s.count("/") == 1}
    assert core - {"__init__", "__main__"} == set().union(*RANKS)


@pytest.mark.parametrize("source", [s for s in SOURCES if s.startswith("proctor/") and s.count("/") == 1])
def test_the_core_imports_downwards_and_never_a_part(source: str) -> None:
    rank = rank_of(Path(source).stem)
    for imported in imports_of(source):
        names = imported.split(".")
        if names[0] != "proctor" or source == "proctor/__main__.py":
            continue
        assert names[1] not in (*PARTS, "cli"), f"{source} imports {imported}"
        below = rank_of(names[1])
        assert rank is None or below is None or below <= rank, f"{source} imports {imported}, which stands above it"


@pytest.mark.parametrize("source", [s for s in SOURCES if s.startswith(("proctor/matching/", "proctor/checks/"))])
def test_matching_and_checks_are_values_and_rules_without_files_or_clocks(source: str) -> None:
    imported = [name.split(".") for name in imports_of(source)]
    assert not [name for name in imported if name[0] in ("os", "pathlib", "time", "random", "socket", "subprocess")]
    own = {name[1] for name in imported if name[0] == "proctor"}
    assert own.isdisjoint({*PARTS, "cli", *set().union(*RANKS[2:])})
    assert source.startswith("proctor/checks/") or "checks" not in own


@pytest.mark.parametrize("source", [s for s in SOURCES if s.startswith("proctor/world/")])
def test_worlds_stand_alone_without_a_clock_and_without_http(source: str) -> None:
    imported = [name.split(".") for name in imports_of(source)]
    assert not [name for name in imported if name[0] in ("aiohttp", "time", "secrets")]
    assert {name[1] for name in imported if name[0] == "proctor"} <= {"errors", "effects", "world"}


@pytest.mark.req(140)
@pytest.mark.parametrize("source", [s for s in SOURCES if s.startswith((*PARTS, "proctor/harness/"))])
def test_a_part_never_imports_another_part_or_the_command_line(source: str) -> None:
    own = "harness" if source.startswith("proctor/harness/") else source.split("/")[0]
    others = {*PARTS, "harness", "cli"} - {own}
    bad = [name for name in imports_of(source) if name.startswith("proctor.") and name.split(".")[1] in others]
    assert not bad


@pytest.mark.parametrize("library", HEAVY)
def test_a_heavy_library_is_imported_in_one_module_and_lazily(library: str) -> None:
    for source in SOURCES:
        if any(name.split(".")[0] == library for name in imports_of(source)):
            assert source in HEAVY[library]
            top = ast.parse((ROOT / source).read_text(encoding="utf-8")).body
            named = [getattr(node, "module", None) or "" for node in top if isinstance(node, ast.ImportFrom)]
            assert not any(name.split(".")[0] == library for name in named), f"{source} imports {library} at its top"


@pytest.mark.parametrize("source", SOURCES)
def test_modules_and_functions_are_short_and_public_ones_explained(source: str) -> None:
    text = (ROOT / source).read_text(encoding="utf-8")
    assert text.count("\n") <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 60, f"{source}: {node.name} is long"
    public = [
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_")
    ]
    assert [node.name for node in public if ast.get_docstring(node) is None] == []


def test_the_links_to_the_parts_are_relative() -> None:
    for name in (*PARTS, "rubrics"):
        link = ROOT / "proctor" / name
        assert link.is_symlink()
        assert link.readlink() == Path("..") / name
