"""Putting a case's patches into recorded answers, and saying so; a patch that met nothing fails the session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from proctor.diff import shown_value
from proctor.encoding import decoded, encoded
from proctor.interaction import Interaction, header
from proctor.json_patch import ABSENT, CannotPatch, patched
from proctor.overlay import Patch
from proctor.redaction.digests import remeasured
from proctor.summary import label


class Overlaid(NamedTuple):
    """A recording with other data in its answer; `told` has a text for each patch that changed it."""

    interaction: Interaction
    told: tuple[str, ...]


class Overlaying:
    """The patches of one session."""

    def __init__(self, patches: Sequence[Patch]) -> None:
        """None of them has met an answer yet."""
        self._patches = patches
        self._calls: Counter[int] = Counter()
        self._done: set[int] = set()
        self.failed: dict[str, None] = {}
        """Why a patch could not be put into the answer that it is for."""

    def __bool__(self) -> bool:
        return bool(self._patches)

    def over(self, interaction: Interaction) -> Overlaid:
        """The recording as this case has it; counts the call."""
        told: list[str] = []
        name = label(interaction)
        for number, patch in enumerate(self._patches):
            if not patch.meant(interaction.request.service, name):
                continue
            self._calls[number] += 1
            if patch.call in (None, self._calls[number]):
                try:
                    interaction = _patched(interaction, patch, told)
                    self._done.add(number)
                except CannotPatch as error:
                    self.failed[f"overlay {patch.told}: {error} (#{interaction.index} {name})"] = None
        return Overlaid(interaction, tuple(told))

    def unmet(self) -> Iterator[str]:
        """The patches that no answer met."""
        for number, patch in enumerate(self._patches):
            if not self._calls[number]:
                yield f"overlay {patch.told}: no such call was answered"
            elif number not in self._done and patch.call and self._calls[number] < patch.call:
                yield f"overlay {patch.told}: there were {self._calls[number]} such calls only"


def _patched(interaction: Interaction, patch: Patch, told: list[str]) -> Interaction:
    response = interaction.response
    coding = header(response.headers, "content-encoding")
    plain = decoded(response.body, coding)
    try:
        text = (plain or b"").decode("utf-8")
    except UnicodeDecodeError:
        raise CannotPatch("the answer is no JSON") from None
    new, before = patched(text, patch.at, patch.value)
    if before != patch.value or type(before) is not type(patch.value):
        old = "nothing" if before is ABSENT else shown_value(before)
        told.append(f"{patch.at}: {old} -> {shown_value(patch.value)}")
    body = encoded(new.encode(), coding)
    headers = remeasured(response.headers, response.body, body)
    return replace(interaction, response=response.rewritten(headers, body))
