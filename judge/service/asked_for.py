"""What a request asks for, checked before it is accepted: nothing that cannot be judged is ever queued."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from proctor import tokens
from proctor.checks.asked import checked_parameters
from proctor.errors import RubricError, UsageError, nearest
from proctor.judge.casing import agent_of, case_of, judges_cases
from proctor.judge.choosing import checked_preset, room_for, vendors_of
from proctor.judge.inquiry import Inquiry, Terms, Vendors, digest
from proctor.judge_wire import JudgeTerms
from proctor.model_call import Model
from proctor.rubric import Rubric
from proctor.rubric_file import digest_of, shipped, shipped_rubric
from proctor.rubric_lint import errors_of, lint
from proctor.trajectories.file import line_of
from proctor.trajectory import Trajectory


@dataclass(frozen=True)
class Checked:
    """Terms of which every name is known."""

    terms: JudgeTerms
    rubric: Rubric
    rubric_digest: str
    model: Model
    checks: Mapping[str, Mapping[str, Any]]
    asking: Terms


@dataclass(frozen=True)
class Wanted:
    """A verdict to be queued: on a run, or on a case once the verdicts on its `trials` are there."""

    id: str
    kind: str
    subject: str
    model: str
    rubric: Rubric
    rubric_digest: str
    terms: bytes
    """JSON: all that an inquiry needs beside run and rubric (see `inquiry_from`)."""
    run: bytes | None = None
    trials: tuple[str, ...] = ()
    case: str = ""
    """Which case a run is a trial of."""
    agent: str = ""


def checked(terms: JudgeTerms, models: Mapping[str, Model], salt: bytes) -> Checked:
    """The terms with all that they name. Raises UsageError or RubricError for a name that is not known here."""
    rubric = _rubric(terms.rubric)
    checked_preset(rubric, terms.preset)
    name = terms.model or next(iter(models), "")
    if name not in models:
        known = nearest(name, models)
        raise UsageError("model_not_offered", f"this service does not judge with {name or 'any model'}", known)
    checks = {check: checked_parameters(check, given) for check, given in terms.checks.items()}
    return Checked(terms, rubric, digest_of(rubric), models[name], checks, asking(salt, name, terms.room))


def asking(salt: bytes, model: str, room: int) -> Terms:
    """How a model is asked, with so much room for a prompt at most."""
    return Terms(salt, lambda text: tokens.count(text, model), room_for(room, model))


def wanted(asked: Checked, trajectory: Trajectory, agent_vendor: str) -> Wanted:
    """The verdict on one run. Raises UsageError where that model may not judge it."""
    vendor = asked.terms.agent_vendor or agent_vendor
    vendors = vendors_of(trajectory, asked.model, vendor, asked.terms.same_vendor or None)
    inquiry = Inquiry(trajectory, asked.rubric, asked.terms.preset, asked.checks, vendors)
    own = {
        "preset": inquiry.preset,
        "checks": asked.checks,
        "room": asked.asking.room,
        "at_least": asked.terms.at_least,
        "vendors": [vendors.judge, vendors.agent, vendors.overridden],
    }
    return Wanted(
        id=inquiry.identity(asked.model.name, asked.asking),
        kind="trial",
        subject=trajectory.id,
        model=asked.model.name,
        rubric=asked.rubric,
        rubric_digest=asked.rubric_digest,
        terms=json.dumps(own).encode(),
        run=line_of(trajectory).strip(),
        case=case_of(trajectory),
        agent=agent_of(trajectory),
    )


def with_cases(runs: Iterable[Wanted]) -> list[Wanted]:
    """The runs, and after the last trial of each case the case, where the rubric asks for it.

    Where several agents ran a case, it is one case for each agent.
    """
    asked = list(runs)
    if not asked or not judges_cases(asked[0].rubric):
        return asked
    agents: dict[str, set[str]] = {}
    for each in asked:
        agents.setdefault(each.case, set()).add(each.agent)
    trials: dict[str, list[Wanted]] = {}
    for each in asked:
        alone = len(agents[each.case]) == 1
        trials.setdefault(each.case if alone else f"{each.case} ({each.agent or 'agent not told'})", []).append(each)
    after = {of[-1].id: _case(name, of) for name, of in trials.items()}
    return [both for each in asked for both in (each, after.get(each.id)) if both is not None]


def inquiry_from(terms: bytes | str, rubric: Rubric, trajectory: Trajectory) -> Inquiry:
    """What `wanted` was made of."""
    told = json.loads(terms)
    judge, agent, overridden = told["vendors"]
    return Inquiry(
        trajectory, rubric, told["preset"], told["checks"], Vendors(tuple(judge), tuple(agent), overridden=overridden)
    )


def _case(name: str, trials: list[Wanted]) -> Wanted:
    first = trials[0]
    return Wanted(
        id=digest(["case", name, [each.id for each in trials]]),
        kind="case",
        subject=name,
        model=first.model,
        rubric=first.rubric,
        rubric_digest=first.rubric_digest,
        terms=first.terms,
        trials=tuple(each.id for each in trials),
    )


def _rubric(asked: str | Rubric) -> Rubric:
    """A shipped one by its name, never a path; or one that was sent, if it is fit to judge by."""
    if isinstance(asked, str):
        if asked not in shipped():
            fix = f"{nearest(asked, shipped())}; send one of your own whole"
            raise RubricError("rubric_unknown", f'this service has no rubric "{asked}"', fix)
        return shipped_rubric(asked)
    bad = errors_of(lint(asked))
    if bad:
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        raise RubricError("rubric_lint", f"{asked.name}: {bad[0].code}: {bad[0].message}{more}", bad[0].fix)
    return asked
