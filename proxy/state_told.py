"""In what an answer's state differs from the session's, in words."""

from __future__ import annotations

from collections.abc import Iterable

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
    writes = [(position, what) for positions, what in kinds for position in positions]
    told = [f"{_write(cassette, position)} {what}" for position, what in writes[:_TOLD]]
    if len(writes) > _TOLD:
        told.append(f"and {len(writes) - _TOLD} more writes")
    if difference.elsewhere:
        told.append(f"{difference.elsewhere} write(s) that are not on the tape have been made")
    return told


def under_way(cassette: Cassette, positions: Iterable[int]) -> list[str]:
    """A text for each write that overlapped a read when both were recorded."""
    return [_write(cassette, position) for position in sorted(positions)]


def _write(cassette: Cassette, position: int) -> str:
    interaction = cassette.interactions[position]
    return f"#{position} {interaction.request.service} {label(interaction)}"
