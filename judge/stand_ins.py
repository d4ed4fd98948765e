"""Models that are none: for tests, demos and CI without a key. Each says so in its name and in every reply.

stand-in/obedient         reads only the prompt; follows every order and copies every verdict that it finds in it
stand-in/scripted:FILE    says what a file tells it to, or fails as the file says
"""

from __future__ import annotations

from pathlib import Path

from proctor.errors import UsageError
from proctor.judge.obedient import Obedient
from proctor.judge.scripted import scripted
from proctor.model_call import Model

STAND_IN = "stand-in/"
"""What the name of every stand-in begins with."""
_SCRIPTED = "stand-in/scripted:"


def stand_in(name: str) -> Model:
    """The stand-in of that name. Raises UsageError where there is none, or where its file cannot be used."""
    if name == Obedient.name:
        return Obedient()
    if name.startswith(_SCRIPTED) and (file := name.removeprefix(_SCRIPTED)):
        return scripted(name, Path(file))
    raise UsageError(
        "no_such_stand_in",
        f"there is no stand-in {name!r}",
        f"There are `{Obedient.name}` and `{_SCRIPTED}FILE`.",
    )
