"""Replies kept on disk by the content of their question, so that a run goes on where it was stopped, for nothing."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from proctor.errors import PlatformError
from proctor.judge.exchanges import Exchange, key_of
from proctor.judge.spending import whole
from proctor.model_call import Model, ModelCall, ModelFailure, Reply
from proctor.replacing import replace_file
from proctor.verdict import CriterionResult


class ReplyCache:
    """A folder of replies. A file that cannot be read is no reply; the question is asked again."""

    def __init__(self, folder: Path, *, reads: bool = True) -> None:
        """With `reads` false replies are kept, and none is found: whoever asks is to be asked."""
        self._folder = folder
        self._reads = reads

    def find(self, key: str) -> Exchange | None:
        """The kept exchange of that key."""
        if not self._reads:
            return None
        try:
            found = Exchange.model_validate_json(self._path(key).read_bytes())
        except (OSError, ValidationError):
            return None
        return found if found.key == key and found.text is not None else None

    def keep(self, exchange: Exchange) -> None:
        """Write it, whole or not at all. Raises PlatformError where the disk refuses."""
        path = self._path(exchange.key)
        try:
            replace_file(path, exchange.model_dump_json().encode(), mode=0o600)
        except OSError as error:
            raise PlatformError("not_writable", f"{path} cannot be written: {error.strerror}") from None

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"


class KeptModel:
    """A model whose replies are kept, one for each trajectory that is judged.

    A reply is written when its criterion has a result that is no error, so that nothing unreadable is ever found again.
    """

    def __init__(self, model: Model, cache: ReplyCache) -> None:
        self._model = model
        self._cache = cache
        self.exchanges: list[Exchange] = []
        """All of this trajectory, as they were used."""
        self._found = 0
        self._costs: list[float | None] = []

    @property
    def name(self) -> str:
        """The model's."""
        return self._model.name

    @property
    def is_stand_in(self) -> bool:
        """The model's."""
        return self._model.is_stand_in

    @property
    def asked(self) -> int:
        """Calls that went out now, and were not kept before."""
        return len(self.exchanges) - self._found

    @property
    def cost(self) -> float | None:
        """US dollars spent now; None where a provider did not tell."""
        return whole(self._costs) if self._costs else 0.0

    async def ask(self, call: ModelCall) -> Reply:
        """The kept reply, else the model's. Raises ModelFailure."""
        key = key_of(self.name, call)
        kept = self._cache.find(key)
        if kept is not None:
            self._found += 1
            self.exchanges.append(kept)
            return kept.again()
        try:
            reply = await self._model.ask(call)
        except ModelFailure as failure:
            self.exchanges.append(Exchange.of_failure(key, call.schema_name, failure))
            self._costs.append(failure.usage.cost)
            raise
        self.exchanges.append(Exchange.of_reply(key, call.schema_name, reply))
        self._costs.append(reply.usage.cost)
        return reply

    def keep(self, result: CriterionResult) -> None:
        """Write the replies of a criterion that has its result."""
        if result.outcome == "judge_error":
            return
        for each in self.exchanges:
            if each.criterion == result.criterion and each.text is not None:
                self._cache.keep(each)
