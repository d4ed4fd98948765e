"""What a session means for its test. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from proctor.cli.report import aside_line, head_lines, reason_lines
from proctor.summary import ending
from proctor.trace import SessionSummary

Outcome = Literal["passed", "failed", "skipped", "not run", "interrupted"]
"""Of a test so far. `failed` in its body, also where that was expected; `not run` where another fixture failed."""

_SELF = "proctor: "


class Verdict(NamedTuple):
    """What to tell, and whether it fails the test; nothing where the text is empty."""

    text: str
    fails: bool


def verdict(summary: SessionSummary, outcome: Outcome, root: Path) -> Verdict:
    """Whatever fails `proctor replay` or `record` fails a test that passed. One that failed is only told of it.

    A test that was skipped or never ran fails if what it did ask went wrong.
    """
    reasons = _reasons(summary, outcome)
    # The first reason comes first: pytest's short summary shows one line.
    first, *lines = [*reason_lines(reasons), *(f"  {line.removeprefix(_SELF).strip()}" for line in head_lines(summary))]
    if summary.aside:
        lines += [aside_line(summary, root), f"  to take it    proctor cassette accept {summary.cassette}"]
    if not reasons and not summary.aside:
        return Verdict("", False)
    lines.append(f"  all of it     proctor session show {summary.session} --trace")
    told = first.removeprefix("  * ").strip()
    return Verdict("\n".join((f"{_SELF}{told}", *lines)), bool(reasons) and outcome in ("passed", "skipped", "not run"))


def _reasons(summary: SessionSummary, outcome: Outcome) -> tuple[str, ...]:
    if outcome == "passed":
        return ending(summary, 0, allow_unused=summary.allow_unused).reasons
    own = summary.model_copy(update={"aside_reasons": ()})  # the first of them is that the test did not pass
    if outcome in ("failed", "interrupted"):
        return ending(own, 0, allow_unused=summary.allow_unused).reasons
    return tuple(_of_what_was_asked(own))


def _of_what_was_asked(summary: SessionSummary) -> Iterator[str]:
    """The reasons without those for what was not asked: a test that stopped early owes no request."""
    if summary.exchanges or summary.hosts or summary.errors:
        yield from ending(summary, 0, allow_unused=True).reasons
