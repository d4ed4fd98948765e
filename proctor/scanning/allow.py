"""The allow list: what may stand on a tape, each with the reason (`.proctor-allow.toml`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from proctor.scanning.finds import Find, NotLooked, TapeScan
from proctor.toml_file import read_toml, toml_error

ALLOW_NAME = ".proctor-allow.toml"


class AllowEntry(BaseModel):
    """One `[[allow]]` table. `tape` and `place` may hold `*`; without them the value is allowed anywhere."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fingerprint: str = Field(pattern="^[0-9a-f]{6}$")
    reason: str = Field(default="", validate_default=True)
    tape: str = ""
    place: str = ""

    @field_validator("reason")
    @classmethod
    def _given(cls, reason: str) -> str:
        if not reason.strip():
            raise ValueError("every entry needs a reason: say why this may stand on a tape")
        return reason.strip()

    def covers(self, one: Find | NotLooked) -> bool:
        """Whether it is about this find."""
        at_place = not self.place or self.place == one.place or fnmatchcase(one.place, self.place)
        return self.fingerprint == one.fingerprint and at_place and self.is_about(one.tape)

    def is_about(self, tape: str) -> bool:
        """Whether it is about this tape."""
        return not self.tape or self.tape == tape or fnmatchcase(tape, self.tape)


class AllowList(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    allow: tuple[AllowEntry, ...] = ()


def load_allow(path: Path) -> AllowList:
    """Read and check an allow list. Raises ConfigError, which names the entry, the key and the nearest right one."""
    data = read_toml(path, "allow")
    try:
        return AllowList.model_validate(data)
    except ValidationError as error:
        raise toml_error(path, "allow", error, _known_keys) from None


def _known_keys(where: Sequence[str]) -> list[str]:
    return list((AllowEntry if len(where) > 1 else AllowList).model_fields)


@dataclass(frozen=True)
class Judged:
    """Scans with what is allowed marked, and the entries that matched nothing though they should have."""

    scans: tuple[TapeScan, ...]
    stale: tuple[AllowEntry, ...]


def judged(scans: Iterable[TapeScan], allowed: AllowList, folders: Sequence[str], *, all_read: bool) -> Judged:
    """Apply an allow list. `folders` were scanned as a whole, as they are told (`.` for the project's own).

    An entry is stale only where its tape was looked at, or lies in such a folder. Where not all could be read, entries
    for any tape may still be about the rest.
    """
    used: set[AllowEntry] = set()
    done = tuple([_applied(scan, allowed, used) for scan in scans])
    tapes = [scan.tape for scan in done]

    def expected(entry: AllowEntry) -> bool:
        if not entry.tape:
            return bool(folders) and all_read
        return any(map(entry.is_about, tapes)) or (
            all_read and any(folder == "." or entry.tape.startswith(f"{folder}/") for folder in folders)
        )

    return Judged(done, tuple(entry for entry in allowed.allow if entry not in used and expected(entry)))


def _applied(scan: TapeScan, allowed: AllowList, used: set[AllowEntry]) -> TapeScan:
    def reason(one: Find | NotLooked) -> str:
        covering = [entry for entry in allowed.allow if entry.covers(one)]
        used.update(covering)
        return covering[0].reason if covering else ""

    finds = []
    for find in scan.finds:
        told = reason(find) if find.state == "found" else ""
        finds.append(replace(find, state="allowed", reason=told) if told else find)
    not_looked = tuple(replace(one, reason=reason(one)) for one in scan.not_looked)
    return replace(scan, finds=tuple(finds), not_looked=not_looked)
