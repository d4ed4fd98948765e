"""The review queue behind a real socket, over verdicts of the stand-in judge."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import ClientSession, web

from proctor.judge.inquiry import Inquiry
from proctor.judge.judging import judge
from proctor.judge.record import Record, record_of
from proctor.judge.service.http import RateLimit, guarding
from proctor.judge.service.records import AnyRecord, keep_record, record_by_id
from proctor.judge.service.review_routes import review_routes
from proctor.judge.service.reviews import note_verdict
from proctor.judge.service.schema import STEPS
from proctor.review_client import ReviewClient
from proctor.rubric_file import load_rubric
from proctor.store import Store
from proctor.trajectory import Trajectory
from proctor.verdict import Verdict
from proctor.wire import TOKEN_HEADER
from tests.support import serving_app
from tests.unit.judge.refunds import TERMS, answer, refund, saying

if TYPE_CHECKING:
    from proctor.store import Database

TOKEN = "a-token-of-the-tests"
CRITERIA = ("task_achievement", "step_correctness", "argument_accuracy", "context_consistency", "safety")
"""Those of the rubric `trajectory` that a run is asked about."""


async def doubtful(
    run: Trajectory | None = None, rubric: str = "trajectory", finding: str = "seen so", score: int = 1
) -> Record:
    """The record of a verdict that goes to people: its total, 50, is what is asked for."""
    run = run or refund()
    inquiry = Inquiry(run, load_rubric(rubric))
    verdict = await judge(inquiry, saying(answer(score, finding=finding)), TERMS)
    return record_of(verdict, inquiry, TERMS, ())


@dataclass
class ReviewService:
    """A running one, and a client of it."""

    url: str
    store: Store
    client: ReviewClient
    http: ClientSession

    async def note(self, record: AnyRecord, *, at_least: float | None = 50.0, share: float = 0.0) -> Verdict:
        """Store a verdict as the service does."""

        def work(database: Database) -> None:
            keep_record(database, record)
            note_verdict(database, record.verdict, record.rubric, at_least, share)

        await self.store.run(work)
        return record.verdict

    async def only(self, annotator: str = "somebody") -> str:
        """The id of the one review that waits for a person."""
        (review,) = (await self.client.reviews(annotator)).reviews
        return review.id

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        """Status and text of one request, as it goes over the wire."""
        async with self.http.request(method, self.url + path, data=None if body is None else json.dumps(body)) as got:
            return got.status, await got.text()

    async def give(self, who: str, review: str, criterion: str, level: float | None, **more: Any) -> tuple[int, str]:
        """Send a label."""
        body = {"annotator": who, "criterion": criterion, "level": level, **more}
        return await self.ask("POST", f"/v1/reviews/{review}/labels", body)

    async def give_all(self, who: str, review: str, **levels: float) -> None:
        """Label a whole review, with 1 where no level is named."""
        for criterion in CRITERIA:
            status, told = await self.give(who, review, criterion, levels.get(criterion, 1.0))
            assert status == 201, told


@asynccontextmanager
async def review_service(folder: Path) -> AsyncIterator[ReviewService]:
    """One over a new database."""
    store = await Store.open(folder / "judge.db", STEPS)
    try:
        app = web.Application(middlewares=guarding(TOKEN, RateLimit(1e6)))
        app.add_routes(review_routes(store, record_by_id))
        http = ClientSession(headers={TOKEN_HEADER: TOKEN})
        async with serving_app(app) as url, ReviewClient(url, TOKEN) as client, http:
            yield ReviewService(url, store, client, http)
    finally:
        await store.close()
