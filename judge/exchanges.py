"""Questions and replies as they are kept: found again by content, and played again from a record without a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict

from proctor.judge.inquiry import digest
from proctor.model_call import Attempt, Cause, ModelCall, ModelFailure, Reply, Usage


class Exchange(BaseModel):
    """One question by its digest, and what came of it: a reply, or a failure with its cause."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    criterion: str
    text: str | None = None
    model: str = ""
    cause: Cause | None = None
    message: str = ""
    usage: Usage = Usage()
    attempts: tuple[Attempt, ...] = ()

    @classmethod
    def of_reply(cls, key: str, criterion: str, reply: Reply) -> Exchange:
        """What was answered."""
        return cls(
            key=key, criterion=criterion, text=reply.text, model=reply.model, usage=reply.usage, attempts=reply.attempts
        )

    @classmethod
    def of_failure(cls, key: str, criterion: str, failure: ModelFailure) -> Exchange:
        """Why there was no answer."""
        return cls(
            key=key,
            criterion=criterion,
            cause=failure.cause,
            message=failure.message,
            usage=failure.usage,
            attempts=failure.attempts,
        )

    def again(self) -> Reply:
        """The same reply. Raises the same ModelFailure where there was none."""
        if self.text is None:
            raise ModelFailure(self.cause or "no_reply", self.message, self.attempts, self.usage)
        return Reply(self.text, self.model, self.usage, self.attempts)


def key_of(model: str, call: ModelCall) -> str:
    """The digest of a question: the same prompt to the same model has the same key."""
    asked: dict[str, Any] = {**vars(call), "messages": [vars(message) for message in call.messages]}
    asked.pop("timeout")
    return digest([model, asked])


class RecordedModel:
    """Answers from kept exchanges only. A question that is none of them was never asked."""

    def __init__(self, name: str, exchanges: Iterable[Exchange], *, is_stand_in: bool) -> None:
        self.name = name
        self.is_stand_in = is_stand_in
        self._exchanges = {each.key: each for each in exchanges}
        self.unasked: list[str] = []
        """Criteria with a question that the record does not hold."""

    async def ask(self, call: ModelCall) -> Reply:
        """The kept reply. Raises ModelFailure where the record has none."""
        found = self._exchanges.get(key_of(self.name, call))
        if found is None:
            self.unasked.append(call.schema_name)
            raise ModelFailure("no_reply", "the record holds no such question: the prompt is another one now")
        return found.again()
