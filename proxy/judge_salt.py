"""The salt of a judge whose calls go to a session's tape: which one it is, and where it comes from. No I/O."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass

from proctor.cassette import Cassette
from proctor.errors import SessionError
from proctor.stamp import JUDGE_SALT
from proctor.wire import KEPT, Mode

_BYTES = 32
_SALT = re.compile(rf"[0-9a-f]{{{2 * _BYTES}}}")


@dataclass
class Judging:
    """What one session knows of its judge."""

    earlier: str = ""
    """The salt of the tape that is played, taken over, extended or recorded again; empty where it has none."""
    salt: str = ""
    """The one that was told in this session."""

    def salt_for(self, models: Collection[Mode]) -> str:
        """The salt, the same one each time. `models` are the modes of the session's LLM services.

        A tape's own is kept; else one is drawn for a tape that is being recorded, so that nobody who asks can choose
        it. Raises SessionError where no judge's call goes to or comes from a tape, and for a tape of no judge.
        """
        if not self.salt:
            self.salt = self._earlier_or_new(models)
        return self.salt

    def _earlier_or_new(self, models: Collection[Mode]) -> str:
        if not set(models) - {"live"}:
            raise SessionError("judge_not_taped", "this session keeps no calls to a model, and plays none")
        if self.earlier:
            return self.earlier
        if not KEPT.isdisjoint(models):
            return secrets.token_hex(_BYTES)
        if "live" in models:  # the judge may well be the one that is really asked
            raise SessionError("judge_not_taped", "the tape of this session holds no judge")
        raise SessionError("judge_salt_missing", "the tape of this session was not recorded by a judge")


def salt_on(tape: Cassette | None) -> str:
    """The salt in a tape's seal; empty where there is none that can be used."""
    salt = str(tape.stamp.get(JUDGE_SALT, "")) if tape else ""
    return salt if _SALT.fullmatch(salt) else ""
