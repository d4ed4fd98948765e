"""The trace: one row an exchange, the same whatever answered it."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from proctor.encoding import decoded
from proctor.interaction import Effect, EffectWhy, Headers, Interaction, header

Source = Literal["record", "replay", "live", "world", "refused", "fault"]
"""What answered: the real service (recorded or not), the tape, a world, Proctor with a refusal, or a planned fault."""


class TraceRow(BaseModel):
    """One exchange as a reader of `trace.jsonl` gets it; keys that are absent from a line have the default.

    Times are seconds; `started` counts from the session's begin.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    index: int
    session: str
    service: str
    source: Source
    method: str
    target: str
    tool: str | None = None
    arguments: Any = None
    result: Any = None
    status: int | None = None
    effect: Effect | None = None
    effect_why: EffectWhy | None = None
    started: float
    seconds: float
    attempts: int = 1
    """How often the client asked until this answer, where retries were folded into one recording."""
    fault: str | None = None
    """The kind of a planned fault. Unless it is `slow`, `source` is `fault`, and nothing else was asked."""
    fault_seconds: float = 0.0
    """How much of `seconds` the fault took."""
    matched: int | None = None
    """Index of the tape's interaction that answered."""
    match: Literal["exact", "canonical", "forgiven"] | None = None
    repeated: bool = False
    """The matching recordings were used up, so the last one answered again."""
    state_distance: int = 0
    """How many writes differ between the state in which the answer was recorded and that of the session."""
    state: tuple[str, ...] = ()
    """Those writes, in words."""
    beside: tuple[str, ...] = ()
    """Writes that were under way when the answer was recorded: it may be from before them or after."""
    forgiven: tuple[str, ...] = ()
    """In what the request differs from the recorded one, by declared `ignore` and `volatile` or ids a model minted."""
    rewrites: tuple[str, ...] = ()
    """Addresses that were replaced on the way, as `WHERE: OLD -> NEW`; `SERVICE/rest` stands for the proxy's address.

    `target`, `arguments` and `result` are as the real service sees and says them.
    """
    overlaid: tuple[str, ...] = ()
    """What an overlay changed in the recorded answer, as `/pointer: OLD -> NEW`; `result` has the new value."""
    changed: tuple[str, ...] = ()
    """What the call changed in the state of a world, as JSON pointers."""
    stand_in: str | None = None
    unkept: int = 0
    """Bytes of bodies that were too large to be kept: `arguments` or `result` is absent."""
    cut: bool = False
    client_gone: bool = False
    error: dict[str, Any] | None = None
    """`code`, `message`, `fix`; for a miss also `nearest` and `diff`, for a tool of a world that threw `traceback`."""


class HostTried(BaseModel):
    """A host that the agent called past the services. `service` is the one whose address it is, if any."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str
    method: str
    count: int = 1
    service: str | None = None


class MissSeen(BaseModel):
    """A request that nothing on the tape answers, listed once with its count."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    code: str
    service: str
    method: str
    target: str
    tool: str | None = None
    count: int = 1
    message: str
    fix: str = ""
    diff: tuple[str, ...] = ()


class EffectSeen(BaseModel):
    """What one call does, and why that is believed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    service: str
    name: str
    """Its tool, else `METHOD /path`, where `*` stands for an id within the path."""
    effect: Effect
    why: EffectWhy
    count: int = 1


class GuessedEffect(BaseModel):
    """An effect that nobody declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    service: str
    name: str
    effect: Effect
    count: int = 1
    repeated: int = 0
    """How often a guessed write was answered again from its last recording."""


class ErrorSeen(BaseModel):
    """Something that went wrong in an exchange or in the session, listed once with its count."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    code: str
    message: str
    fix: str = ""
    count: int = 1


class FaultFired(BaseModel):
    """A planned fault that an exchange met."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    planned: str
    """As the plan says it, or the header of the request."""
    kind: str
    service: str
    name: str
    """The call: its tool, else `METHOD /path`."""
    call: int
    """The how-manieth call it was of those that the fault is for."""
    index: int
    """Of the exchange, in the trace."""
    seconds: float = 0.0
    """How long the fault took."""


class FaultUnfired(BaseModel):
    """A planned fault that did not fire, or not as often as planned."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    planned: str
    first: int
    """The call at which it was to begin."""
    times: int
    fired: int
    calls: int
    """How many calls there were that it is for."""

    @property
    def told(self) -> str:
        """What happened instead, in words."""
        came = f"there {'was' if self.calls == 1 else 'were'} {self.calls or 'no'} such call{'s' * (self.calls != 1)}"
        many = f"fired {self.fired} of {self.times} times, " if self.times > 1 else ""
        reached = min(self.calls, self.first + self.times - 1) - self.first + 1
        return f"{self.planned}: {many}{came}{'; another fault had the call' if reached > self.fired else ''}"


class OtherState(BaseModel):
    """A call that was answered from a recording of another state, as no nearer one is on the tape."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    service: str
    name: str
    index: int
    """The recording that answered."""
    distance: int
    writes: tuple[str, ...]
    """The writes that differ, in words."""
    count: int = 1


class ForgivenSeen(BaseModel):
    """A declared difference between a request and the recorded one, listed once with its count."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    service: str
    difference: str
    count: int = 1


class Unexplained(BaseModel):
    """A read that was answered differently with no write between. Several such pairs: the one that tells most."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    service: str
    name: str
    first: int
    second: int
    where: tuple[str, ...]
    """`status`, `body`, or JSON pointers into the answers: the rarest first, at most three."""
    more: int = 0
    """How many other places differ."""
    count: int = 1
    """How many such pairs there are."""


class ReplacedSecret(BaseModel):
    """A secret that a recording held, by its placeholder, and every place in which it stood."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    placeholder: str
    kind: str
    """Why it was taken for one: `field password`, `key or token`, `parameter sig`, ..."""
    places: tuple[str, ...]
    """As `#3 request.body/user/password`."""


class SessionSummary(BaseModel):
    """What one session did, and whether it may count."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    session: str
    cassette: str
    set_up: str
    llm: Literal["live", "replayed", "stand-in", "none"]
    modes: dict[str, str]
    started_at: str
    """ISO 8601, UTC."""
    seconds: float
    command_status: int | None = None
    """Exit status of the agent's command, where there was one."""
    allow_unused: bool = False
    exchanges: int = 0
    hits: int = 0
    repeated: int = 0
    """How many of the hits were the last recording once more, all equal ones having answered before."""
    recorded: int = 0
    live: int = 0
    worlds: int = 0
    """Answers of worlds, refusals by their rules included."""
    interactions: int = 0
    """How many the tape holds."""
    recorded_at: str = ""
    misses: tuple[MissSeen, ...] = ()
    guessed: tuple[GuessedEffect, ...] = ()
    forgiven: tuple[ForgivenSeen, ...] = ()
    """In what requests differed from those recorded, by declaration."""
    overlaid: int = 0
    """Answers that an overlay changed."""
    faulted: int = 0
    """Exchanges that planned faults answered, in their source's stead."""
    faults: tuple[FaultFired, ...] = ()
    """The planned faults that fired, in order."""
    faults_unfired: tuple[FaultUnfired, ...] = ()
    """Those that did not, or not as often as planned. They fail nothing by themselves."""
    effects: tuple[EffectSeen, ...] = ()
    """Of a recording: every call with its effect."""
    confirm: tuple[str, ...] = ()
    """Of a recording: the lines of `proctor.toml` that declare what was guessed."""
    other_states: tuple[OtherState, ...] = ()
    """Answers that may be wrong: they were recorded before or after other writes than this session made."""
    unexplained: tuple[Unexplained, ...] = ()
    """Of a recording: what changed although no write is known that changed it."""
    events: int = 0
    """What the agent told of itself (`_events`); none of it counts as an exchange."""
    events_dropped: int = 0
    """What it told and was refused, as far as that could be counted; `errors` says why."""
    unused: tuple[str, ...] = ()
    """Recordings that nothing asked for, as `#3 orders query_order`."""
    services_unused: tuple[str, ...] = ()
    hosts: tuple[HostTried, ...] = ()
    passed: tuple[str, ...] = ()
    isolated: bool = False
    """The command could reach the proxy and nothing else."""
    errors: tuple[ErrorSeen, ...] = ()
    guarded: tuple[ErrorSeen, ...] = ()
    """What the session's guard answered the agent, by code: `tool_timeout` and `loop_hint` fail nothing by themselves;
    `step_limit` and `loop_stopped` cut the agent off."""
    notes: tuple[str, ...] = ()
    redacted: int = 0
    """How many interactions hold placeholders."""
    replaced: tuple[ReplacedSecret, ...] = ()
    """Every secret that sealing replaced."""
    sealed: str = ""
    """Path of the tape that this recording became."""
    over: str = ""
    """The tape from which the hits were taken over into the new one."""
    episodes: tuple[str, ...] = ()
    """Of a session that extends a tape: the calls that the tape did not have, as `orders query_order`, in order."""
    made_again: int = 0
    """How many calls of the tape were made again, so that the real services are in the same state."""
    aside: str = ""
    """Path of the recording that sealing refused."""
    aside_reasons: tuple[str, ...] = Field(default=())


def body_value(headers: Headers, body: bytes) -> Any:
    """A body as the trace shows it: parsed JSON, else text, else `{"base64": ...}`; None for an empty one."""
    if not body:
        return None
    plain = decoded(body, header(headers, "content-encoding"))
    plain = body if plain is None else plain
    try:
        text = plain.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": b64encode(plain).decode("ascii")}
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        return text
    return value


def interaction_fields(interaction: Interaction) -> dict[str, Any]:
    """The part of a row that an interaction alone decides."""
    request, response = interaction.request, interaction.response
    fields: dict[str, Any] = {
        "service": request.service,
        "method": request.method,
        "target": request.target,
        "tool": interaction.tool,
        "arguments": body_value(request.headers, request.body),
        "result": body_value(response.headers, response.body),
        "status": response.status,
        "effect": interaction.effect,
        "effect_why": interaction.effect_why,
        "stand_in": interaction.stand_in,
        "cut": not response.complete,
        "attempts": interaction.attempts if interaction.attempts > 1 else None,
    }
    return {key: value for key, value in fields.items() if value is not None and value is not False}


def row_line(row: dict[str, Any]) -> bytes:
    """One line of `trace.jsonl`. Integers of any size stay exact."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogateescape") + b"\n"
