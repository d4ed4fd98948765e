"""One session of a world: calls, one after the other, each of them whole or not at all."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Iterator
from threading import Lock
from typing import Any, NamedTuple

from pydantic_core import PydanticSerializationError

from proctor.errors import WorldFailed, nearest
from proctor.world.arguments import check_finite, read_arguments
from proctor.world.declaring import ToolEffect
from proctor.world.failure import threw
from proctor.world.kind import WorldKind
from proctor.world.ledger import Ledger
from proctor.world.near_misses import near_misses
from proctor.world.patch import Patch
from proctor.world.refusal import BusinessError
from proctor.world.stored import Change, Given, Stored
from proctor.world.table import Table
from proctor.world.tokens import granted
from proctor.world.toolkit import Tool
from proctor.world.world import ANONYMOUS, Call

_UNKNOWN_STATUS = 404
_FORBIDDEN = 403
_THROWN = (Exception, SystemExit, GeneratorExit, CancelledError)
"""What a tool may throw. A tool waits for nothing, so none of these is for what called it."""


class Answer(NamedTuple):
    """What a call came to. `patch` has what it changed; a refusal changed nothing."""

    status: int
    body: bytes
    """JSON."""
    effect: ToolEffect
    declared: bool
    """The effect is declared; else it is what the call did."""
    patch: Patch
    refused: str = ""
    """The code of the refusal, if it is one."""


class Written(NamedTuple):
    """One call that changed something: its number (from 1, since the start or reset), its tool, and what it changed."""

    call: int
    tool: str
    patch: Patch


class WorldSession:
    """A world with a state of its own."""

    def __init__(self, kind: WorldKind, seed: int | str, given: Any = None) -> None:
        """`given` is the state to begin with, as JSON data, instead of the class's own. Raises WorldError."""
        self.kind = kind
        self._key = f"{kind.name}\n{seed}"
        start, self.ids = kind.start(given, self._key)
        self._stored = Stored(start)
        self._lock = Lock()
        self._begin()

    def _begin(self) -> None:
        self._ledger = Ledger(self._key)
        self.calls = 0
        self.log: list[Written] = []

    def call(self, name: str, body: bytes, caller: str = "", credential: str = "") -> Answer:
        """Call a tool with a JSON body, as an identity of the service (empty: as none).

        `credential` is what the request's header holds: the token of tools that take theirs from there.
        Raises WorldFailed where the world itself is at fault. What raises or is refused changes nothing.
        """
        with self._lock:
            self.calls += 1
            tool = self.kind.tools.get(name)
            try:
                if tool is None:
                    raise self._unknown(name)
                return self._run(tool, body, self._call_of(caller, self.calls, credential))
            except BusinessError as refusal:
                effect = tool.declared.effect if tool else None
                told = refusal.text()
                return Answer(refusal.status, told, effect or "read", effect is not None, [], refusal.code)

    def foretell(self, name: str, body: bytes, caller: str = "", credential: str = "") -> bytes | None:
        """What `call` would answer now, with nothing changed; None where it would refuse or fail."""
        with self._lock:
            tool = self.kind.tools.get(name)
            try:
                call = self._call_of(caller, self.calls + 1, credential)
                return self._worked(tool, body, call)[0] if tool else None
            except (BusinessError, WorldFailed):
                return None

    def reset(self) -> None:
        """Be as at the start: state, log, ids, tokens and time."""
        with self._lock:
            self._stored.reset()
            self._begin()

    def state(self) -> Any:
        """The state as JSON data."""
        with self._lock:
            return self._stored.snapshot()

    def state_text(self) -> bytes:
        """The state as JSON, to be compared byte for byte."""
        with self._lock:
            return self._stored.text()

    def diff(self) -> Patch:
        """What makes the present state of the start, as a JSON Patch."""
        with self._lock:
            return self._stored.diff()

    def tokens(self) -> tuple[str, ...]:
        """The tokens handed out since the start or reset, in their order."""
        return tuple(self._ledger.tokens)

    def _run(self, tool: Tool, body: bytes, call: Call) -> Answer:
        result, changes, patch = self._worked(tool, body, call)
        self._ledger = call.ledger.with_done(tool.name) if tool.name in self.kind.awaited else call.ledger
        if changes:
            self._stored.commit(changes)
            self.log.append(Written(self.calls, tool.name, patch))
        effect = tool.declared.effect or ("write" if changes else "read")
        return Answer(200, result, effect, tool.declared.effect is not None, patch)

    def _worked(self, tool: Tool, body: bytes, call: Call) -> tuple[bytes, list[Change], Patch]:
        """What a call gives and would change; nothing of it is stored. Raises BusinessError, WorldFailed."""
        self._check_audience(tool, call.audience)
        try:
            arguments = read_arguments(tool.arguments, body, tool.defaults)
            if tool.takes_anything:
                check_finite(arguments)
        except BusinessError as refusal:
            self._check_body(tool, refusal)
            raise
        except Exception as error:  # of a check in the type of an argument
            raise threw(tool.name, error) from error
        if tool.declared.token:
            call.holder = granted(tool, arguments, call).holder
        self._check_order(tool)
        try:
            result, changes = self._result(tool, call, arguments)
        except BusinessError:
            self._check_constants(tool)
            raise
        except WorldFailed:
            self.kind.constants.put_back()
            raise
        self._check_constants(tool)
        patch = [step for change in changes for step in change.patch()] if changes else []
        if changes and tool.declared.effect == "read":
            paths = ", ".join(step["path"] for step in patch[:3]) or "the order of keys"
            told = f"the world's tool {tool.name} is declared to read, and changed {paths}"
            raise WorldFailed("world_effect", told, 'declare it: @tool(effect="write"); the call was undone')
        return result, changes, patch

    def _result(self, tool: Tool, call: Call, arguments: dict[str, Any]) -> tuple[bytes, list[Change]]:
        """What the method gives, as JSON, and what it changed. Raises BusinessError, else WorldFailed."""
        world = object.__new__(self.kind.world)
        object.__setattr__(world, "_call", call)
        try:
            value = tool.method(world, **tool.called_with(arguments))
            if isinstance(value, Iterator):  # it may go on to change the state, or throw
                value = list(value)
            given = _given(tool, value) if tool.name in self.kind.give_stored else None
            changes = self._stored.changes(call.state, given)
            if given is not None:
                return given.text, changes
            if tool.name in self.kind.give_state:
                self._stored.complete(call.state)
            plain = value.copy() if isinstance(value, Table) else value
            return tool.result.serializer.to_json(plain, warnings="error"), changes
        except WorldFailed:
            raise
        except PydanticSerializationError as error:
            told = f"the world's tool {tool.name} gives what it does not declare: {error}"
            raise WorldFailed("world_result_bad", told, "mend the world; the call was undone") from None
        except BusinessError as refusal:
            self._check_body(tool, refusal)
            raise
        except _THROWN as error:
            raise threw(tool.name, error) from error

    def _check_constants(self, tool: Tool) -> None:
        changed = self.kind.constants.put_back()
        if changed:
            told = f"the world's tool {tool.name} changed {changed}, which every session shares"
            raise WorldFailed("world_shared", told, "keep it in self.state; it was put back, and the call was undone")

    def _call_of(self, caller: str, number: int, credential: str) -> Call:
        world = self.kind.world
        audience = world.audiences.get(caller, caller) if caller else ANONYMOUS
        return Call(self._stored.draft(), self._ledger, number, caller, audience, world.starts_at, credential)

    def _check_audience(self, tool: Tool, audience: str) -> None:
        allowed = tool.declared.audience
        if allowed and audience not in allowed:
            told = f"{tool.name} is for {' and '.join(allowed)}, not for {audience}"
            raise BusinessError("permission_denied", told, "call it with another credential", status=_FORBIDDEN)

    def _check_order(self, tool: Tool) -> None:
        for name, code in (tool.declared.after or {}).items():
            if name not in self._ledger.done:
                raise BusinessError(code, f"{tool.name} comes after {name}", f"call {name} first")

    def _unknown(self, name: str) -> BusinessError:
        if any(name == each.name for each in near_misses(self.kind)):
            return BusinessError("tool_unavailable", f"{name} is not available", status=_UNKNOWN_STATUS)
        hint = nearest(name, self.kind.tools)
        return BusinessError("tool_unknown", f'there is no tool "{name}"', hint, status=_UNKNOWN_STATUS)

    def _check_body(self, tool: Tool, refusal: BusinessError) -> None:
        try:
            refusal.text()
        except ValueError as error:
            raise threw(tool.name, error) from error


def _given(tool: Tool, value: Any) -> Given | None:
    """What a tool gives, written; None for what it may not give: the state comes first where both are bad."""
    try:
        return Given(value, tool.result.serializer.to_json(value, warnings="error"), tool.result.serializer)
    except ValueError:
        return None
