"""The salt of a judge that runs in a session of the proxy: the tape's, so that a replay asks the same questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from proctor.errors import PlatformError, UsageError
from proctor.http_client import ApiClient
from proctor.vendors import STAND_IN
from proctor.wire import JudgeSalt

SESSION_URL = "PROCTOR_SESSION_URL"
_FIXES = {
    "judge_salt_missing": "record one: proctor record --cassette NAME -- proctor judge run ...; or, to have a live "
    "model asked in a replay, say --mode SERVICE=live",
    "proxy_unreachable": f"{SESSION_URL} names one of its sessions: unset it outside of a session",
}


async def salt_under(environ: Mapping[str, str], models: Iterable[str]) -> bytes | None:
    """The salt of the session's tape; None where no tape has this judge's calls, and the installation's is used.

    So it is outside of any session, for a stand-in (which makes no calls), and in a session that neither keeps a
    model's calls nor plays any. Where there is one, each question is to be asked, that the tape has it or is used:
    no kept reply may answer. Raises UsageError where the tape that is played was not recorded by a judge,
    PlatformError where the proxy cannot be asked.
    """
    url = environ.get(SESSION_URL, "")
    if not url or all(name.startswith(STAND_IN) for name in models):
        return None
    async with ApiClient(url, "", "proxy") as proxy:  # straight there: a session's proxy variables lead there too
        try:
            return bytes.fromhex((await proxy.call("POST", "/_judge/salt", JudgeSalt)).salt)
        except (UsageError, PlatformError) as error:
            if error.code == "judge_not_taped":
                return None
            error.fix = error.fix or _FIXES.get(error.code, "")
            raise
