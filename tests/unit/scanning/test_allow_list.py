"""What is allowed has a reason, and an entry that is about nothing any more is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.errors import ConfigError
from proctor.scanning.allow import AllowEntry, AllowList, judged, load_allow
from proctor.scanning.finds import Find, NotLooked, TapeScan

FIND = Find("cassettes/a.yaml", 0, "response.body/token", "field token", "a1b2c3", "built-in")
BODY = NotLooked("cassettes/a.yaml", 1, "response.body", "unknown", "d4e5f6")
SCAN = TapeScan("cassettes/a.yaml", "proctor", 2, (FIND,), (BODY,))


def entry(fingerprint: str = "a1b2c3", **more: str) -> AllowEntry:
    return AllowEntry(fingerprint=fingerprint, reason="published test key", **more)


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ({}, "allowed"),
        ({"tape": "cassettes/a.yaml"}, "allowed"),
        ({"tape": "cassettes/*"}, "allowed"),
        ({"tape": "cassettes/b.yaml"}, "found"),
        ({"place": "response.body/token"}, "allowed"),
        ({"place": "*/token"}, "allowed"),
        ({"place": "response.body/other"}, "found"),
    ],
)
def test_an_entry_covers_its_value_on_the_tape_and_at_the_place_that_it_names(more: dict[str, str], state: str) -> None:
    (scan,) = judged([SCAN], AllowList(allow=(entry(**more),)), [], all_read=True).scans
    assert scan.finds[0].state == state
    assert scan.finds[0].reason == ("published test key" if state == "allowed" else "")


def test_a_body_that_was_not_looked_into_can_be_allowed_too() -> None:
    (scan,) = judged([SCAN], AllowList(allow=(entry("d4e5f6"),)), [], all_read=True).scans
    assert (scan.finds[0].state, scan.not_looked[0].reason) == ("found", "published test key")


@pytest.mark.parametrize(
    ("more", "folders", "all_read", "stale"),
    [
        ({}, [], True, False),
        ({}, ["cassettes"], True, True),
        ({}, ["cassettes"], False, False),
        ({"tape": "cassettes/a.yaml"}, [], True, True),
        ({"tape": "cassettes/gone.yaml"}, [], True, False),
        ({"tape": "cassettes/gone.yaml"}, ["cassettes"], True, True),
        ({"tape": "cassettes/gone.yaml"}, ["."], True, True),
        ({"tape": "cassettes/gone.yaml"}, ["other"], True, False),
    ],
)
def test_an_entry_is_stale_only_where_what_it_is_about_was_looked_at(
    more: dict[str, str], folders: list[str], all_read: bool, stale: bool
) -> None:
    allowed = AllowList(allow=(entry("ffffff", **more),))
    assert bool(judged([SCAN], allowed, folders, all_read=all_read).stale) is stale


def test_an_entry_that_covered_something_is_never_stale() -> None:
    assert judged([SCAN], AllowList(allow=(entry(),)), ["cassettes"], all_read=True).stale == ()


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ('[[allow]]\nfingerprint = "a1b2c3"', "allow_bad_value", "allow.0.reason: every entry needs a reason"),
        ('[[allow]]\nfingerprint = "a1b2c3"\nreason = " "', "allow_bad_value", "every entry needs a reason"),
        ('[[allow]]\nreason = "x"', "allow_bad_value", "allow.0.fingerprint"),
        ('[[allow]]\nfingerprint = "the value"\nreason = "x"', "allow_bad_value", "allow.0.fingerprint"),
        ('[[allow]]\nfingerprint = "a1b2c3"\nreason = "x"\ntapes = "y"', "allow_unknown_key", 'did you mean "tape"'),
        ("[[allows]]", "allow_unknown_key", 'did you mean "allow"'),
        ("allow = [", "allow_syntax", "is not TOML"),
    ],
)
def test_a_list_that_says_something_wrong_is_a_named_error(text: str, code: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / ".proctor-allow.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        load_allow(path)
    assert error.value.code == code
    assert told in str(error.value)


def test_a_list_that_is_named_and_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load_allow(tmp_path / "none.toml")
    assert error.value.code == "allow_unreadable"
