"""A typed client of the judge service's review queue."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from proctor.http_client import ApiClient
from proctor.review_wire import (
    LEFT_OUT_HEADER,
    LabelKept,
    LabelSent,
    RealignmentsAnswer,
    RevealAnswer,
    RevealAsked,
    ReviewsAnswer,
    ReviewSheet,
)


@dataclass(frozen=True)
class LabelLines:
    """Labels as JSON lines, and how many of an earlier run under the same id are not among them."""

    lines: bytes
    left_out: int


class ReviewClient(ApiClient):
    """Labels for one person at a time. An async context manager; raises as ApiClient does."""

    def __init__(self, url: str, token: str) -> None:
        """`url` is the service's address."""
        super().__init__(url, token, "judge")

    async def reviews(self, annotator: str) -> ReviewsAnswer:
        """Those that wait for this person."""
        return await self.call("GET", f"/v1/reviews?{urlencode({'annotator': annotator})}", ReviewsAnswer)

    async def sheet(self, review: str, annotator: str) -> ReviewSheet:
        """What he is shown of one."""
        path = f"{_path(review)}?{urlencode({'annotator': annotator})}"
        return await self.call("GET", path, ReviewSheet)

    async def label(self, review: str, label: LabelSent) -> LabelKept:
        """Give a label; the service says whether it is blind."""
        return await self.call("POST", f"{_path(review)}/labels", LabelKept, label)

    async def reveal(self, review: str, annotator: str) -> RevealAnswer:
        """The judge's result, once all his labels are in."""
        return await self.call("POST", f"{_path(review)}/reveal", RevealAnswer, RevealAsked(annotator=annotator))

    async def realignments(self, annotator: str) -> RealignmentsAnswer:
        """What he may decide."""
        return await self.call("GET", f"/v1/realignments?{urlencode({'annotator': annotator})}", RealignmentsAnswer)

    async def adjudicate(self, review: str, label: LabelSent) -> LabelKept:
        """Decide a criterion on which two people are apart."""
        return await self.call("POST", f"{_path(review)}/adjudication", LabelKept, label)

    async def labels(self, rubric: str = "") -> LabelLines:
        """All labels by one rubric, for `proctor judge calibrate`."""
        path = f"/v1/labels?{urlencode({'rubric': rubric})}"
        answer = await self.exchange("GET", path)
        if answer.status >= 400:
            raise self.refused(answer.status, answer.content)
        return LabelLines(answer.content, int(answer.headers.get(LEFT_OUT_HEADER, "0")))


def _path(review: str) -> str:
    return f"/v1/reviews/{quote(review, safe='')}"
