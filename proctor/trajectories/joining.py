"""A conversation as a trajectory's steps, each tool result with the facts of the tool traffic that it came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from proctor.trajectories.attribution import Key
from proctor.trajectories.conversations import Conversation
from proctor.trajectories.exchange import ToolTraffic
from proctor.trajectories.pairing import Pairing
from proctor.trajectories.pieces import Piece, differences, pieces, seen_alone
from proctor.trajectories.steps import numbered
from proctor.trajectories.telling import Moment
from proctor.trajectory import Difference, Step


@dataclass(frozen=True)
class Joined:
    """The steps of one conversation, and what was found while joining."""

    steps: tuple[Step, ...]
    differences: tuple[Difference, ...]
    moments: tuple[Moment, ...]
    """When each step was there."""


def joined(conversation: Conversation, pairing: Pairing, traffic: Mapping[Key, ToolTraffic]) -> Joined:
    """Steps from the links of a conversation. A result that no model was told is one all the same."""
    return _numbered(pieces(conversation, pairing, traffic))


def from_tools_alone(traffic: Iterable[ToolTraffic]) -> Joined:
    """Steps where nothing but tool traffic was seen: each call with its answer, and no words."""
    return _numbered(seen_alone(traffic))


def _numbered(found: Iterable[Piece]) -> Joined:
    whole = list(found)
    different = [each for number, piece in enumerate(whole) for each in differences(number, piece)]
    return Joined(numbered(piece.step for piece in whole), tuple(different), tuple(piece.moment for piece in whole))
