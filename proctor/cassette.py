"""Tapes on disk: vcrpy version-1 YAML, sealed with a count and a digest, loaded strictly or not at all."""

from __future__ import annotations

import gc
import hashlib
import os
import tempfile
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import yaml

from proctor import tape_format
from proctor.errors import (
    CassetteError,
    CassetteTorn,
    CassetteUndecodable,
    CassetteVersion,
    PlatformError,
    cassette_missing,
)
from proctor.interaction import Interaction
from proctor.paths import Layout

_OF_THE_SEAL = frozenset({"v", "count", "digest"})
RERECORD = "restore it from version control, or record it again"


@dataclass(frozen=True)
class Cassette:
    """A whole tape: its interactions in recorded order, and what its seal says of the recording."""

    name: str
    interactions: tuple[Interaction, ...]
    stamp: dict[str, Any] = field(default_factory=dict)
    """`recorded_at` (ISO 8601, UTC), `proctor` (version), `services` (name to URL), `identities`."""

    @property
    def recorded_at(self) -> str:
        """When it was recorded, or an empty string."""
        return str(self.stamp.get("recorded_at", ""))

    @property
    def services(self) -> tuple[str, ...]:
        """Names of the services on the tape, sorted."""
        return tuple(sorted({interaction.request.service for interaction in self.interactions}))


def load_cassette(layout: Layout, name: str) -> Cassette:
    """Read a tape strictly.

    Raises CassetteMissing, CassetteUndecodable (with the line), CassetteVersion, or CassetteTorn where the file holds
    other interactions than were sealed. Never returns part of a tape.
    """
    path = layout.cassette(name)
    if not path.is_file():
        raise cassette_missing(name, path, layout.cassette_names())
    try:
        cassette = parse_cassette(name, path.read_bytes())
        if cassette.stamp.get("aside"):  # copied here from where sealing put it
            reasons = "; ".join(map(str, cassette.stamp["aside"]))
            raise CassetteTorn("cassette_aside", f"sealing put this recording aside: {reasons}", "record it again")
        return cassette
    except CassetteError as error:
        error.message = f"{path}: {error.message}"
        raise


def parse_cassette(name: str, data: bytes) -> Cassette:
    """The tape in a file's bytes; raises as `load_cassette` does."""
    document = _document(data)
    seal = _seal_of(document)
    items = document["interactions"]
    if not isinstance(items, list):
        raise CassetteUndecodable("cassette_shape", "`interactions` is no list", RERECORD)
    if len(items) != seal.get("count"):
        raise CassetteTorn(
            "cassette_short", f"sealed with {seal.get('count')} interactions, holds {len(items)}", RERECORD
        )
    stamp = {key: seal[key] for key in seal if key not in _OF_THE_SEAL}
    if not _sealed_as(seal, stamp, items):
        raise CassetteTorn(
            "cassette_changed", "changed after it was sealed: its content no longer has the sealed digest", RERECORD
        )
    interactions = tuple(tape_format.from_item(item, index) for index, item in enumerate(items))
    return Cassette(name, interactions, stamp)


def save_cassette(path: Path, cassette: Cassette) -> None:
    """Write a sealed tape: checked by vcrpy's own reader first, then one atomic rename. The old file stays until then.

    Raises PlatformError where vcrpy would not read back what was written, OSError where the disk refuses.
    """
    data = render_cassette(cassette)
    verify_with_vcrpy(data, cassette)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def render_cassette(cassette: Cassette) -> bytes:
    """The bytes of a sealed tape; the same for the same tape."""
    items = [tape_format.to_item(interaction) for interaction in cassette.interactions]
    sealed = digest(cassette.stamp, items)
    seal = {"v": tape_format.FORMAT, **cassette.stamp, "count": len(items), "digest": sealed}
    document = {"version": 1, "metadata": {tape_format.EXTENSION: seal}, "interactions": items}
    return tape_format.dump(document).encode("utf-8")


def digest(stamp: dict[str, Any], items: Sequence[Any]) -> str:
    """A digest over the content of a tape: layout, key order and line ends of the file do not count.

    Raises TypeError for content that no tape of ours holds.
    """
    options = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATETIME
    return hashlib.blake2b(orjson.dumps([stamp, items], default=_plain, option=options), digest_size=16).hexdigest()


def _sealed_as(seal: dict[str, Any], stamp: dict[str, Any], items: list[Any]) -> bool:
    try:
        return digest(stamp, items) == seal.get("digest")
    except TypeError:  # a date, a set, a huge number, a key that is no text: not as it was written
        return False


def verify_with_vcrpy(data: bytes, cassette: Cassette) -> None:
    """Prove that plain vcrpy reads the same interactions from these bytes. Raises PlatformError where it does not."""
    from vcr.serialize import deserialize
    from vcr.serializers import yamlserializer

    requests, responses, *_ = deserialize(data.decode("utf-8"), yamlserializer)
    for request, response, ours in zip(requests, responses, cassette.interactions, strict=True):
        body = request.body or b""
        same = (
            request.method == ours.request.method
            and request.uri == ours.url
            and (body.encode() if isinstance(body, str) else body) == ours.request.body
            and response["status"]["code"] == ours.response.status
            and response["body"]["string"] == ours.response.body
        )
        if not same:
            raise PlatformError(
                "cassette_not_portable", f"vcrpy reads interaction {ours.index} of {cassette.name} otherwise than it is"
            )


def _document(data: bytes) -> dict[str, Any]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CassetteUndecodable("cassette_not_utf8", f"line {line} is not UTF-8", RERECORD) from None
    collecting = gc.isenabled()
    gc.disable()  # millions of small objects, none of them garbage: collecting while loading triples the time
    try:
        document = yaml.load(text, Loader=tape_format.Loader)  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise CassetteUndecodable("cassette_not_yaml", f"{where}not YAML: {problem}", RERECORD) from None
    except (ValueError, RecursionError) as error:
        raise CassetteUndecodable("cassette_not_yaml", f"not YAML: {error}", RERECORD) from None
    finally:
        if collecting:
            gc.enable()
    if not isinstance(document, dict) or "interactions" not in document:
        raise CassetteUndecodable("cassette_shape", "no cassette: it has no `interactions`", RERECORD)
    return document


def _seal_of(document: dict[str, Any]) -> dict[str, Any]:
    if document.get("version") != 1:
        raise CassetteVersion("cassette_version", f"cassette version {document.get('version')!r}, not 1", RERECORD)
    metadata = document.get("metadata")
    seal = metadata.get(tape_format.EXTENSION) if isinstance(metadata, dict) else None
    if not isinstance(seal, dict):
        raise CassetteVersion(
            "cassette_foreign", "not sealed by Proctor (no x-proctor in its metadata)", "record it with: proctor record"
        )
    version = seal.get("v")
    if not isinstance(version, int) or version > tape_format.FORMAT:
        raise CassetteVersion(
            "cassette_newer",
            f"written in format {version!r}; this Proctor knows up to {tape_format.FORMAT}",
            "install a newer Proctor",
        )
    return seal


def _plain(value: Any) -> Any:
    """What orjson does not know: binary, and the dumper's own str, list and dict."""
    if isinstance(value, bytes):
        return ["!!binary", b64encode(value).decode()]
    if isinstance(value, str):
        return str(value)
    if isinstance(value, list):
        return list(value)
    if isinstance(value, dict):
        return dict(value)
    raise TypeError(type(value).__name__)
