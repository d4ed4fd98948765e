"""What goes over the control API, and the words both sides use for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from proctor.errors import ProctorError
from proctor.fault_plan import FaultPlanSpec
from proctor.overlay import Patch
from proctor.trace import SessionSummary

Mode = Literal["record", "new_episodes", "replay", "live", "world"]
"""Of a service: answered by the real thing and kept, by the tape and where that has no answer by the real thing, which
is appended to it, by the tape, by the real thing and not kept, or by the project's own world."""

CarrierName = Literal["path", "current", "header", "key"]
"""What says to which session a request belongs: its path, the binding of `_current`, `x-proctor-session`, its key."""

MODES: tuple[Mode, ...] = ("record", "new_episodes", "replay", "live", "world")
KEPT: frozenset[Mode] = frozenset({"record", "new_episodes"})
"""Modes in which a tape is written."""
FROM_TAPE: frozenset[Mode] = frozenset({"replay", "new_episodes"})
"""Modes in which a tape is read."""
ASKED: frozenset[Mode] = frozenset({"record", "new_episodes", "live"})
"""Modes in which the real thing may be asked."""

TOKEN_HEADER = "x-proctor-token"  # noqa: S105 - a header's name
SESSION_HEADER = "x-proctor-session"
"""Names the session of a request. It goes no further than the proxy."""
WORLD_KEY = "proctor-world-"
"""What the key of an identity begins with towards a world; the identity's name follows."""
SEEDS = 2**53
"""Seeds are below this: every JSON reader keeps such numbers exactly."""
FAULT_HEADER = "x-proctor-fault"
"""In a request: the fault that it asks for; it goes no further than the proxy. In an answer: the fault that it is."""
KEY_MARK = "proctor-session-"
"""What a session's key begins with; the session's id follows."""
CURRENT = "_current"
"""Stands for a session's id in an address: another carrier names the session, else it is the one bound to this."""
MISS_HEADER = "x-proctor-miss"
ERROR_HEADER = "x-proctor-error"
ATTEMPTS_HEADER = "x-proctor-attempts"
"""How often a judge's question was asked until it had this answer, on a tape that keeps only the last attempt."""
LONGEST_TOLD = 2_000
"""Characters of an error's message, and of its fix."""
STAND_IN_HEADER = "x-proctor-stand-in"
"""A stand-in service names itself in this header of each answer."""


Cut = Literal["steps", "loop"]
"""Why a guard cut an agent off."""


class Guard(BaseModel):
    """What a session stops its agent for. Without one it stops it for nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool_seconds: float | None = Field(default=None, gt=0)
    """Of one tool call, time in a fault included; then the agent is answered an error. Model calls have no such."""
    steps: int | None = Field(default=None, ge=1)
    """Model calls and tool calls; the next one is refused, and the agent is cut off."""
    on_loop: Literal["stop", "hint"] | None = None
    """At the fourth call of a tool with the same arguments: cut the agent off, or answer with a hint, once."""


class SessionSpec(BaseModel):
    """Asks for a session: one agent run's isolated use of the proxy."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cassette: str
    modes: dict[str, Mode] = Field(min_length=1)
    """Every service of the session with its mode."""
    session: str | None = None
    """An id of one's own choice; else an unguessable one is made."""
    command: tuple[str, ...] = ()
    """The agent's command line, where there is one; the tape keeps it, without secrets."""
    folder: str = ""
    """Where that runs, below the project's folder."""
    over: str = ""
    """The tape that answers the services in replay; by default `cassette`. While others are recorded, what it answers
    is taken over into the new tape."""
    again: bool = False
    """The tape of that name is recorded again: placeholders keep their numbers, and the new one is put aside."""
    allow_unused: bool = False
    """A service that is never asked is no failure."""
    strict: bool = False
    """An answer from another state is a miss."""
    timing: bool = False
    """Answers from the tape take as long as the real ones took; the pieces of a stream come when they came."""
    overlay: tuple[Patch, ...] = ()
    """What is changed in the recorded answers. None is ever recorded."""
    seed: int | None = Field(default=None, ge=0, lt=SEEDS)
    """From which worlds take their ids, chance and time; by default one that the name of the cassette decides."""
    worlds: dict[str, Any] = Field(default_factory=dict)
    """By service in mode `world`: the state to begin with, instead of the world's own."""
    faults: FaultPlanSpec | None = None
    """What goes wrong, and when. No faulted exchange is ever recorded."""
    guard: Guard | None = None
    """When the agent is stopped."""
    extended_by: str = ""
    """The command that extends the tape, once modes are added to it; by default `proctor replay` with the agent's."""
    recorded_by: str = ""
    """The command that records the tape again, for messages; by default `proctor record`."""
    passed: tuple[str, ...] = ()
    """Hosts that the launcher let go direct."""
    isolated: bool = False
    """The launcher runs the command where it can reach the proxy and nothing else."""
    notes: tuple[str, ...] = ()
    """What the launcher found worth saying in the summary."""

    @property
    def extends(self) -> bool:
        """Whether what the tape does not have is appended to it."""
        return "new_episodes" in self.modes.values()


class SessionInfo(BaseModel):
    """A session as it stands."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    session: str
    cassette: str
    modes: dict[str, Mode]
    url: str
    """What `PROCTOR_SESSION_URL` holds: the base of every service's address."""
    current_url: str = ""
    """The base of addresses that name no session: `x-proctor-session`, the key or a binding does."""
    key: str = ""
    """An API key that names the session; the real service gets its own credential instead."""
    set_up: str
    recorded_at: str = ""
    identities: dict[str, dict[str, str]] = Field(default_factory=dict)
    """By service, then name: the placeholder that stands for a credential. The unnamed one has the name ""."""
    seed: int | None = None
    """Of its worlds, if it has some."""
    ids: dict[str, dict[str, str]] = Field(default_factory=dict)
    """By world: the ids of this session's own that its start has, by the `{id:PREFIX:NAME}` that stood for them."""
    variables: dict[str, str] = Field(default_factory=dict)
    """Secret variables of the environment that the tape was recorded in, with the placeholders of their values."""


class Current(BaseModel):
    """What `_current` is bound to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    session: str | None
    """A session's id; None for no one: it then stands for the only session that is open."""


class CloseRequest(BaseModel):
    """Ends a session."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command_status: int | None = None
    """Exit status of the agent's command, where there was one: only a clean run is sealed."""


class CloseAnswer(BaseModel):
    """What became of a session."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    summary: SessionSummary
    status: int
    """With what a command that ran this session should end: 0 only where nothing failed."""
    reasons: tuple[str, ...] = ()
    """Each reason for a status that is not 0, the most important first."""


class HealthAnswer(BaseModel):
    """Says that a proxy answers; the only answer that needs no token."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: Literal["ok"] = "ok"
    proctor: str
    """The version."""


class SessionsAnswer(BaseModel):
    """Every open session."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sessions: tuple[SessionInfo, ...]


class TraceAnswer(BaseModel):
    """The rows of a session so far, as plain data (see `proctor.trace.TraceRow` and `proctor.events.EventRow`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rows: list[dict[str, Any]]
    """Every exchange."""
    events: list[dict[str, Any]] = []
    """What the agent told."""


class EventsAnswer(BaseModel):
    """Says that everything which the agent told in one request was taken, and is written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    taken: int
    left: int
    """How many more events the session takes."""


class WorldWrite(BaseModel):
    """A call that changed a world's state."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    call: int
    """The how-manieth call of the world it was since the start or a reset, from 1."""
    tool: str
    patch: list[dict[str, Any]]
    """What it changed, as a JSON Patch."""


class WorldAnswer(BaseModel):
    """A world as it stands in a session."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    service: str
    calls: int
    state: Any
    diff: list[dict[str, Any]]
    """What makes this state of the start, as a JSON Patch."""
    log: tuple[WorldWrite, ...]


class WorldReset(BaseModel):
    """A world that is as at the start again."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    service: str
    writes: int
    """How many calls had changed its state."""


class JudgeSalt(BaseModel):
    """What the prompts of a judge are made with whose calls go to a session's tape."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    salt: str = Field(pattern="^[0-9a-f]{64}$")


class ErrorAnswer(BaseModel):
    """Every refusal of the control API and of the proxy, in one shape."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    code: str
    message: str
    fix: str = ""
    exit_code: int | None = None
    """With what status a command that met this error ends, where that is not plain from the HTTP status."""

    @classmethod
    def of(cls, error: ProctorError) -> ErrorAnswer:
        """An error as it is told; of a message that quotes something very long, only its beginning."""
        message, fix = _short(error.message), _short(error.fix)
        return cls(code=error.code, message=message, fix=fix, exit_code=error.exit_code)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_TOLD else text[: LONGEST_TOLD - 1] + "…"


def set_up_of(modes: Mapping[str, Mode], llm_services: frozenset[str]) -> str:
    """The name of a set-up: `code`, `prompt`, `retape`, `record`, `extend`, `live`, `world`, else `mixed`.

    It is `world` where every tool service is one, whatever the model is.
    """
    if "new_episodes" in modes.values():
        return "extend"
    tools = {mode for service, mode in modes.items() if service not in llm_services}
    models = {mode for service, mode in modes.items() if service in llm_services}
    if tools == {"world"}:
        return "world"
    names: dict[tuple[Mode, Mode], str] = {
        ("replay", "replay"): "code",
        ("replay", "live"): "prompt",
        ("replay", "record"): "retape",
        ("record", "record"): "record",
        ("live", "live"): "live",
    }
    if len(tools) > 1 or len(models) > 1 or not tools | models:
        return "mixed"
    return names.get((next(iter(tools or models)), next(iter(models or tools))), "mixed")
