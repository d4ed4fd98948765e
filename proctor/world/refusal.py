"""What a tool answers instead of its result, because a rule forbids the call."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json


class BusinessError(Exception):
    """A refusal by the rules of the world: the call is undone, and the agent is told what to change."""

    def __init__(
        self, code: str, message: str, hint: str = "", argument: str = "", status: int = 409, **details: Any
    ) -> None:
        """`code` is stable, `argument` names the one to change, `status` is HTTP's; `details` are further fields.

        Raises ValueError for a status that is no client's error: a world that fails does so by another exception.
        """
        if not 400 <= status < 500:
            raise ValueError(f"a business error has a status from 400 to 499, not {status}")
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.argument = argument
        self.status = status
        self.details = details

    def body(self) -> dict[str, Any]:
        """What the agent reads: `error` (the code), `message`, `hint` and `argument` where there are some."""
        told = {"error": self.code, "message": self.message, "hint": self.hint, "argument": self.argument}
        return {**{key: value for key, value in told.items() if value}, **self.details}

    def text(self) -> bytes:
        """The same as JSON. Raises ValueError (pydantic's) for what has none."""
        return to_json(self.body())
