"""A project's own rules: more names, fewer names, pointers, patterns, a function, personal data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import ConfigError
from proctor.redaction.redactor import Redactor
from proctor.redaction.rules import rules_of
from proctor.sensitive.finds import sensitive
from tests.unit.core.values import interaction, request, response

HERE = Path()


def clean(body: Any, root: Path = HERE, variables: dict[str, str] | None = None, **declared: Any) -> Any:
    """A JSON body after redaction with these rules."""
    made = interaction(request(), response(json.dumps(body, ensure_ascii=False).encode()))
    redactor = Redactor.over([made], rules_of(declared, root, variables))
    redacted = redactor.interaction(made)
    assert redactor.left_in(redacted) == []
    return json.loads(redacted.response.body)


ONE = "proctor-redacted-0001"


def test_a_name_of_ones_own_is_a_secrets_name() -> None:
    assert clean({"ticket_no": "T-77"}, names=["Ticket-No"]) == {"ticket_no": ONE}
    assert clean({"ticket_no": "T-77"}) == {"ticket_no": "T-77"}


def test_a_name_that_is_kept_is_none() -> None:
    assert clean({"token": "T-77", "password": "x1"}, keep=["token"]) == {"token": "T-77", "password": ONE}


def test_a_pointer_names_one_place_or_many() -> None:
    body = {"people": [{"ssn": "a1"}, {"ssn": "b2"}], "ssn": "c3"}
    kept = clean(body, pointers=["/people/*/ssn"])
    assert kept == {"people": [{"ssn": ONE}, {"ssn": "proctor-redacted-0002"}], "ssn": "c3"}


def test_a_pattern_takes_its_group_or_the_whole() -> None:
    assert clean({"a": "see TKT-12345678."}, patterns=["TKT-[0-9]{8}"]) == {"a": f"see {ONE}."}
    assert clean({"a": "desk 77 is open"}, patterns=["desk ([0-9]+)"]) == {"a": "desk proctor-redacted-0001 is open"}


def test_a_function_of_the_project_finds_what_nothing_else_does(tmp_path: Path) -> None:
    (tmp_path / "own_rule_here.py").write_text(
        "def find(text):\n    return [w for w in text.split() if w[1:] and w[::-1] == w]\n"
    )
    assert clean({"a": "the level is abcba"}, tmp_path, function="own_rule_here:find")["a"].count("proctor") == 2


@pytest.mark.parametrize("reference", ["no_such_module:find", "json:no_such", "json:decoder"])
def test_a_function_that_is_not_there_is_a_named_error(reference: str) -> None:
    with pytest.raises(ConfigError) as error:
        rules_of({"function": reference}, HERE)
    assert error.value.code == "redact_function"


def test_a_variables_value_is_replaced_wherever_it_stands() -> None:
    value = "Zx9-kQ2vB7mN4pT8"
    assert clean({"a": f"it is {value}!", "b": [value]}, variables={value: "ORDERS_TOKEN"}) == {
        "a": f"it is {ONE}!",
        "b": [ONE],
    }


PEOPLE = {
    "text": "王小明，电话 139 1234 5678，邮箱 wang@example.cn，身份证 11010519491231002X，卡 4111-1111-1111-1111",
    "again": "call 139 1234 5678 or Alice Ng at alice@example.com",
}


def test_personal_data_stays_unless_it_is_asked_for() -> None:
    assert clean(PEOPLE) == PEOPLE


def test_personal_data_becomes_other_data_of_its_kind_the_same_everywhere() -> None:
    told = clean(PEOPLE, pii=True, people=["王小明", "Alice Ng"])
    text = told["text"] + told["again"]
    for gone in ("王小明", "1234 5678", "wang@", "11010519491231002X", "4111", "Alice", "alice@"):
        assert gone not in text
    phones = re.findall(r"139 \d{4} \d{4}", text)
    assert len(phones) == 2
    assert phones[0] == phones[1]
    kinds = {one.kind for one in sensitive(told["text"])}
    assert kinds == {"phone", "e-mail address", "Chinese ID number", "card number"}, "they are still such things"
    assert re.search(r"\d{4}-\d{4}-\d{4}-\d{4}", told["text"])
    assert "某人" in told["text"]
    assert "Person 00" in told["again"]


def test_personal_data_is_never_replaced_twice() -> None:
    rules = rules_of({"pii": True, "people": ["王小明"]}, HERE)
    made = interaction(request(), response(json.dumps(PEOPLE, ensure_ascii=False).encode()))
    first = Redactor.over([made], rules)
    once = first.interaction(made)
    again = Redactor.over([once], rules, placeholders=first.count)
    assert again.known == {}
    assert again.interaction(once).response == once.response
