"""Tapes on disk: vcrpy version-1 YAML, sealed with a digest, loaded strictly or not at all; and vcrpy's own tapes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from proctor import tape_cache, tape_format, tape_seal
from proctor.errors import (
    CassetteError,
    CassetteTorn,
    CassetteUnwritable,
    CassetteVersion,
    PlatformError,
    cassette_missing,
)
from proctor.interaction import Interaction
from proctor.loading import collection_paused
from proctor.paths import Layout
from proctor.replacing import replace_file
from proctor.tape_bodies import BodiesToWrite, body_folder, prune_bodies, read_body, shown_body, write_bodies
from proctor.tape_yaml import EXTENSION, RERECORD, BodyFile, dump, item_lines, read, seal_line
from proctor.vcrpy_tapes import read_by_vcrpy, verify_with_vcrpy


@dataclass(frozen=True)
class Cassette:
    """A whole tape: its interactions in recorded order, and what its seal says of the recording."""

    name: str
    interactions: tuple[Interaction, ...]
    stamp: dict[str, Any] = field(default_factory=dict)
    """`recorded_at` (ISO 8601, UTC), `proctor` (version), `services` (name to URL), `identities` and more."""
    by: Literal["proctor", "vcrpy"] = "proctor"
    """Who recorded it. A tape of vcrpy's has no stamp; the service of each recording is its origin (`https://host`)."""
    digest: str = field(default="", compare=False)
    """Of the seal that it was loaded with; empty for one that was not loaded, or that vcrpy recorded."""

    @property
    def recorded_at(self) -> str:
        """When it was recorded, or an empty string."""
        return str(self.stamp.get("recorded_at", ""))

    @property
    def services(self) -> tuple[str, ...]:
        """Names of the services on the tape, sorted."""
        return tuple(sorted({interaction.request.service for interaction in self.interactions}))


def load_cassette(layout: Layout, name: str, data: bytes | None = None) -> Cassette:
    """Read a tape strictly.

    Raises CassetteMissing, CassetteUndecodable (with the line), CassetteVersion, or CassetteTorn where the file holds
    other interactions than were sealed. Never returns part of a tape. `data` is what its file holds, if read already.
    """
    path = tape_path(layout, name)
    try:
        with collection_paused():
            cassette = _loaded(layout, name, path, path.read_bytes() if data is None else data)
        if cassette.stamp.get("aside"):  # copied here from where sealing put it
            reasons = "; ".join(map(str, cassette.stamp["aside"]))
            raise CassetteTorn("cassette_aside", f"sealing put this recording aside: {reasons}", "record it again")
        return cassette
    except CassetteError as error:
        error.message = f"{path}: {error.message}"
        error.fix = error.fix.replace(" NAME", f" {name}").replace(" FILE", f" {path}")
        raise


def tape_path(layout: Layout, name: str) -> Path:
    """The file of a tape that is there, links followed. Raises CassetteMissing, or CassetteError if it lies outside."""
    path = layout.confined_cassette(name)
    if not path.is_file():
        raise cassette_missing(name, path, layout.cassette_names())
    return path


def check_place(layout: Layout, name: str) -> None:
    """See that a tape of this name can be written, before a long run is spent on it.

    Raises CassetteError where its place lies outside the project, CassetteUnwritable where the folder takes no file.
    """
    path = layout.confined_cassette(name)
    folder = next(folder for folder in path.parents if folder.exists())
    try:
        with tempfile.TemporaryFile(dir=folder):
            return
    except OSError as error:
        raise CassetteUnwritable(
            "cassette_unwritable",
            f"{folder} takes no file, so {path} could not be written: {error.strerror}",
            "free the disk or the folder; nothing was run",
        ) from None


def parse_cassette(name: str, data: bytes, bodies: Path | None = None) -> Cassette:
    """The tape in a file's bytes; raises as `load_cassette` does. `bodies` is the folder of those kept beside it."""
    return _parsed(name, data, bodies)[0]


@dataclass(frozen=True)
class Edited:
    """A tape as it stands, believed or not."""

    cassette: Cassette
    as_sealed: bool
    changes: tuple[str, ...]
    """What is not as it was sealed, an interaction a line."""


def parse_edited(name: str, data: bytes, bodies: Path, *, lenient: bool = False) -> Edited:
    """A tape of ours that may have been edited since it was sealed.

    Raises CassetteError for what is no tape, or recorded by vcrpy, or was put aside. `lenient` is for showing only: it
    takes these too, and shows missing bodies as such.
    """
    if lenient:
        return parse_as_it_stands(name, data)
    document = read(data)
    seal = _seal_of(document, data)
    if seal is None:
        raise CassetteVersion("cassette_vcrpy", "recorded by vcrpy: it is served as it is, without a seal", RERECORD)
    if seal.get("aside"):
        raise CassetteTorn(
            "cassette_aside", "a recording that sealing put aside", f"take it with: proctor cassette accept {name}"
        )
    return _edited(name, seal, document["interactions"], data, partial(read_body, bodies))


def parse_as_it_stands(name: str, data: bytes, bodies: Path | None = None) -> Edited:
    """Any tape, believed or not: edited, put aside, or recorded by vcrpy.

    Bodies beside it are read from `bodies`, or without that shown by their names. Raises CassetteError for what is no
    tape, or lacks a body.
    """
    document = read(data)
    seal = _seal_of(document, data)
    if seal is None:
        return Edited(Cassette(name, read_by_vcrpy(document), by="vcrpy"), True, ())
    return _edited(name, seal, document["interactions"], data, partial(read_body, bodies) if bodies else shown_body)


def _beside_now(interaction: Interaction, places: Mapping[int, int]) -> Interaction:
    """The interaction with the others beside it, and before it, by where they stand now."""

    def moved(others: Iterable[int]) -> tuple[int, ...]:
        now = sorted(places[other] for other in others if other in places)
        return tuple(other for other in now if other < interaction.index)

    after = None if interaction.after is None else moved(interaction.after)
    return replace(interaction, beside=moved(interaction.beside), after=after)


def _edited(name: str, seal: dict[str, Any], items: list[Any], data: bytes, read_one: tape_format.BodyReader) -> Edited:
    known = {**seal, "times": tape_seal.times_for(seal, items)}
    cassette = _from_items(name, known, items, data, read_one, edited=True)
    places = tape_seal.places_now(seal, items)
    moved = tuple(_beside_now(each, places) for each in cassette.interactions)
    cassette = replace(cassette, interactions=moved)
    as_sealed = tape_seal.verified(seal, items) is not None
    changes = () if as_sealed else tuple(tape_seal.changes(seal, items, item_lines(data), seal_line(data)))
    return Edited(cassette, as_sealed, changes)


def save_cassette(path: Path, cassette: Cassette, body_files_over: int | None = None) -> None:
    """Write a sealed tape: read back first, then one atomic rename. The old file stays until then.

    Bodies over `body_files_over` bytes go to files beside it. Raises PlatformError where what was written would not be
    read back, CassetteUnwritable where the disk refuses.
    """
    bodies = BodiesToWrite(body_files_over)
    data = render_cassette(cassette, bodies)
    if bodies.kept:
        _verify_with_bodies(data, cassette, bodies.kept)
    else:
        verify_with_vcrpy(data, cassette.name, cassette.interactions)
    try:
        write_bodies(body_folder(path), bodies.kept)
        replace_file(path, data)
        prune_bodies(body_folder(path), bodies.kept)
    except OSError as error:
        raise CassetteUnwritable(
            "cassette_unwritable",
            f"{path} cannot be written: {error.strerror or error}",
            "the old tape is as it was; free the disk or the folder",
        ) from None


def render_cassette(cassette: Cassette, bodies: BodiesToWrite | None = None) -> bytes:
    """The bytes of a sealed tape; the same for the same tape. `bodies` takes those that go beside it."""
    outside = (bodies or BodiesToWrite(None)).outside
    items = [tape_format.to_item(interaction, outside) for interaction in cassette.interactions]
    times = [tape_format.times_of(interaction) for interaction in cassette.interactions]
    seal = tape_seal.sealed(cassette.stamp, times, items)
    return dump({"version": 1, "metadata": {EXTENSION: seal}, "interactions": items}).encode("utf-8")


def _loaded(layout: Layout, name: str, path: Path, data: bytes) -> Cassette:
    """A tape from its cache if that belongs to the file as it is, else from the file."""
    folder = body_folder(path)
    if len(data) < tape_cache.WORTH_IT:
        return _parsed(name, data, folder)[0]
    cache = tape_cache.TapeCache(layout.tape_cache / f"{name}.json", data)
    found = cache.read()
    if found is not None:
        seal, items = found
        return _from_items(name, seal, items, data, partial(read_body, folder))
    cassette, form = _parsed(name, data, folder)
    if form is not None:
        layout.ensure_state()
        cache.write(form)
    return cassette


def _parsed(name: str, data: bytes, folder: Path | None) -> tuple[Cassette, bytes | None]:
    """The tape, and the canonical form of one that Proctor sealed."""
    document = read(data)
    if document.get("version") != 1:
        raise CassetteVersion("cassette_version", f"cassette version {document.get('version')!r}, not 1", RERECORD)
    items = document["interactions"]
    seal = _seal_of(document, data)
    if seal is None:
        return Cassette(name, read_by_vcrpy(document), by="vcrpy"), None
    form = tape_seal.verified(seal, items)
    if form is None:
        raise tape_seal.damage(seal, items, item_lines(data), seal_line(data))
    return _from_items(name, seal, items, data, partial(read_body, folder)), form


def _from_items(
    name: str,
    seal: dict[str, Any],
    items: list[Any],
    data: bytes,
    read_one: tape_format.BodyReader,
    *,
    edited: bool = False,
) -> Cassette:
    def body(kept: BodyFile) -> bytes:
        try:
            return read_one(kept)
        except CassetteTorn as error:
            line = data.count(b"\n", 0, data.find(kept.name.encode())) + 1
            error.message = f"line {line}: {error.message}"
            raise

    # Ten thousand interactions have few methods, paths and headers: kept once, they stay in the CPU's cache.
    shared: tape_format.Shared = {}
    interactions = tuple(
        [
            tape_format.from_item(item, index, times, body, shared, edited=edited)
            for index, (item, times) in enumerate(zip(items, seal["times"], strict=True))
        ]
    )
    return Cassette(name, interactions, tape_seal.stamp_of(seal), digest=str(seal.get("digest", "")))


def _seal_of(document: dict[str, Any], data: bytes) -> dict[str, Any] | None:
    """The seal of a tape of ours; None for one that vcrpy recorded. Raises CassetteTorn or CassetteVersion."""
    metadata = document.get("metadata")
    seal = metadata.get(EXTENSION) if isinstance(metadata, dict) else None
    if not isinstance(seal, dict):
        ours = seal is not None or any(_has_extension(item) for item in document["interactions"])
        if ours or (isinstance(metadata, dict) and {"digest", "sums"} & metadata.keys()):
            raise tape_seal.seal_lost(seal_line(data))
        return None
    version = seal.get("v")
    if type(version) is not int or version > tape_seal.FORMAT:
        raise CassetteVersion(
            "cassette_newer",
            f"line {seal_line(data)}: written in format {version!r}; this Proctor knows up to {tape_seal.FORMAT}",
            "install a newer Proctor",
        )
    return seal


def _has_extension(item: Any) -> bool:
    response = item.get("response") if isinstance(item, dict) else None
    return isinstance(response, dict) and EXTENSION in response


def _verify_with_bodies(data: bytes, cassette: Cassette, kept: dict[str, bytes]) -> None:
    """Prove that the tape reads back whole; vcrpy, on purpose, refuses one with bodies beside it."""
    items = read(data)["interactions"]
    for item, ours in zip(items, cassette.interactions, strict=True):
        times = tape_format.times_of(ours)
        back = tape_format.from_item(item, ours.index, times, lambda file: kept[file.name])
        if back != replace(ours, started=times[0], seconds=times[1]):
            raise PlatformError("cassette_not_portable", f"interaction {ours.index} of {cassette.name} reads otherwise")
