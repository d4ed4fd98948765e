"""What holds no secret goes through redaction untouched: a tape that says less than was said is no recording."""

from __future__ import annotations

import random

from proctor.interaction import Interaction, Request, Response
from proctor.redaction.redactor import Redactor
from tests.property.counts import count
from tests.property.ordinary import identifier, ordinary

BODIES = count(ci=2_000, soak=10_000)


def exchange(index: int, rng: random.Random) -> Interaction:
    """Two ordinary bodies, with ordinary headers and an ordinary target."""
    asked, sent = ordinary(rng)
    answered, got = ordinary(rng)
    target = f"/v1/items/{identifier(rng)}?page_token={rng.randbytes(6).hex()}&max_tokens=7&key_only=1"
    request = Request("desk", "POST", target, (("Content-Type", asked), ("X-Request-Id", str(identifier(rng)))), sent)
    headers = (("Content-Type", answered), ("ETag", f'"{rng.randbytes(16).hex()}"'), ("X-Trace", str(identifier(rng))))
    return Interaction(index, request, Response(200, "OK", headers, got), f"http://desk.test{target}", "read", "method")


def test_thousands_of_ordinary_bodies_hold_nothing_to_replace() -> None:
    rng = random.Random(20)
    exchanges = [exchange(index, rng) for index in range(BODIES // 2)]
    redactor = Redactor.over(exchanges)
    assert redactor.known == {}
    assert [redactor.interaction(each) for each in exchanges] == exchanges
