"""The linked folders run under one name each, and imports hide nowhere that a reader would not look."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

from tests.support import ROOT

PARTS = ("proxy", "judge", "canary")
SOURCES = sorted(
    path
    for folder in ("proctor", *PARTS)
    for path in (ROOT / folder).glob("**/*.py")
    if not any(parent.is_symlink() for parent in path.parents)
)


@pytest.mark.parametrize("name", ["{part}", "main.{part}", "proctor.{part}_copy", "vendored.proctor.{part}"])
@pytest.mark.parametrize("part", PARTS)
def test_a_part_refuses_every_name_but_its_own(part: str, name: str) -> None:
    wrong = name.format(part=part)
    spec = importlib.util.spec_from_file_location(wrong, ROOT / part / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    with pytest.raises(ImportError, match=f"import proctor.{part}, not {wrong}"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_import_is_relative_or_made_of_strings_outside_four_known_places(
    source: Path,
) -> None:
    """Else the rules on directions, which are read off the imports, would not see it."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    relative = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
    by_string = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in {"importlib.import_module", "import_module", "__import__"}
    ]
    assert not relative
    known = (
        "proctor/agents/python_child.py",
        "proctor/cli/lazy.py",
        "proctor/redaction/own_function.py",
        "proctor/world/loading.py",
    )
    assert not by_string or str(source).endswith(known)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_public_methods_of_public_classes_are_explained(source: Path) -> None:
    bare = [
        f"{owner.name}.{node.name}"
        for owner in ast.parse(source.read_text(encoding="utf-8")).body
        if isinstance(owner, ast.ClassDef) and not owner.name.startswith("_")
        for node in owner.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
        and ast.get_docstring(node) is None
    ]
    assert not bare
