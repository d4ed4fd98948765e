"""What a run came to, as people and scripts read it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from proctor.cli.project import shown_path
from proctor.harness.counting import Counted, Row, counted
from proctor.harness.run_reading import Recorded
from proctor.harness.stability import NotAssessable, TrialSeen, stability

_LLM = {
    "live": "a live model",
    "replayed": "replayed answers of a model",
    "stand-in": "a stand-in model",
    "none": "no model that Proctor saw",
}


def run_text(recorded: Recorded, *, failures: bool = True) -> str:
    """The end of a run: what did not pass and why, then the figures."""
    return "\n".join((*(_failures(recorded) if failures else ()), *_figures(recorded)))


def run_json(recorded: Recorded, status: int) -> str:
    """The run as one JSON object."""
    run = plain_row(recorded.run)
    found = counted_of(recorded)
    told = {**run, "status": status, "admitted": found.admitted, "every": found.every}
    return json.dumps({**told, "trials": [plain_row(trial) for trial in recorded.trials]}, ensure_ascii=False)


def counted_of(recorded: Recorded) -> Counted:
    """The figures of a run."""
    return counted(recorded.trials, recorded.run["planned"])


def run_line(row: Row) -> str:
    """One run in a list."""
    outcomes = ", ".join(f"{count} {name}" for name, count in row["outcomes"].items()) or "no trial yet"
    state = "" if row["state"] == "finished" else f"  ({row['state']})"
    return f"{row['id']}  {row['suite']:<16} {row['started'][:16].replace('T', ' ')}  {outcomes}{state}"


def trial_lines(trials: Sequence[Row]) -> Iterator[str]:
    """A line for each trial."""
    width = max((len(name_of(trial)) for trial in trials), default=0)
    for trial in trials:
        why = f"  {trial['reason']}: {trial['message'].splitlines()[0]}" if trial["reason"] else ""
        marks = "".join(f"  ({mark})" for mark in _marks(trial))
        yield f"{trial['outcome']:<14} {name_of(trial):<{width}}  {trial['seconds']:6.1f} s{marks}{why}"


def _marks(trial: Row) -> Iterator[str]:
    if trial["label"]:
        yield trial["label"]
    if trial["cached_from"]:
        yield "cached"
    if not trial["admitted"]:
        yield "temporary"


def name_of(trial: Row) -> str:
    """`refund_zh#0`, with `+` for a trial that was run once more."""
    return f"{trial['case_id']}#{trial['number']}{'+' if trial['again'] else ''}"


def _failures(recorded: Recorded) -> Iterator[str]:
    for trial in recorded.trials:
        if trial["outcome"] == "pass" or trial["again"]:
            continue
        label = f" ({trial['label']})" if trial["label"] else ""
        yield f"{trial['outcome'].upper()} {name_of(trial)}{label}: {trial['reason']}: {trial['message']}"
        if trial["fix"]:
            yield f"    {trial['fix']}"
        aside = json.loads(trial["facts_json"]).get("aside")
        if aside:
            yield f"    kept aside: {shown_path(aside, Path.cwd())}; the old tape is as it was"
        yield f"    proctor trial show {trial['case_id']} --run {trial['run']}" + (
            f" --trial {trial['number']}" if trial["number"] else ""
        )


def _figures(recorded: Recorded) -> Iterator[str]:
    run, found = recorded.run, counted_of(recorded)
    first = [trial for trial in recorded.trials if not trial["again"]]
    cases = len({trial["case_id"] for trial in first})
    yield f"{run['suite']}: {len(first)} trials of {cases} cases in {run['seconds']:.1f} s; run {run['id']}"
    yield "  " + ", ".join(f"{name} {count}" for name, count in found.figures.items())
    yield f"  {_passed(found)}"
    yield from _notes(recorded, found, first)


def _passed(found: Counted) -> str:
    passed = found.figures["pass"]
    measured = f"{passed}/{found.measured}" if found.measured else "not assessable"
    return f"passed {passed}/{sum(found.figures.values())} of all, {measured} of those measured"


def _notes(recorded: Recorded, found: Counted, first: Sequence[Row]) -> Iterator[str]:
    waiting = len({trial["case_id"] for trial in first if not trial["admitted"]})
    if waiting and found.any_admitted:
        yield f"  {waiting} cases are temporary and not in these figures (`admitted: true` admits one)"
    elif waiting:
        yield "  no case is admitted yet, so all are counted (`admitted: true` admits one)"
    set_ups = sorted({trial["set_up"] for trial in first if trial["set_up"]})
    models = [_LLM[llm] for llm in sorted({trial["llm"] for trial in first if trial["llm"]})]
    yield f"  set-up: {', '.join(set_ups) or 'none'}, with {', '.join(models) or 'no model'}"
    left_out = json.loads(recorded.run["left_out_json"])
    if left_out:
        yield f"  {len(left_out)} cases did not fit into --max-cost: {', '.join(left_out)}"
    cached = sum(bool(trial["cached_from"]) for trial in first)
    if cached:
        yield f"  {cached} of {len(first)} results are those of earlier runs (--cache)"
    if found.missing:
        further = "" if recorded.run["state"] == "finished" else f": proctor run --resume {recorded.run['id']}"
        yield f"  {found.missing} of {recorded.run['planned']} trials are missing{further}"
    sealed = [json.loads(trial["facts_json"]).get("sealed") for trial in first]
    tapes = [shown_path(path, Path.cwd()) for path in sealed if path]
    if tapes:
        yield f"  recorded: {', '.join(tapes)}"
    yield from _stability(first)


def _stability(first: Sequence[Row]) -> Iterator[str]:
    """Where cases were run several times: how steady they are, or why that cannot be said."""
    by_case: dict[str, list[Row]] = {}
    for trial in first:
        by_case.setdefault(trial["case_id"], []).append(trial)
    repeated = {case: trials for case, trials in by_case.items() if len(trials) > 1}
    if not repeated:
        return
    found = {case: stability(map(_seen, trials)) for case, trials in repeated.items()}
    reasons = {each.reason for each in found.values() if isinstance(each, NotAssessable)}
    flaky = [case for case, each in found.items() if not isinstance(each, NotAssessable) and each.flaky]
    for reason in sorted(reasons):
        yield f"  stability: not assessable: {reason}"
    if len(reasons) == 0 or flaky:
        yield f"  flaky: {', '.join(flaky) or 'none'}"


def _seen(trial: Row) -> TrialSeen:
    return SimpleNamespace(outcome=trial["outcome"], llm=trial["llm"])


def plain_row(row: Row) -> dict[str, Any]:
    """A row for scripts, its JSON columns as values."""
    return {
        name.removesuffix("_json"): json.loads(value) if name.endswith("_json") else value
        for name, value in row.items()
    }
