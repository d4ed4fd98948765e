"""What a person sees while a run goes on: each trial that did not pass, how fast it goes, and how long it will take."""

from __future__ import annotations

import sys
import time

import click

from proctor.harness.trial import Label, TrialDone, TrialKey, TrialPlan

_EVERY = 10.0
"""Seconds between two lines of progress, where they do not move."""
_WIDTH = 100


class Progress:
    """Lines on stderr; on a terminal the last one moves."""

    def __init__(self, total: int, there: int) -> None:
        """`total` trials are wanted, of which so many are there already."""
        self._total, self._there = total, there
        self._done = 0
        self._bad = 0
        self._running = 0
        self._began = self._last = time.monotonic()
        self._moves = sys.stderr.isatty()

    def began(self, plan: TrialPlan) -> None:
        """A trial begins."""
        self._running += 1

    def attempt_failed(self, done: TrialDone) -> None:
        """We failed in a trial, which is tried again."""
        self._say(f"again  {done.plan.key}  {done.ended.reason}: {done.ended.message}")

    def slowed(self, cap: int) -> None:
        """Fewer trials run at once from now on."""
        self._say(f"several platform errors in a row: {cap} at once from now on")

    def ended(self, done: TrialDone, cached_from: str) -> None:
        """A trial is kept."""
        self._running -= not cached_from
        self._done += not done.plan.again
        ended = done.ended
        if ended.outcome != "pass":
            self._bad += not done.plan.again
            self._say(f"{ended.outcome:<14} {done.plan.key}  {ended.reason}: {ended.message.splitlines()[0]}")
        self._line()

    def labelled(self, key: TrialKey, label: Label) -> None:
        """A failed trial was run once more."""
        if label:
            self._say(f"               {key}  run once more: {label}")

    def over(self) -> None:
        """Nothing moves any more."""
        if self._moves:
            click.echo("\r\x1b[K", nl=False, err=True)

    def _say(self, line: str) -> None:
        click.echo(f"\r\x1b[K{line}" if self._moves else line, err=True)

    def _line(self) -> None:
        now = time.monotonic()
        if not self._moves and now - self._last < _EVERY:
            return
        self._last = now
        text = progress_text(self._there + self._done, self._total, self._bad, self._done, now - self._began)
        click.echo(f"\r\x1b[K{text[:_WIDTH]}" if self._moves else text, nl=not self._moves, err=True)


def progress_text(there: int, total: int, bad: int, done: int, seconds: float) -> str:
    """`12/30 trials, 1 not passed, 2.0/s, 9 s left`; the rate is that of this process alone."""
    rate = done / seconds if seconds > 0 else 0.0
    left = f", {_lasting((total - there) / rate)} left" if rate and there < total else ""
    return f"{there}/{total} trials, {bad} not passed, {rate:.1f}/s{left}"


def _lasting(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
