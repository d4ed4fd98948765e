"""Taking answers over from one tape into another, while other services are recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from proctor.proxy.order import Choice
from proctor.proxy.playback import Tape
from proctor.proxy.seams import Exchange
from proctor.proxy.state_told import other_writes
from proctor.summary import label

if TYPE_CHECKING:
    pass


def take_over(exchange: Exchange, tape: Tape, choice: Choice) -> None:
    """Keep the recording that answers an exchange: as it is, save its place among the others.

    One that may be wrong here forbids sealing, for the new tape would not know any more that it is.
    """
    session, recorded = exchange.session, tape.cassette.interactions[choice.position]
    started = exchange.started - session.began
    session.taken(replace(recorded, index=exchange.index, started=started, beside=exchange.beside))
    told = f"#{exchange.index} {recorded.request.service} {label(recorded)}: taken over from #{choice.position}"
    if choice.state.distance:
        writes = "; ".join(other_writes(tape.cassette, choice.state))
        session.doubted("other_state", f"{told}, which was recorded in another state: {writes}")
    elif choice.repeated and tape.effects[choice.position].effect == "write":
        session.doubted("repeated_write", f"{told}, a write that is asked more often than it was recorded")
