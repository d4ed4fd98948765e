"""Only a clean recording becomes a tape; every other is kept aside with each reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proctor.cassette import load_cassette, parse_cassette
from proctor.errors import PlatformError
from proctor.interaction import Headers, Interaction
from proctor.journal import JournalContent
from proctor.paths import Layout
from proctor.sealing import reasons_not_to_seal, seal
from tests.unit.core.values import in_order, interaction, request, response

EXPIRED: Headers = (("Authorization", "Bearer expired-token-1"),)


def head(**facts: Any) -> dict[str, Any]:
    """The head of a journal that recorded the services `desk` and `llm`."""
    plain: dict[str, Any] = {"url": "http://desk.test", "expected_status": [], "key_headers": []}
    return {
        "session": "s", "cassette": "t", "recorded_at": "2026-01-01T00:00:00Z",
        "services": {"desk": {**plain, **facts}, "llm": plain},
    }  # fmt: skip


def answered(*statuses: int, body: bytes = b"{}", headers: Headers = ()) -> tuple[Interaction, ...]:
    """One request, asked again and again, with these answers."""
    return in_order(*(interaction(request(body, headers=headers), response(status=status)) for status in statuses))


def reasons(made: tuple[Interaction, ...], faults: tuple[dict[str, Any], ...] = (), **facts: Any) -> list[str]:
    """Why this recording is not sealed."""
    return list(reasons_not_to_seal(head(**facts), made, faults))


@pytest.mark.parametrize("status", [200, 204, 301, 404, 409, 422, 428, 499])
def test_an_answer_that_is_no_outage_is_sealed_whatever_it_says(status: int) -> None:
    assert reasons(answered(status)) == []


def test_nothing_recorded_is_a_reason() -> None:
    assert reasons(()) == ["nothing was recorded"]


def test_each_fault_of_the_session_is_a_reason_in_its_own_words() -> None:
    faults = ({"code": "a", "message": "first"}, {"code": "b", "message": "second"})
    assert reasons(answered(200), faults) == ["first", "second"]


def test_an_answer_that_broke_off_is_a_reason_whatever_is_expected() -> None:
    cut = in_order(interaction(answered=response(complete=False)))
    assert reasons(cut, expected_status=[503]) == ["#0 desk POST /tools/x: the answer broke off"]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 599])
def test_an_outage_as_the_last_answer_to_a_request_is_a_reason_unless_expected(status: int) -> None:
    (reason,) = reasons(answered(200, status))
    assert reason.startswith(f"#1 desk POST /tools/x: the last answer was {status} ")
    assert f"expected_status = [{status}] under [services.desk]" in reason
    assert reasons(answered(200, status), expected_status=[status]) == []
    assert reasons(answered(200, status), expected_status=[status - 1]) != []


@pytest.mark.parametrize("status", [429, 503])
def test_an_outage_that_was_over_in_the_end_is_no_reason(status: int) -> None:
    assert reasons(answered(status, status, 200)) == []


def test_the_end_of_an_outage_counts_for_the_same_request_only() -> None:
    down = interaction(request(b'{"a": 1}'), response(status=503))
    same = interaction(request(b'{ "a":1 }'))
    assert reasons(in_order(down, same)) == []
    for other in (
        request(b'{"a": 2}'),
        request(b'{"a": 1}', target="/tools/y"),
        request(b'{"a": 1}', headers=(("X-Amz-Target", "Db.Get"),)),
        request(b'{"a": 1}', headers=(("X-Api-Key", "proctor-redacted-0001"),)),
        request(b'{"a": 1}', service="llm"),
    ):
        assert len(reasons(in_order(down, interaction(other)))) == 1


def test_a_declared_key_header_tells_requests_apart_here_too() -> None:
    down = interaction(request(headers=(("X-Tenant", "a"),)), response(status=503))
    up = interaction(request(headers=(("X-Tenant", "b"),)))
    assert reasons(in_order(down, up)) == []
    assert len(reasons(in_order(down, up), key_headers=["x-tenant"])) == 1


@pytest.mark.parametrize(("statuses", "told"), [((401,), "401"), ((403, 403), "403"), ((403, 401), "401 and 403")])
def test_a_service_that_refused_every_request_is_a_reason(statuses: tuple[int, ...], told: str) -> None:
    (reason,) = reasons(answered(*statuses))
    assert reason == f'service "desk" answered nothing but {told}: the credentials are missing or stale'
    assert reasons(answered(*statuses), expected_status=list(set(statuses))) == []


def test_a_refusal_among_other_answers_is_no_reason_but_another_services_answer_does_not_help() -> None:
    assert reasons(answered(401, 200)) == []
    llm = interaction(request(service="llm"))
    assert len(reasons(in_order(*answered(401), llm))) == 1


def test_every_reason_is_told_at_once() -> None:
    cut = interaction(request(b"cut"), response(status=401, complete=False))
    down = interaction(request(b"down", service="llm"), response(status=500))
    assert len(reasons(in_order(cut, down), ({"message": "a fault"},))) == 4


def content(*made: Interaction, **parts: Any) -> JournalContent:
    """A journal's content."""
    return JournalContent(parts.pop("head", head()), in_order(*made), **parts)


def test_a_clean_recording_becomes_a_tape_that_loads_without_its_credentials(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    asked = request(b"expired-token-1", headers=EXPIRED)
    named = {**head(), "identities": {"desk": {"alice": "expired-token-1", "bob": "never-seen-1"}, "llm": {}}}
    result = seal(layout, content(interaction(asked), head=named))
    assert (result.sealed, result.aside, result.reasons) == (layout.cassette("t"), None, ())
    tape = load_cassette(layout, "t")
    assert tape.interactions == result.cassette.interactions
    assert tape.stamp["identities"] == {"desk": {"alice": "proctor-redacted-0001"}}
    assert tape.stamp["services"] == {"desk": "http://desk.test", "llm": "http://desk.test"}
    assert b"expired-token-1" not in layout.cassette("t").read_bytes()
    assert result.rows[0]["arguments"] == "proctor-redacted-0001"


def test_a_recording_that_is_not_clean_is_kept_aside_and_the_old_tape_stays(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    seal(layout, content(*answered(200)))
    old = layout.cassette("t").read_bytes()
    result = seal(layout, content(*answered(503)))
    assert result.sealed is None
    assert result.aside == layout.aside / "t.yaml"
    assert layout.cassette("t").read_bytes() == old
    aside = parse_cassette("t", result.aside.read_bytes())
    assert aside.stamp["aside"] == list(result.reasons)
    assert len(result.reasons) == 1
    assert [each.response.status for each in aside.interactions] == [503]


def test_a_recording_of_nothing_writes_no_file(tmp_path: Path) -> None:
    result = seal(Layout(tmp_path), content())
    assert (result.sealed, result.aside, result.reasons) == (None, None, ("nothing was recorded",))
    assert list(tmp_path.iterdir()) == []


def test_gaps_in_the_journals_numbers_are_closed_on_the_tape_and_kept_in_the_trace(tmp_path: Path) -> None:
    first, second = interaction(request(b"1"), index=2), interaction(request(b"2"), index=5)
    row = {"index": 3, "session": "s", "source": "refused", "target": "/?k=expired-token-1"}
    live = interaction(request(b"3", headers=EXPIRED), index=4)
    made = JournalContent(head(), (first, second), live=(live,), rows=(row,), clients_gone=frozenset({5}))
    result = seal(Layout(tmp_path), made)
    assert [each.index for each in result.cassette.interactions] == [0, 1]
    found = [(each["index"], each["source"], each.get("client_gone", False)) for each in result.rows]
    assert found == [(2, "record", False), (3, "refused", False), (4, "live", False), (5, "record", True)]
    assert result.rows[1]["target"] == "/?k=proctor-redacted-0001"


def test_a_torn_journal_and_a_short_credential_are_noted(tmp_path: Path) -> None:
    short = interaction(request(headers=(("X-Api-Key", "short"),)))
    notes = seal(Layout(tmp_path), content(short, torn=True)).notes
    assert "the last line of the journal was cut off" in notes[0]
    assert notes[1].startswith("1 credential(s) under 8 characters")


def test_a_secret_that_redaction_left_refuses_the_tape_with_its_place_and_without_itself(tmp_path: Path) -> None:
    """The project's own function finds it only once the tape is looked at again."""
    found = "['hidden-thing'] if seen.count(text) > 2 else []"
    source = f"seen = []\ndef find(text):\n    seen.append(text)\n    return {found}\n"
    (tmp_path / "late_rule.py").write_text(source)
    layout = Layout(tmp_path)
    layout.ensure_state()
    made = in_order(interaction(request(b'{"a": {"b": "it is a hidden-thing"}}')))
    content = JournalContent({**head(), "redact": {"function": "late_rule:find"}}, made)
    with pytest.raises(PlatformError) as error:
        seal(layout, content)
    assert error.value.code == "secret_left"
    assert "#0 desk POST /tools/x" in error.value.message
    assert "(own function) is left at request.body/a/b" in error.value.message
    assert "hidden" not in str(error.value)
    assert not list(layout.cassettes.rglob("*"))
