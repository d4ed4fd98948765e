"""The class that worlds derive from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from random import Random
from typing import Any, ClassVar, Generic, TypeVar, get_args, get_origin

from pydantic import BaseModel

from proctor.errors import WorldError
from proctor.world.ledger import Grant, Ledger

StateT = TypeVar("StateT", bound=BaseModel)

ANONYMOUS = "anonymous"
"""The audience of a call without a credential."""


@dataclass
class Call:
    """One call as it runs: what it may change, and who makes it when."""

    state: BaseModel
    ledger: Ledger
    number: int
    caller: str
    audience: str
    begun: datetime
    credential: str = ""
    holder: str = ""

    @property
    def now(self) -> datetime:
        """A second after the call before."""
        return self.begun + timedelta(seconds=self.number - 1)

    @cached_property
    def random(self) -> Random:
        """Of the session's seed and the call's number."""
        return Random(f"{self.ledger.key}\n{self.number}")  # noqa: S311 - a world is to be repeated, not to be safe


class World(Generic[StateT]):
    """Tools over a state. A subclass names the state's class, `World[State]`, and has methods with `@tool`.

    An instance lives for one call: what is to stay is in `state`. Nothing of a call that raises stays.
    """

    starts_at: ClassVar[datetime] = datetime(2026, 1, 5, 9, tzinfo=UTC)
    """What `now` gives in a session's first call; each further call is a second later."""
    audiences: ClassVar[Mapping[str, str]] = {}
    """By identity of the service: the audience it belongs to; an identity not named here is an audience itself."""

    _call: Call

    @classmethod
    def start(cls) -> StateT:
        """The state of a session whose case gives none. By default the state's class without arguments."""
        made: StateT = state_class(cls)()  # type: ignore[assignment]
        return made

    @property
    def state(self) -> StateT:
        """The state, to be read and changed in place."""
        state: StateT = self._call.state  # type: ignore[assignment]
        return state

    @property
    def caller(self) -> str:
        """The identity that calls; empty for a call without a credential."""
        return self._call.caller

    @property
    def audience(self) -> str:
        """Whom the caller belongs to; `anonymous` without a credential."""
        return self._call.audience

    @property
    def holder(self) -> str:
        """For whom the token was handed out that a tool with `token=` was called with; empty for other tools."""
        return self._call.holder

    @property
    def random(self) -> Random:
        """Chance, the same for the same seed and calls."""
        return self._call.random

    def now(self) -> datetime:
        """The session's time, with a time zone. It stands still within a call."""
        return self._call.now

    def new_id(self, prefix: str) -> str:
        """An id as `RF-7K2M4QXA`, which no other session has."""
        made, self._call.ledger = self._call.ledger.new_id(prefix)
        return made

    def new_token(self, lifetime: timedelta | None = None, holder: str = "") -> str:
        """A token that tools with `token=` take from then on, if a lifetime is given for so long.

        `holder` is what `self.holder` then says in these tools: whom it was handed out to, for example.
        """
        grant = Grant(holder, None if lifetime is None else self.now() + lifetime)
        made, self._call.ledger = self._call.ledger.new_token(grant)
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse: a world is made anew for each call."""
        raise AttributeError(f"self.{name} would be gone with this call: keep it in self.state")


def state_class(world: type[World[Any]]) -> type[BaseModel]:
    """The class of a world's state. Raises WorldError where the world names none."""
    for kind in world.__mro__:
        for base in getattr(kind, "__orig_bases__", ()):
            origin = get_origin(base)
            if isinstance(origin, type) and issubclass(origin, World):
                (named, *_) = get_args(base)
                if isinstance(named, type) and issubclass(named, BaseModel):
                    return named
    told = f"{world.__name__} does not name the class of its state"
    raise WorldError("world_state_class", told, "class Shop(World[ShopState]), where ShopState is a pydantic model")
