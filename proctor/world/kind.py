"""A world's class, looked through and checked once: what every session of it shares."""

from __future__ import annotations

import json
from threading import Lock
from typing import Any

from pydantic import ValidationError

from proctor.errors import WorldError
from proctor.world.constants import Constants
from proctor.world.shape import Shape
from proctor.world.starting import with_ids
from proctor.world.stored import Start, Stored
from proctor.world.toolkit import tools_of
from proctor.world.world import World, state_class

_STARTS = 8
"""So many states to begin with are kept, the last used ones."""


class WorldKind:
    """The class with its tools and the states that sessions begin with."""

    def __init__(self, world: type[World[Any]], name: str = "") -> None:
        """`name` is how messages call it. Raises WorldError for a class that is no whole world."""
        self.world = world
        self.name = name or world.__name__
        if world.__init__ is not object.__init__:
            told = f"{world.__name__} has an __init__, which is never called"
            raise WorldError("world_class", told, "what a session begins with is made in start()")
        self.tools = tools_of(world)
        self.shape = Shape(state_class(world))
        self.constants = Constants(world, World)
        self.awaited = frozenset(name for tool in self.tools.values() for name in tool.declared.after or ())
        """Tools of which another one wants to know that they have succeeded."""
        results = {name: tool.result for name, tool in self.tools.items()}
        self.give_state = frozenset(name for name, result in results.items() if self.shape.is_reached_by(result))
        """Tools whose result may hold the state itself."""
        self.give_stored = frozenset(name for name, result in results.items() if self.shape.is_written_by(result))
        """Tools whose answer has the very text that is stored of what they give."""
        self._lock = Lock()
        self._starts: dict[bytes, Start] = {}
        self._own = self._own_text()

    def start(self, given: Any = None, key: str = "") -> tuple[Start, dict[str, str]]:
        """The state to begin with, and the ids in it by the places that stood for them (see `with_ids`).

        `given` is the case's, as JSON data; by default the class's own. Raises WorldError for one that does not fit.
        """
        if given is None:
            return self._shared(self._own), {}
        data, ids = with_ids(given, key)
        text = json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return self._shared(text), ids

    def _shared(self, text: bytes) -> Start:
        """What sessions that begin alike share: texts, which nobody can change."""
        with self._lock:
            start = self._starts.pop(text, None) or self._read(text)
            self._starts[text] = start
            if len(self._starts) > _STARTS:
                del self._starts[next(iter(self._starts))]
            return start

    def _read(self, text: bytes) -> Start:
        try:
            return Start.read(self.shape, text)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = "".join(f"{each}/" for each in first["loc"])[:-1] or "all of it"
            told = f"world {self.name}: the state to begin with does not fit: {where}: {first['msg']}"
            raise WorldError("world_start", told, f"see the fields of {self.shape.model.__name__}") from None

    def _own_text(self) -> bytes:
        """The class's own start; made twice, since one that differs would make every test differ."""
        one, other = (self._made() for _ in range(2))
        if one != other:
            told = f"{self.name}.start() gives another state each time"
            raise WorldError("world_start_varies", told, "take no time, chance or counter into it")
        return one

    def _made(self) -> bytes:
        try:
            state = self.world.start()
            if isinstance(state, self.shape.model):
                text = Stored(Start.of(self.shape, state)).text()
                return Stored(Start.read(self.shape, text)).text()
        except Exception as error:
            told = f"{self.name}.start() gives no state: {type(error).__name__}: {error}"
            raise WorldError("world_start", told, "give the state's fields defaults, or write start()") from error
        told = f"{self.name}.start() gives {type(state).__name__}, not {self.shape.model.__name__}"
        raise WorldError("world_start", told)
