"""A tool may take its token from the request's credential, and learn for whom it was handed out."""

from __future__ import annotations

import json
from datetime import timedelta

from pydantic import BaseModel

from proctor.world import CREDENTIAL, World, tool
from proctor.world.kind import WorldKind
from proctor.world.session import WorldSession


class Visits(BaseModel):
    of: dict[str, int] = {}


class Club(World[Visits]):
    @tool
    def sign_in(self, member: str) -> str:
        """Get a token."""
        return self.new_token(timedelta(seconds=5), member)

    @tool(token=CREDENTIAL)
    def enter(self) -> int:
        """Come in."""
        self.state.of[self.holder] = self.state.of.get(self.holder, 0) + 1
        return self.state.of[self.holder]

    @tool
    def look(self) -> str:
        """Tell who holds the token of a call that wants none."""
        return self.holder


def signed_in(club: WorldSession, member: str) -> str:
    answer = club.call("sign_in", json.dumps({"member": member}).encode())
    return str(json.loads(answer.body))


def test_each_token_acts_for_the_one_it_was_handed_out_to() -> None:
    club = WorldSession(WorldKind(Club), 1)
    ann, bob = signed_in(club, "ann"), signed_in(club, "bob")
    for token in (ann, bob, ann):
        assert club.call("enter", b"", credential=token).status == 200
    assert club.state() == {"of": {"ann": 2, "bob": 1}}
    assert club.tokens() == (ann, bob)
    assert club.foretell("enter", b"", credential=bob) == b"2"
    assert club.call("look", b"", credential=ann).body == b'""'


def test_no_token_a_strange_one_and_an_old_one_are_told_apart() -> None:
    club = WorldSession(WorldKind(Club), 1)
    token = signed_in(club, "ann")
    for number in range(4):
        assert club.call("look", b"").status == 200, number
    refusals = [club.call("enter", b"", credential=each) for each in ("", "tok-GUESSED1", token)]
    assert [(answer.status, answer.refused) for answer in refusals] == [
        (401, "token_required"),
        (401, "token_invalid"),
        (401, "token_expired"),
    ]
    assert "Authorization: Bearer TOKEN" in json.loads(refusals[0].body)["hint"]
    assert club.state() == {"of": {}}


def test_tokens_are_gone_after_a_reset() -> None:
    club = WorldSession(WorldKind(Club), 1)
    token = signed_in(club, "ann")
    club.reset()
    assert club.call("enter", b"", credential=token).refused == "token_invalid"
