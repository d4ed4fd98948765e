"""The salt of a judge that runs in a session of the proxy: the tape's, so that a replay asks the same questions."""

from __future__ import annotations

from collections.abc import Mapping

import aiohttp
from pydantic import ValidationError

from proctor.client import error_of
from proctor.errors import PlatformError, UsageError
from proctor.model_call import Model
from proctor.wire import JudgeSalt

SESSION_URL = "PROCTOR_SESSION_URL"
_NOT_TAPED = "judge_not_taped"
_MISSING = "judge_salt_missing"
_SECONDS = 60.0


async def salt_under(environ: Mapping[str, str], model: Model) -> bytes | None:
    """The salt of the session's tape; None where no tape has this judge's calls, and the installation's is used.

    So it is outside of any session, for a stand-in (which makes no calls), and in a session that neither keeps a
    model's calls nor plays any. Where there is one, each question is to be asked, that the tape has it or is used:
    no kept reply may answer. Raises UsageError where the tape that is played was not recorded by a judge,
    PlatformError where the proxy cannot be asked.
    """
    url = environ.get(SESSION_URL, "")
    if not url or model.is_stand_in:
        return None
    status, content = await _asked(f"{url}/_judge/salt")
    if status == 200:
        try:
            return bytes.fromhex(JudgeSalt.model_validate_json(content).salt)
        except ValidationError:
            raise PlatformError("proxy_garbled", f"what answers at {url} is no proxy of this version") from None
    error = error_of(status, content)
    if error.code == _NOT_TAPED:
        return None
    if error.code == _MISSING:
        raise UsageError(
            _MISSING,
            f"{error.message}, so its prompts cannot be made again",
            "record one: proctor record --cassette NAME -- proctor judge run ...; to let a judge in a replay ask a "
            "live model, say --mode SERVICE=live",
        )
    raise error


async def _asked(url: str) -> tuple[int, bytes]:
    """Straight to the proxy: the proxy variables of a session lead there too, and count what they carry."""
    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    try:
        async with aiohttp.ClientSession(timeout=timeout, trust_env=False) as http, http.post(url) as response:
            return response.status, await response.read()
    except (aiohttp.ClientError, TimeoutError) as error:
        told = f"{SESSION_URL} names a session, and no proxy answers at {url}: {error}"
        raise PlatformError("proxy_unreachable", told, f"unset {SESSION_URL} outside of a session") from None
