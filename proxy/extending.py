"""Whether a session can extend a tape, told before anything runs."""

from __future__ import annotations

from proctor.config import Config
from proctor.errors import UsageError
from proctor.proxy.playback import Tape
from proctor.wire import SessionSpec


def check_extends(config: Config, spec: SessionSpec, tape: Tape) -> None:
    """Raise UsageError where what is new could not be appended to the tape, or could not be believed."""
    name = spec.cassette
    if "record" in spec.modes.values():
        recorded = next(service for service, mode in spec.modes.items() if mode == "record")
        raise UsageError(
            "extends_and_records",
            f"{name} is extended in this session, and {recorded} would be recorded all over",
            f"say --mode {recorded}=new_episodes to keep what is new of it too, or --mode {recorded}=live",
        )
    if tape.cassette.by != "proctor":
        raise UsageError(
            "extends_vcrpy",
            f"{name} was recorded by vcrpy: it is served as it is, and cannot be extended",
            f"record it: proctor record --cassette {name} -- COMMAND",
        )
    extended = {config.group_of(service): service for service, mode in spec.modes.items() if mode == "new_episodes"}
    for service, mode in spec.modes.items():
        one = extended.get(config.group_of(service))
        if one is not None and mode != "new_episodes":
            raise UsageError(
                "extends_half_a_state",
                f"{service} and {one} have one state, and only {one} would be asked",
                f"say --mode {service}=new_episodes too",
            )
