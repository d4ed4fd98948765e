"""In what an answer's state differs from the session's, in words."""

from __future__ import annotations

from proctor.cassette import Cassette
from proctor.proxy.state import Difference
from proctor.summary import label

_TOLD = 5


def other_writes(cassette: Cassette, difference: Difference) -> list[str]:
    """A text for each write that differs, the first few of them."""
    kinds = (
        (difference.missing, "came before it, and has not been made"),
        (difference.extra, "has been made, and came after it"),
        (difference.again, "has been made once more, or in another order"),
    )
    told = []
    for positions, what in kinds:
        for position in positions:
            interaction = cassette.interactions[position]
            told.append(f"#{position} {interaction.request.service} {label(interaction)} {what}")
    if difference.elsewhere:
        told.append(f"{difference.elsewhere} write(s) that are not on the tape have been made")
    return told if len(told) <= _TOLD else [*told[:_TOLD], f"and {len(told) - _TOLD} more writes"]
