"""What is planted on a tape a scan finds and never shows; where recording would have replaced it, it finds nothing."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from vcr.request import Request as VcrRequest
from vcr.serialize import serialize
from vcr.serializers import yamlserializer

from proctor.cassette import Cassette, parse_cassette, render_cassette
from proctor.redaction.redactor import Redactor
from proctor.scanning.finds import Find, fingerprint
from proctor.scanning.rules import project_rules
from proctor.scanning.tape import scan_tape
from tests.property.counts import examples
from tests.property.planted import CARRIERS, CODINGS, ECHOES, Plan, spellings
from tests.property.test_planted_secrets import plans

NOWHERE = Path("no-such-folder")
RULES = project_rules({}, NOWHERE, {})


def recorded_by_vcrpy(plan: Plan, secret: str) -> bytes:
    """The tape of one exchange, as vcrpy writes it."""
    sent = CARRIERS[plan.carrier](secret)
    coding = {"Content-Encoding": plan.coding} if plan.coding else {}
    asked = VcrRequest(
        "POST",
        f"https://staging.example{sent.target}",
        CODINGS[plan.coding](sent.body),
        {**dict(sent.headers), "Content-Type": sent.media, **coding},
    )
    answered = {
        "status": {"code": 200, "message": "OK"},
        "headers": {name: [value] for name, value in coding.items()},
        "body": {"string": CODINGS[plan.coding](ECHOES[plan.echo](secret))},
    }
    text: str = serialize({"requests": [asked], "responses": [answered]}, yamlserializer)
    return text.encode()


def found(data: bytes) -> list[Find]:
    """Everything that a scan tells as found."""
    scan = scan_tape("t.yaml", data, NOWHERE, RULES)
    assert scan.not_looked == ()
    return [find for find in scan.finds if find.state == "found"]


@pytest.mark.req(74)
@examples(40, 1000)
@given(plan=plans())
def test_a_planted_secret_is_found_where_it_was_sent_and_where_it_came_back_and_is_not_shown(plan: Plan) -> None:
    secret = next(plan.secrets())
    finds = found(recorded_by_vcrpy(plan, secret))
    sides = {find.place.partition(".")[0] for find in finds if find.fingerprint == fingerprint(secret, "")}
    assert sides == ({"request"} if plan.echo == "nothing" else {"request", "response"}), (finds, secret)
    told = str([asdict(find) for find in finds]).encode()
    assert not [form for form in spellings(secret) if form in told], (finds, secret)


@pytest.mark.req(74)
@examples(40, 1000)
@given(plan=plans())
def test_what_redaction_makes_of_it_scans_clean(plan: Plan) -> None:
    made = parse_cassette("t", recorded_by_vcrpy(plan, next(plan.secrets()))).interactions
    redactor = Redactor.over(made)
    clean = tuple(map(redactor.interaction, made))
    assert found(render_cassette(Cassette("t", clean, {"placeholders": redactor.count}))) == []
