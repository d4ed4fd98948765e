"""Counting a session up, and deciding with what status its command ends."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from proctor.errors import EXIT_FAILED, EXIT_FINE, EXIT_MISSES, EXIT_PLATFORM
from proctor.interaction import Effect, Interaction
from proctor.trace import ErrorSeen, FaultFired, GuessedEffect, HostTried, MissSeen, OtherState, SessionSummary
from proctor.wire import Cut, Mode

WORLD_CODES = frozenset({"world_failed", "world_effect", "world_state_bad", "world_result_bad", "world_shared"})
PLATFORM_CODES = WORLD_CODES | {"journal_failed", "platform_error", "seal_failed"}
"""Errors that are Proctor's own, or a world's: nothing can be said about the agent."""

CUTS: Mapping[str, Cut] = {"step_limit": "steps", "loop_stopped": "loop"}
"""Codes of a guard's refusals that cut the agent off, with the reason."""

_DIFFERENCES = 4
"""How many differences of a miss are told at the end; the rest is in the summary."""

_OWN = -1
"""Stands for the command's own status, whatever number that is."""
_PRECEDENCE = (EXIT_PLATFORM, EXIT_MISSES, _OWN, EXIT_FAILED)


@dataclass(slots=True)
class ServiceCount:
    """The exchanges of one service, by what answered, and how long they took."""

    hits: int = 0
    recorded: int = 0
    live: int = 0
    worlds: int = 0
    faulted: int = 0
    """Answered by a planned fault."""
    refused: int = 0
    """Misses, and exchanges that ended in an error of the real service or of ours."""
    misses: int = 0
    timed: int = 0
    seconds: float = 0.0
    """Of the `timed` exchanges: from a request's arrival to its answer, or to the end of a streamed one."""

    def add(self, other: ServiceCount) -> None:
        """Count another's exchanges too."""
        self.hits += other.hits
        self.recorded += other.recorded
        self.live += other.live
        self.worlds += other.worlds
        self.faulted += other.faulted
        self.refused += other.refused
        self.misses += other.misses
        self.timed += other.timed
        self.seconds += other.seconds


@dataclass
class Tally:
    """What a session has done so far. Hits are only counted; whatever is worth reading is kept, once each."""

    exchanges: int = 0
    repeated: int = 0
    overlaid: int = 0
    services: defaultdict[str, ServiceCount] = field(default_factory=lambda: defaultdict(ServiceCount))
    """By name: every service that was asked."""
    stand_ins: set[str] = field(default_factory=set)
    misses: dict[tuple[str, ...], MissSeen] = field(default_factory=dict)
    errors: dict[tuple[str, str], ErrorSeen] = field(default_factory=dict)
    guarded: dict[tuple[str, str], ErrorSeen] = field(default_factory=dict)
    """What the guard answered the agent."""
    other_states: dict[tuple[int, tuple[str, ...]], OtherState] = field(default_factory=dict)
    forgiven: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By service and difference."""
    hosts: dict[tuple[str, str], HostTried] = field(default_factory=dict)
    faults: list[FaultFired] = field(default_factory=list)
    """Planned faults that fired."""
    notes: dict[str, None] = field(default_factory=dict)
    episodes: list[str] = field(default_factory=list)
    """The calls that the tape did not have, and that were made and kept."""
    made_again: int = 0
    """Calls of the tape that were made again."""
    events: int = 0
    """What the agent told, and was taken."""
    events_dropped: int = 0
    drops: dict[str, str] = field(default_factory=dict)
    """By code: why the first of those was not taken."""
    guesses: Counter[tuple[str, str, Effect]] = field(default_factory=Counter)
    guesses_repeated: Counter[tuple[str, str, Effect]] = field(default_factory=Counter)

    def answered(self, interaction: Interaction, how: Literal["hits", "recorded", "live"], repeated: bool) -> None:
        """An exchange that came to its end."""
        self.exchanges += 1
        count = self.services[interaction.request.service]
        if how == "hits":
            count.hits += 1
            self.repeated += repeated
        elif how == "recorded":
            count.recorded += 1
        else:
            count.live += 1
        if interaction.stand_in:
            self.stand_ins.add(interaction.request.service)
        if interaction.effect_why == "guessed":
            key = (interaction.request.service, label(interaction), interaction.effect)
            self.guesses[key] += 1
            if repeated and interaction.effect == "write":
                self.guesses_repeated[key] += 1

    def acted(self, service: str) -> None:
        """An exchange that a world answered."""
        self.exchanges += 1
        self.services[service].worlds += 1

    def from_other_state(self, interaction: Interaction, distance: int, writes: Sequence[str]) -> None:
        """An answer that was recorded in another state."""
        key = (interaction.index, tuple(writes))
        seen = self.other_states.get(key)
        self.other_states[key] = OtherState(
            service=interaction.request.service,
            name=label(interaction),
            index=interaction.index,
            distance=distance,
            writes=tuple(writes),
            count=seen.count + 1 if seen else 1,
        )

    def forgave(self, service: str, differences: Iterable[str]) -> None:
        """A request that was answered although it differs, for its differences are declared."""
        self.forgiven.update((service, difference) for difference in differences)

    def faulted(self, fault: FaultFired, *, answered: bool) -> None:
        """A planned fault fired; `answered` says that it did so in the source's stead."""
        self.faults.append(fault)
        if answered:
            self.exchanges += 1
            self.services[fault.service].faulted += 1

    def missed(self, row: dict[str, Any]) -> None:
        """A request that nothing answers; the same one again only counts up."""
        self.exchanges += 1
        error = row["error"]
        if row["service"]:
            self.services[row["service"]].refused += 1
            self.services[row["service"]].misses += 1
        key = (error["code"], row["service"], row["method"], row["target"], repr(row.get("arguments")))
        seen = self.misses.get(key)
        self.misses[key] = (
            seen.model_copy(update={"count": seen.count + 1})
            if seen
            else MissSeen(
                code=error["code"],
                service=row["service"],
                method=row["method"],
                target=row["target"],
                tool=row.get("tool"),
                message=error["message"],
                fix=error.get("fix", ""),
                diff=tuple(error.get("diff", ())),
            )
        )

    def failed(self, code: str, message: str, fix: str = "", *, exchange: bool = False, service: str = "") -> None:
        """Something went wrong, in an exchange (of `service`, where that is known) or beside any."""
        self._refused(service, exchange=exchange)
        _count_up(self.errors, code, message, fix)

    def stopped(self, code: str, message: str, fix: str, *, exchange: bool, service: str) -> None:
        """The guard answered the agent; `exchange` says that nothing else counts that exchange."""
        self._refused(service, exchange=exchange)
        _count_up(self.guarded, code, message, fix)

    def _refused(self, service: str, *, exchange: bool) -> None:
        self.exchanges += exchange
        if exchange and service:
            self.services[service].refused += 1

    def bypassed(self, host: str, method: str, service: str | None) -> None:
        """The agent called a host past the services."""
        seen = self.hosts.get((host, method))
        count = seen.count + 1 if seen else 1
        self.hosts[host, method] = HostTried(host=host, method=method, count=count, service=service)

    @property
    def asked(self) -> set[str]:
        """The services that were asked."""
        return set(self.services)

    def total(self, how: Literal["hits", "recorded", "live", "worlds", "faulted"]) -> int:
        """The exchanges of every service that were answered so."""
        return sum(getattr(count, how) for count in self.services.values())

    def guessed_effects(self) -> tuple[GuessedEffect, ...]:
        """One entry a guessed call, sorted."""
        return tuple(
            GuessedEffect(
                service=key[0], name=key[1], effect=key[2], count=count, repeated=self.guesses_repeated.get(key, 0)
            )
            for key, count in sorted(self.guesses.items())
        )


def _count_up(seen: dict[tuple[str, str], ErrorSeen], code: str, message: str, fix: str) -> None:
    known = seen.get((code, message))
    seen[code, message] = ErrorSeen(code=code, message=message, fix=fix, count=known.count + 1 if known else 1)


def label(interaction: Interaction) -> str:
    """How a person calls this call: its tool, else method and path."""
    request = interaction.request
    return interaction.tool or f"{request.method} {request.target.partition('?')[0]}"


def without_trailers(interaction: Interaction) -> str:
    """What to say of an answer whose trailers were not passed on; empty for any other."""
    names = interaction.response.trailers
    return names and f"{interaction.request.service} {label(interaction)}: its trailers ({names}) were not passed on"


def unused_labels(interactions: Sequence[Interaction], played: Sequence[int]) -> tuple[str, ...]:
    """The recordings that nothing asked for, as `#3 orders query_order`."""
    return tuple(
        f"#{interaction.index} {interaction.request.service} {label(interaction)}"
        for interaction, times in zip(interactions, played, strict=True)
        if not times
    )


def llm_of(
    modes: dict[str, Mode], llm_services: frozenset[str], tally: Tally
) -> Literal["live", "replayed", "stand-in", "none"]:
    """What stood behind the LLM services that were asked."""
    asked = llm_services & tally.asked
    if not asked:
        return "none"
    counts = tally.services
    real = {
        name for name in asked if modes[name] != "replay" and (modes[name] != "new_episodes" or counts[name].recorded)
    }
    if not real:
        return "replayed"
    return "stand-in" if real & tally.stand_ins else "live"


class Ending(NamedTuple):
    """How a command ends: the status, and each reason for one that is not 0, most important first."""

    status: int
    reasons: tuple[str, ...]


def ending(summary: SessionSummary, command_status: int, *, allow_unused: bool = False) -> Ending:
    """The exit status of a session's command. Where several hold: 4, 2, 3, the command's own, 1."""
    found: list[tuple[int, str]] = []
    for error in summary.errors:
        status = EXIT_PLATFORM if error.code in PLATFORM_CODES else EXIT_FAILED
        found.append((status, _told(error.message, error.fix)))
    found.extend((EXIT_FAILED, _told(each.message, each.fix)) for each in summary.guarded if each.code in CUTS)
    found.extend(_misses(summary))
    found.extend(_nothing_or_unused(summary, allow_unused))
    if command_status:
        found.append((_OWN, f"the command ended with status {command_status}"))
    found.extend((EXIT_FAILED, f"not sealed: {reason}") for reason in summary.aside_reasons)
    worst = next((kind for kind in _PRECEDENCE if any(kind == each for each, _ in found)), None)
    if worst is None:
        return Ending(EXIT_FINE, ())
    reasons = tuple(text for _, text in sorted(found, key=lambda reason: reason[0] != worst))
    return Ending(command_status if worst == _OWN else worst, reasons)


def _misses(summary: SessionSummary) -> Iterable[tuple[int, str]]:
    for miss in summary.misses:
        times = f" ({miss.count} times)" if miss.count > 1 else ""
        also = "".join(f"\n    also {line}" for line in miss.diff[1:_DIFFERENCES])
        yield EXIT_MISSES, _told(f"miss{times}: {miss.message}{also}", miss.fix)
    for host in summary.hosts:
        yield EXIT_MISSES, _told(*_host_told(host))


def _host_told(host: HostTried) -> tuple[str, str]:
    times = f", {host.count} times" if host.count > 1 else ""
    if host.service:
        return (
            f'{host.method} went straight to {host.host}{times}, the address of service "{host.service}"; refused',
            f'point that tool at the proxy by a variable of its own: env = ["..."] under [services.{host.service}]',
        )
    return (
        f"{host.method} went to {host.host}{times}, which is no service; refused",
        "make it a service in proctor.toml, or list it in pass_hosts to let it go direct while recording",
    )


def _nothing_or_unused(summary: SessionSummary, allow_unused: bool) -> Iterable[tuple[int, str]]:
    if not summary.exchanges:
        yield (
            EXIT_MISSES,
            _told(
                "no request reached the proxy at all",
                "the agent must read the variables that `proctor env` prints; see docs/recording.md",
            ),
        )
    elif not allow_unused:
        for service in summary.services_unused:
            yield (
                EXIT_MISSES,
                _told(
                    f'service "{service}" was never asked',
                    "if that is right, say --allow-unused (in a marker allow_unused=True); "
                    "else see that the agent reads its variable",
                ),
            )


def _told(message: str, fix: str) -> str:
    return f"{message}\n    {fix}" if fix else message
