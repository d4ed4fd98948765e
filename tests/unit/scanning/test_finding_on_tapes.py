"""A secret is found in every layer of a tape, told by its place, and never shown."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.cassette import Cassette, render_cassette, save_cassette
from proctor.errors import CassetteError
from proctor.scanning.finds import Find, TapeScan
from proctor.scanning.rules import project_rules
from proctor.scanning.tape import scan_tape
from tests.unit.core.values import interaction, request, response
from tests.unit.scanning.tapes import KEY, LAYERS, SECRET, URL, item, tape

NOWHERE = Path("no-such-folder")


def scanned(data: bytes, bodies: Path = NOWHERE, environ: dict[str, str] | None = None, **declared: Any) -> TapeScan:
    return scan_tape("t.yaml", data, bodies, project_rules(declared, NOWHERE, environ or {}))


def found(scan: TapeScan) -> list[Find]:
    return [find for find in scan.finds if find.state == "found"]


def ours(body: bytes, **stamp: Any) -> bytes:
    return render_cassette(Cassette("t", (interaction(request(), response(body)),), stamp))


@pytest.mark.req(74)
@pytest.mark.parametrize("layer", LAYERS)
def test_a_secret_is_found_in_this_layer_of_a_tape_of_vcrpys(layer: str) -> None:
    make, place = LAYERS[layer]
    scan = scanned(make())
    assert place in [find.place for find in found(scan)]
    assert SECRET not in str(scan)
    assert KEY not in str(scan)
    assert base64.b64encode(SECRET.encode()).decode()[:16] not in str(scan)


def test_a_tape_without_secrets_has_no_find() -> None:
    scan = scanned(tape(item(body=json.dumps({"max_tokens": 5, "next_page_token": "Zx9kQ2vB7mN4"}))))
    assert (scan.finds, scan.not_looked, scan.interactions, scan.by) == ((), (), 1, "vcrpy")


def test_one_secret_is_told_once_a_place_with_one_fingerprint_and_where_it_was_told() -> None:
    data = tape(
        item(headers={"Authorization": [f"Bearer {SECRET}"]}), item(answer=json.dumps({"echo": f"it is {SECRET}"}))
    )
    finds = found(scanned(data))
    assert [(find.interaction, find.place) for find in finds] == [
        (0, "request.headers authorization token"),
        (1, "response.body/echo"),
    ]
    assert len({find.fingerprint for find in finds}) == 1
    assert finds[1].rule == "same value as #0 request.headers authorization token"


def test_a_short_value_has_the_fingerprint_of_its_place_so_that_nobody_can_guess_it() -> None:
    one, other = (found(scanned(tape(item(body=json.dumps({"pin": pin}))))) for pin in ("4711", "0815"))
    assert one[0].fingerprint == other[0].fingerprint
    long = [found(scanned(tape(item(body=json.dumps({"pin": pin})))))[0] for pin in ("471147114711", "081508150815")]
    assert long[0].fingerprint != long[1].fingerprint


@pytest.mark.req(74)
def test_what_redaction_put_is_no_find() -> None:
    body = json.dumps({"password": "proctor-redacted-0001", "pin": "900002", "key": "sk-proj-proctor-redacted-0001"})
    assert found(scanned(ours(body.encode(), placeholders=2))) == []
    assert [find.place for find in found(scanned(ours(body.encode())))] == ["response.body/pin"]


def test_a_secret_of_the_environment_is_found_without_a_name_or_shape() -> None:
    data = tape(item(answer=f"hello {SECRET}"))
    (find,) = found(scanned(data, environ={"ORDERS_TOKEN": SECRET}))
    assert (find.place, find.rule) == ("response.body", "environment: the value of ORDERS_TOKEN")
    assert found(scanned(data)) == []
    assert found(scanned(data, environ={"ORDERS_TOKEN": SECRET}, keep=["ORDERS_TOKEN"])) == []


def test_the_head_of_a_tape_of_ours_is_looked_at_and_its_digests_are_not_taken_for_keys() -> None:
    data = ours(
        b"{}", command=f"agent.py --key {KEY}", tool_schemas={"get_token": "5f0c6b7e21aa", "token": "5f0c6b7e21ab"}
    )
    assert [find.place for find in found(scanned(data))] == ["file/metadata/x-proctor/command"]


def test_an_edited_tape_is_looked_at_as_it_is_and_said_to_be_edited() -> None:
    data = ours(b'{"password": "proctor-redacted-0001"}').replace(b"proctor-redacted-0001", SECRET.encode())
    scan = scanned(data)
    assert [find.place for find in found(scan)] == ["response.body/password"]
    assert "edited since it was sealed" in scan.notes[0]


def test_bodies_beside_a_tape_are_looked_into_and_strangers_among_them_are_told(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    body = json.dumps({"client_secret": SECRET, "filler": "x" * 2000}).encode()
    save_cassette(path, Cassette("t", (interaction(request(), response(body)),)), body_files_over=1024)
    folder = tmp_path / "t.bodies"
    assert [find.place for find in found(scanned(path.read_bytes(), folder))] == ["response.body/client_secret"]
    (folder / "left-over.body").write_bytes(b"anything")
    (stranger,) = scanned(path.read_bytes(), folder).not_looked
    assert (stranger.interaction, stranger.place) == (None, "t.bodies/left-over.body")
    next(each for each in folder.iterdir() if each.name != "left-over.body").unlink()
    with pytest.raises(CassetteError) as error:
        scanned(path.read_bytes(), folder)
    assert error.value.code == "cassette_body_missing"


@pytest.mark.parametrize(("coding", "body"), [("compress", b"\x1f\x9d\x90\xff"), ("gzip", b"\x1f\x8b\x08\x00\xff\xfe")])
def test_a_body_that_cannot_be_unpacked_is_told_as_not_looked_into(coding: str, body: bytes) -> None:
    scan = scanned(tape(item(answer=body, answer_headers={"Content-Encoding": [coding]})))
    (one,) = scan.not_looked
    assert (one.interaction, one.place) == (0, "response.body")
    assert f'"{coding}"' in one.why


def test_a_binary_body_is_searched_where_it_is_plain_and_said_to_be_binary() -> None:
    scan = scanned(tape(item(answer=b"\xff\xfe\x00" + KEY.encode() + b"\x00\xff")))
    assert [find.place for find in found(scan)] == ["response.body"]
    assert "binary bodies: 1;" in scan.notes[0]


def test_a_reason_phrase_and_a_url_that_our_own_fields_hide_are_looked_at_too() -> None:
    made = replace(interaction(request(), response(b"{}")), url=f"{URL}/\udce9")
    data = render_cassette(Cassette("t", (made,))).replace(
        b"uri: https://staging", b"uri: https://ann:" + SECRET.encode() + b"@staging"
    )
    assert [find.place for find in found(scanned(data))] == ["file/request/uri"]
