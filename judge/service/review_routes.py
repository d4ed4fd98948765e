"""The review queue over HTTP.

    GET  /v1/reviews?annotator=NAME                     -> ReviewsAnswer
    GET  /v1/reviews/ID?annotator=NAME                  -> ReviewSheet
    POST /v1/reviews/ID/labels        LabelSent         -> LabelKept (201)
    POST /v1/reviews/ID/reveal        RevealAsked       -> RevealAnswer
    POST /v1/reviews/ID/adjudication  LabelSent         -> LabelKept (201)
    GET  /v1/realignments?annotator=NAME                -> RealignmentsAnswer
    GET  /v1/labels?rubric=NAME                         -> JSON lines, for `proctor judge calibrate`

Errors are ErrorAnswers, made by `http.guarding`; none holds what another person said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp import web

from proctor.errors import UsageError
from proctor.http_server import body_of, parsed
from proctor.judge.service.http import answered
from proctor.judge.service.label_export import exported
from proctor.judge.service.labelling import may_label, own_labels, reveal, revealed, take_label, waiting
from proctor.judge.service.realigning import adjudicate, decides, realignments
from proctor.judge.service.records import AnyRecord
from proctor.judge.service.review_sheet import judged, refuse_untrue, sheet
from proctor.judge.service.reviews import (
    Given,
    RecordOf,
    Review,
    Sent,
    annotator_of,
    review_of,
    verdicts_of,
)
from proctor.review_wire import LEFT_OUT_HEADER, LabelKept, LabelSent, RevealAnswer, RevealAsked
from proctor.store import Store

if TYPE_CHECKING:
    from proctor.store import Database

MOST_BYTES = 1024 * 1024
"""Of a label."""


def review_routes(store: Store, record_of: RecordOf) -> list[web.RouteDef]:
    """The routes over a store that has `reviews_step`; `record_of` reads a verdict's record from it."""
    routes = _Routes(store, record_of)
    return [
        web.get("/v1/reviews", routes.waiting),
        web.get("/v1/reviews/{id}", routes.sheet),
        web.post("/v1/reviews/{id}/labels", routes.label),
        web.post("/v1/reviews/{id}/reveal", routes.reveal),
        web.post("/v1/reviews/{id}/adjudication", routes.adjudicate),
        web.get("/v1/realignments", routes.realignments),
        web.get("/v1/labels", routes.labels),
    ]


class _Routes:
    def __init__(self, store: Store, record_of: RecordOf) -> None:
        self._store = store
        self._record_of = record_of

    async def waiting(self, request: web.Request) -> web.Response:
        annotator = _annotator(request)
        return answered(await self._store.run(lambda database: waiting(database, annotator)))

    async def sheet(self, request: web.Request) -> web.Response:
        identity, annotator = request.match_info["id"], _annotator(request)

        def read(database: Database) -> tuple[Review, AnyRecord, list[Given], bool]:
            review = review_of(database, identity)
            if not decides(database, review, annotator):
                may_label(database, review, annotator)
            own = own_labels(database, identity, annotator)
            return review, self._record(database, identity), own, revealed(database, identity, annotator)

        review, record, own, seen = await self._store.run(read)
        return answered(sheet(review, record, own, revealed=seen))

    async def label(self, request: web.Request) -> web.Response:
        identity, sent = request.match_info["id"], await _label(request)
        await self._refuse_untrue(identity, sent)
        return answered(await self._store.run(lambda database: take_label(database, identity, sent)), 201)

    async def adjudicate(self, request: web.Request) -> web.Response:
        identity, sent = request.match_info["id"], await _label(request)
        await self._refuse_untrue(identity, sent)
        kept: LabelKept = await self._store.run(lambda database: adjudicate(database, identity, sent))
        return answered(kept, 201)

    async def reveal(self, request: web.Request) -> web.Response:
        identity = request.match_info["id"]
        annotator = annotator_of(parsed(RevealAsked, await body_of(request, MOST_BYTES)).annotator)

        def read(database: Database) -> tuple[Review, list[tuple[AnyRecord, Sent]]]:
            reveal(database, identity, annotator)
            sent = verdicts_of(database, identity)
            found = [(self._record_of(database, each.verdict), each) for each in sent]
            return review_of(database, identity), [(record, each) for record, each in found if record is not None]

        review, found = await self._store.run(read)
        asked = {each.id for each in review.criteria}
        return answered(RevealAnswer(id=identity, judged=tuple(judged(record, sent, asked) for record, sent in found)))

    async def realignments(self, request: web.Request) -> web.Response:
        annotator = _annotator(request)
        return answered(await self._store.run(lambda database: realignments(database, annotator)))

    async def labels(self, request: web.Request) -> web.Response:
        rubric = request.query.get("rubric", "")
        found = await self._store.run(lambda database: exported(database, rubric))
        lines = "".join(each.model_dump_json(exclude_defaults=True) + "\n" for each in found.labels)
        headers = {LEFT_OUT_HEADER: str(found.left_out)}
        return web.Response(text=lines, content_type="application/jsonl", headers=headers)

    async def _refuse_untrue(self, identity: str, sent: LabelSent) -> None:
        """A step or a quote that the run does not have is no label."""
        if not sent.citations:
            return

        def read(database: Database) -> tuple[Review, AnyRecord]:
            review = review_of(database, identity)
            review.asked(sent.criterion)
            return review, self._record(database, identity)

        _, record = await self._store.run(read)
        refuse_untrue(sent.citations, record, record.rubric.criterion(sent.criterion))

    def _record(self, database: Database, identity: str) -> AnyRecord:
        """Any of them: all are of the same run and rubric."""
        for sent in reversed(verdicts_of(database, identity)):
            record = self._record_of(database, sent.verdict)
            if record is not None:
                return record
        raise UsageError("record_gone", f"the run of review {identity} is no longer kept", "judge it again")


def _annotator(request: web.Request) -> str:
    return annotator_of(request.query.get("annotator", ""))


async def _label(request: web.Request) -> LabelSent:
    sent = parsed(LabelSent, await body_of(request, MOST_BYTES))
    return sent.model_copy(update={"annotator": annotator_of(sent.annotator)})
