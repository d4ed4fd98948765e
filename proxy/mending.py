"""The one command, or the one line of configuration, that mends a miss.

Where answers are taken over from a tape while others are recorded (`SessionSpec.over`), the session is a recording
already: what that tape lacks, only staging can answer.
"""

from __future__ import annotations

from proctor.config import Config
from proctor.errors import recording_command
from proctor.proposing import toml_of
from proctor.proxy.cause import Cause
from proctor.proxy.playback import Tape
from proctor.wire import SessionSpec

_OF_LLM = frozenset({"prompt", "conversation", "tools", "setting"})


def asks_live_llm(spec: SessionSpec, config: Config) -> bool:
    """Whether a model is asked anew in this session, which may then want calls that nobody recorded."""
    return any(mode != "replay" and name in config.llm_services for name, mode in spec.modes.items())


def again(tape: Tape, spec: SessionSpec) -> str:
    """The command that records everything anew: the tape of this session, which may be another than the one played."""
    command = spec.recorded_by or recording_command(spec.cassette, _command(tape))
    why = "only staging can answer it; record everything anew" if spec.over else "if the change is meant, record again"
    return f"{why}: {command}"


def more(tape: Tape, spec: SessionSpec, service: str) -> str:
    """What helps where the tape has no answer to a call that may be right: beside a live LLM the tape is extended."""
    if spec.over or not asks_live_llm(spec, tape.config):
        return again(tape, spec)
    others = [f"--mode {name}={mode}" for name, mode in spec.modes.items() if mode != "replay"]
    modes = " ".join([*others, f"--mode {service}=new_episodes"])
    replay = f"proctor replay --cassette {tape.cassette.name} {modes} -- {_command(tape)}"
    command = f"{spec.extended_by} {modes}" if spec.extended_by else replay
    return f"if the call is meant, extend the tape by it: {command}"


def fix(tape: Tape, spec: SessionSpec, service: str, cause: Cause) -> str:
    """What helps against a miss of this cause."""
    name = tape.cassette.name
    if cause.kind == "volatile":
        lines = " and ".join(toml_of(cause.rules))
        return f"if it says nothing, declare it in proctor.toml under [services.{service}]: {lines}"
    if (
        cause.kind in _OF_LLM
        and not (spec.recorded_by or spec.over)
        and any(other not in tape.config.llm_services for other in spec.modes)
    ):
        return (
            "if the change is meant, ask the model again, the tools from the tape: "
            f"proctor record --only {service} --over {name} --cassette {name} -- {_command(tape)}"
        )
    return again(tape, spec)


def _command(tape: Tape) -> str:
    """The agent's command as the tape has it; where that hides a part, or is not known, the reader puts it in."""
    command = str(tape.cassette.stamp.get("command", ""))
    return command if command and "..." not in command else "COMMAND"
