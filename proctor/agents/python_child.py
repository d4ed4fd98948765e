"""`python -m proctor.agents.python_child MODULE:FUNCTION`: a Python function as a program that an agent can be.

The function takes the turn as a dict (see `contract.Asked`) and gives the reply, as a text or as a dict; it may be
async. It is called in one process for the whole conversation, so it may keep what it likes.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

Function = Callable[[dict[str, Any]], Any]
_USAGE = 2


def main(arguments: list[str]) -> int:
    """Answer each line of standard input until it ends."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m proctor.agents.python_child MODULE:FUNCTION\n")
        return _USAGE
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what the function prints is no answer
    with contextlib.redirect_stdout(sys.stderr), asyncio.Runner() as runner:
        function = function_of(arguments[0])
        for line in sys.stdin:
            _answer(function, json.loads(line), runner, answers)
    return 0


def function_of(reference: str) -> Function:
    """The function, from a module of the working directory. Raises what its import raises; SystemExit for none."""
    sys.path.insert(0, str(Path.cwd()))
    module, _, name = reference.partition(":")
    found = getattr(importlib.import_module(module), name, None)
    if not callable(found):
        raise SystemExit(f"{reference} is no function")
    function: Function = found
    return function


def _answer(function: Function, asked: dict[str, Any], runner: asyncio.Runner, answers: IO[str]) -> None:
    given = function(asked)
    if inspect.iscoroutine(given):
        given = runner.run(given)
    told = {"reply": given} if isinstance(given, str) else given
    answers.write(json.dumps(told, ensure_ascii=False) + "\n")
    answers.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
