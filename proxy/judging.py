"""The resource `_judge` of a session, for a judge whose calls go to the session's tape.

    POST /s/SESSION/_judge/salt  -> JudgeSalt

A judge's prompts are made with a salt. One that is recorded asks the session for it, so that the tape holds it and a
replay, on whatever machine, makes the same prompts. Errors are ErrorAnswers: 404 `judge_salt_missing` where the tape
that is played has none, 404 `judge_not_taped` where no model's calls are on a tape, 404 `unknown_route`, 405.
"""

from __future__ import annotations

from aiohttp import web

from proctor.errors import EXIT_FAILED, SessionError
from proctor.proxy import answers
from proctor.proxy.session import Session
from proctor.wire import ErrorAnswer, JudgeSalt


def answer(session: Session, method: str, path: str, _: object = None) -> web.Response:
    """See the module. A body says nothing."""
    if path != "/salt":
        return answers.of_error(404, ErrorAnswer(code="unknown_route", message=f"a session has no _judge{path}"))
    if method != "POST":
        told = f"_judge{path} takes POST, not {method}"
        return answers.of_error(405, ErrorAnswer(code="method_not_allowed", message=told), {"Allow": "POST"})
    try:
        return answers.of_model(JudgeSalt(salt=_salt_of(session)))
    except SessionError as error:
        return answers.of_error(404, ErrorAnswer(code=error.code, message=error.message, fix=error.fix))


def is_verdict(session: Session, command_status: int) -> bool:
    """Whether a command that ended so is a judge that was not pleased: no reason to doubt what was recorded of it."""
    only_models = session.tally.asked <= session.config.llm_services
    return command_status == EXIT_FAILED and bool(session.judge.salt) and only_models


def _salt_of(session: Session) -> str:
    """The session's, which its journal has before anybody is told. Raises SessionError."""
    models = [mode for name, mode in session.spec.modes.items() if name in session.config.llm_services]
    told = bool(session.judge.salt)
    salt = session.judge.salt_for(models)
    if session.journal is not None and not told:
        session.journal.judge_salt(salt)
    return salt
