"""What was looked through once and held no secret is not looked through again; nothing else is passed over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from proctor.redaction.innocent import Innocent
from proctor.redaction.redactor import Redactor
from proctor.redaction.rules import Rules
from proctor.redaction.walker import Walker

SECRET = "sk-live-4f9aQ72bXc81LmZ0pTyV"
PLAIN = {"order": "A-1", "lines": [{"sku": "TV01"}]}


def test_a_plain_value_is_looked_through_once_for_all_redactors_of_the_same_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []
    real = Walker.json

    def json(self: Walker, text: str, place: str, depth: int = 0) -> Any:
        looked.append(text)
        return real(self, text, place, depth)

    monkeypatch.setattr(Walker, "json", json)
    rules = Rules()
    assert [Redactor(rules).shown(PLAIN) for _ in range(3)] == [PLAIN] * 3
    assert len(looked) == 1


def test_a_secret_is_found_by_each_redactor_of_the_same_rules() -> None:
    rules = Rules()
    for _ in range(3):
        assert SECRET not in repr(Redactor(rules).shown({"password": SECRET}))


def test_a_secret_that_was_learnt_elsewhere_is_replaced_in_a_text_that_shows_nothing_by_itself() -> None:
    rules, value = Rules(), {"note": "blue-Horse7battery staple"}
    assert Redactor(rules).shown(value) == value
    redactor = Redactor(rules)
    redactor.learn_secret("blue-Horse7battery")
    assert "blue-Horse7battery" not in repr(redactor.shown(value))


def test_other_rules_look_for_themselves() -> None:
    value = {"note": "of blue-Horse7battery-staple"}
    rules = Rules()
    assert Redactor(rules).shown(value) == value
    with_variable = replace(rules, variables={"blue-Horse7battery-staple": "HORSE_TOKEN"})
    assert "Horse7" not in repr(Redactor(with_variable).shown(value))


def test_it_begins_anew_instead_of_growing_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.redaction.innocent._MOST", 2)
    seen = Innocent()
    for text in ("a", "b", "c"):
        seen.add(text)
    assert [text in seen for text in ("a", "b", "c")] == [False, False, True]
