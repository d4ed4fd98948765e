"""Who waits for which verdict, and what they are told while it is made."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from proctor.verdict import CriterionResult


@dataclass(frozen=True)
class News:
    """Of one verdict: a criterion came, or, where there is none, nothing more is to come."""

    verdict: str
    subject: str = ""
    criterion: CriterionResult | None = None


Listener = asyncio.Queue[News]


class Feed:
    """Tells each listener the news of the verdicts it listens for."""

    def __init__(self) -> None:
        self._listeners: defaultdict[str, list[Listener]] = defaultdict(list)

    @contextmanager
    def listening(self, verdicts: Iterable[str]) -> Iterator[Listener]:
        """A queue of the news of these verdicts."""
        ids, queue = set(verdicts), Listener()
        for each in ids:
            self._listeners[each].append(queue)
        try:
            yield queue
        finally:
            for each in ids:
                self._listeners[each].remove(queue)
                if not self._listeners[each]:
                    del self._listeners[each]

    def tell(self, news: News) -> None:
        """Tell it to whoever listens."""
        for queue in self._listeners.get(news.verdict, ()):
            queue.put_nowait(news)
