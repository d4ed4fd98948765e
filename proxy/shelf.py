"""The tapes that open sessions play: each loaded once, however many sessions play it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, MutableMapping
from weakref import WeakValueDictionary

from proctor.cassette import load_cassette, tape_path
from proctor.config import Config
from proctor.paths import Layout
from proctor.proxy.playback import Tape, indexed


class Shelf:
    """Holds a tape for as long as a session plays it; one whose file has changed since is loaded anew."""

    def __init__(self, config: Config, environ: Mapping[str, str]) -> None:
        """Of one project; `environ` resolves the addresses that a tape of vcrpy's is compared with."""
        self._config = config
        self._environ = environ
        self._held: MutableMapping[tuple[str, bytes], Tape] = WeakValueDictionary()

    def tape(self, name: str) -> Tape:
        """The named tape as its file is now. Raises as `load_cassette` does."""
        layout = Layout(self._config.root)
        data = tape_path(layout, name).read_bytes()
        key = (name, hashlib.sha256(data).digest())
        held = self._held.get(key)
        if held is None:
            held = self._held[key] = indexed(load_cassette(layout, name, data), self._config, self._environ)
        return held
