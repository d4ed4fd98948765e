"""A verdict as people read it: the total or why there is none, then each score with the quotes that carry it."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.checks.masking import quote as masked
from proctor.cli.one_line import one_line
from proctor.verdict import CriterionResult, ModelUse, Verdict

_QUOTE = 160
_WIDTH = 28


def verdict_line(verdict: Verdict) -> str:
    """One line: `refund-3  81 of 100 healthy  task_achievement 2, safety 1  look: ...`."""
    scores = ", ".join([*_means(verdict), *(f"{each.criterion} {_score(each)}" for each in verdict.criteria)])
    stand_in = "  (stand-in, no live model)" if verdict.judge.stand_in else ""
    look = f"  look: {verdict.needs_review[0]}" if verdict.needs_review else ""
    name = f"case {verdict.trajectory}" if verdict.trial is None else verdict.trajectory
    return one_line(f"{name}  {_total(verdict)}  {scores}{stand_in}{look}")


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """The whole verdict."""
    name = f"case {verdict.trajectory}" if verdict.trial is None else verdict.trajectory
    yield one_line(f"{name}  {_total(verdict)}")
    yield f"  {_by(verdict)}"
    for mean in _means(verdict):
        yield f"  {mean}"
    for each in verdict.criteria:
        yield from map(one_line, _criterion(each, verdict.weights.get(each.criterion)))
    failed = [rule for rule in verdict.rules if rule.outcome == "fail"]
    yield f"  rules: {len(verdict.rules)} run, {len(failed)} failed"
    for rule in failed:
        yield one_line(f"    {rule.check}: {rule.message}")
    for finding in verdict.findings:
        yield one_line(f"  {finding.kind.replace('_', ' ')}: {finding.message}")
    for review in verdict.needs_review:
        yield one_line(f"  a person should look: {review}")
    if verdict.fix_first:
        yield one_line(f"  fix first: {verdict.fix_first}")
    yield f"  coverage {verdict.scored}/{verdict.countable}, {_use(verdict.use)}, verdict {verdict.id[:12]}"


def _means(verdict: Verdict) -> list[str]:
    """Of a case: `accuracy 4.5 (mean of 2 trials)`."""
    number = len(verdict.trials)
    return [f"{name} {mean:.3g} (mean of {number} trials)" for name, mean in verdict.means.items()]


def _total(verdict: Verdict) -> str:
    if verdict.awaits_case:
        return "judged with its case"
    if verdict.total_of_100 is None:
        return f"no total: {verdict.no_total}"
    band = f" {verdict.band}" if verdict.band else ""
    veto = f" (veto: {verdict.veto})" if verdict.veto else ""
    return f"{verdict.total_of_100:.0f} of 100{band}{veto}"


def _by(verdict: Verdict) -> str:
    judge = verdict.judge
    stand_in = ", no live model" if judge.stand_in else ""
    same = ", vendor rule set aside" if judge.vendor_overridden else ""
    run = f", run: set-up {verdict.set_up}, llm {verdict.llm}" if verdict.set_up else ""
    return f"rubric {verdict.versions.rubric}, judge {judge.model}{stand_in}{same}{run}"


def _criterion(result: CriterionResult, weight: int | None) -> Iterator[str]:
    share = f" ({weight} %)" if weight is not None else ""
    yield f"  {result.criterion + share:<{_WIDTH}} {_score(result):<8} {masked(result.finding, longest=400)}".rstrip()
    if result.lowered_by:
        given = f", the judge gave {result.model_score}" if result.model_score is not None else ""
        yield f"      by rule: {result.lowered_by}{given}"
    for each in result.citations:
        yield f"      step {each.step}, {each.kind}: {masked(each.quote, longest=_QUOTE)}"
    for refused in result.rejected:
        where = f", it stands at step {', '.join(map(str, refused.found_at))}" if refused.found_at else ""
        yield f"      no evidence (step {refused.step}): {refused.quote}: {refused.reason}{where}"
    if result.missing:
        yield f"      missing: {result.missing}"


def _score(result: CriterionResult) -> str:
    """The score, or the outcome that stands in its place."""
    if result.outcome == "scored" and result.score is not None:
        return str(result.score)
    shown = {"zero_no_evidence": "no evidence", "not_applicable": "n.a.", "abstained": "not shown"}
    word = shown.get(result.outcome, f"error: {result.cause}")
    return f"{result.score} ({word})" if result.score is not None else word


def _use(use: ModelUse) -> str:
    tokens = [str(each) if each is not None else "?" for each in (use.input_tokens, use.output_tokens)]
    cost = f"${use.cost:.4f}" if use.cost is not None else "cost not told"
    return f"{use.calls} calls, {tokens[0]} tokens in, {tokens[1]} out, {cost}"
