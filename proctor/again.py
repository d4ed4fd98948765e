"""Recording a tape again: what its stamp says of how it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proctor.cassette import Cassette
from proctor.config import Config
from proctor.errors import UsageError, cassette_missing
from proctor.identities import recorded_variables
from proctor.launch import session_spec
from proctor.paths import Layout, cassette_name
from proctor.placeholders import numbers_in
from proctor.stamp import command_words, is_hidden
from proctor.wire import Mode, SessionSpec


@dataclass(frozen=True)
class Rerun:
    """How a tape is recorded again. `notes` say what is not as it was."""

    words: tuple[str, ...]
    folder: str
    """Below the project's folder."""
    notes: tuple[str, ...] = ()


def rerun(cassette: Cassette, environ: Mapping[str, str]) -> Rerun:
    """The command that made a tape, with today's secrets in it. Raises UsageError where its stamp says too little."""
    name, command = cassette.name, cassette.stamp.get("command")
    if not command:
        raise UsageError("no_command", f"tape {name} does not say by what command it was made", _by_hand(name))
    variables = recorded_variables(cassette)
    secrets = {placeholder: environ.get(variable, "") for variable, placeholder in variables.items()}
    words = command_words(command)
    unset = [variable for variable, placeholder in variables.items() if not secrets[placeholder]]
    needed = [variable for variable in unset if any(variables[variable] in word for word in words)]
    if needed:
        raise UsageError(
            "secret_unset",
            f"the command of tape {name} holds the secret of {', '.join(needed)}, which is not set",
            f"set {needed[0]}, or {_by_hand(name)}",
        )
    notes = tuple(f"the tape was recorded with {variable} set, which is not set now" for variable in unset)
    folder = str(cassette.stamp.get("folder", ""))
    return Rerun(tuple(_word(name, word, secrets) for word in words), folder, notes)


def _word(tape: str, word: str, secrets: Mapping[str, str]) -> str:
    """A word of a command as it was typed: `secrets` by the placeholders that stand for them."""
    if is_hidden(word) or numbers_in(word) - numbers_in(" ".join(secrets)):
        told = f'the command of tape {tape} was not kept whole: "{word}" stands for something else'
        raise UsageError("command_hidden", told, _by_hand(tape))
    for placeholder in sorted(secrets, key=len, reverse=True):
        word = word.replace(placeholder, secrets[placeholder])
    return word


def _by_hand(name: str) -> str:
    return f"say it: proctor record --again {name} -- COMMAND"


def spec_again(
    config: Config, cassette: Cassette, made: Rerun, *, allow_unused: bool, isolated: bool = False
) -> SessionSpec:
    """The session that records a tape again: every service, save those that were live when it was made.

    One that is configured, and that the tape does not have, need not be asked this time either.
    """
    live = set(cassette.stamp.get("live", ()))
    modes: dict[str, Mode] = {
        name: "world" if service.only_world else "live" if name in live else "record"
        for name, service in config.services.items()
    }
    recorded = {name for name, mode in modes.items() if mode == "record"}
    return session_spec(
        config,
        cassette.name,
        modes,
        command=made.words,
        folder=made.folder,
        again=True,
        allow_unused=allow_unused or not recorded <= set(cassette.services),
        notes=made.notes,
        isolated=isolated,
    )


def tapes_meant(layout: Layout, named: Sequence[str]) -> list[str]:
    """The tapes that are named, each once: by name, or by a folder below `cassettes/`. Raises CassetteMissing."""
    known = layout.cassette_names()
    found: dict[str, None] = {}
    for name in named:
        folder = name.removeprefix("./").rstrip("/")
        plain = "" if folder in {"", ".", "cassettes"} else cassette_name(folder)
        below = [each for each in known if not plain or each.startswith(f"{plain}/")]
        if plain in known and not name.endswith("/"):
            found[plain] = None
        elif below:
            found.update(dict.fromkeys(below))
        else:
            raise cassette_missing(plain, layout.cassettes / f"{plain}.yaml", known)
    return list(found)
