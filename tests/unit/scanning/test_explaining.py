"""Which rule decides: to try rules of one's own on a tape that is there already."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.scanning.rules import project_rules
from proctor.scanning.tape import scan_tape
from tests.unit.scanning.tapes import KEY, SECRET, item, tape


def decided(body: Any, root: Path = Path("nowhere"), **declared: Any) -> set[tuple[str, str, str]]:
    """Place, state and rule of all that the rules touch in a JSON answer."""
    data = tape(item(answer=json.dumps(body)))
    scan = scan_tape("t.yaml", data, root / "t.bodies", project_rules(declared, root, {}), explain=True)
    return {(find.place.removeprefix("response.body"), find.state, find.rule) for find in scan.finds}


@pytest.mark.parametrize(
    ("body", "declared", "place", "rule"),
    [
        ({"ticket_no": "T-77"}, {"names": ["Ticket-No"]}, "/ticket_no", 'names: "Ticket-No"'),
        ({"token": SECRET}, {"names": ["token"]}, "/token", 'built-in name "token"'),
        (
            {"people": [{"ssn": "a1"}]},
            {"pointers": ["/x", "/people/*/ssn"]},
            "/people/0/ssn",
            'pointers: "/people/*/ssn"',
        ),
        ({"a": "see TKT-1234"}, {"patterns": ["NO", "TKT-([0-9]+)"]}, "/a", 'patterns: "TKT-([0-9]+)"'),
        ({"a": f"see {KEY}"}, {}, "/a", "shape: it looks like a key"),
        ({"a": "mail ann@example.org"}, {"pii": True}, "/a", "pii"),
        ({"a": "it was Ann Lee"}, {"pii": True, "people": ["Ann Lee"]}, "/a", "people"),
        ({"a": f"https://ann:{SECRET}@desk.test/"}, {}, "/a", "password in a URL"),
        ({"h": [{"name": "X-Api-Key", "value": SECRET}]}, {}, "/h/0/value", "name beside it"),
        ({"secrets": {"db": SECRET}}, {}, "/secrets/db", "name above it"),
        ({"token": "proctor-redacted-0001"}, {}, "/token", 'built-in name "token"'),
    ],
)
def test_the_rule_that_decides_is_told(body: Any, declared: dict[str, Any], place: str, rule: str) -> None:
    state = "already" if "proctor-redacted" in str(body) else "found"
    assert decided(body, **declared) == {(place, state, rule)}


def test_what_keep_leaves_is_told_with_the_name_that_keeps_it_and_only_that() -> None:
    told = decided({"token": SECRET, "password": "Other-secret-77", "said": f"it is {SECRET}"}, keep=["Token"])
    assert told == {
        ("/token", "kept", 'keep: "Token"'),
        ("/said", "kept", 'keep: "Token"'),
        ("/password", "found", 'built-in name "password"'),
    }


def test_a_kept_name_does_not_hide_what_another_rule_finds_there() -> None:
    assert decided({"token": KEY}, keep=["token"]) == {("/token", "found", "shape: it looks like a key")}


def test_a_function_of_the_project_is_told_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "scan_rule_here.py").write_text("def find(text):\n    return ['abcba'] if 'abcba' in text else []\n")
    told = decided({"a": "level abcba"}, tmp_path, function="scan_rule_here:find")
    assert told == {("/a", "found", 'function: "scan_rule_here:find"')}


def test_every_rule_of_the_projects_own_can_be_named_as_touching_nothing(tmp_path: Path) -> None:
    declared = {"names": ["a"], "pointers": ["/b"], "patterns": ["c"], "keep": ["d"], "pii": True, "people": ["e"]}
    rules = project_rules(declared, tmp_path, {})
    assert rules.own() == ['names: "a"', 'pointers: "/b"', 'patterns: "c"', 'keep: "d"', "people", "pii"]
