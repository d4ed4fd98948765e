"""Who judges whom: the model by its name, and the rule that it is another vendor's than the agent's."""

from __future__ import annotations

from proctor import tokens, vendors
from proctor.errors import UsageError, nearest
from proctor.judge.inquiry import Vendors
from proctor.judge.stand_ins import stand_in
from proctor.model import model_of
from proctor.model_call import Model
from proctor.model_gate import OPEN, Gate
from proctor.rubric import Rubric
from proctor.trajectory import Trajectory

STAND_IN = "stand-in/"
_ANSWER = 4_000
"""Tokens of a window that are left for the answer and for one repair."""


def chosen_model(name: str, gate: Gate = OPEN) -> Model:
    """The model of that name, not asked yet; a live one's attempts go through `gate`. Raises UsageError for none."""
    if not name:
        raise UsageError(
            "no_judge_model",
            "nobody is named to judge",
            'give --model PROVIDER/NAME, or [judge] model = "..." in proctor.toml; stand-in/obedient needs no key',
        )
    return stand_in(name) if name.startswith(STAND_IN) else model_of(name, gate=gate)


def vendors_of(trajectory: Trajectory, judge: Model, declared: str, override: str | None) -> Vendors:
    """The families of both. Raises UsageError where they meet, or one is not known, and no reason overrides that.

    All that is told of the agent counts: its model and vendor in the trajectory, and what is declared. A stand-in
    judges anybody: it is nobody's model.
    """
    told = [name for name in (trajectory.agent.model, trajectory.agent.vendor, declared) if name]
    known = {name: found for name in told if (found := vendors.families(name).families)}
    families = tuple(sorted(frozenset().union(*known.values())))
    if judge.is_stand_in:
        return Vendors(("stand-in",), families, overridden=False)
    own = tuple(sorted(vendors.families(judge.name).families))
    conflicts = [vendors.conflict(name, judge.name) for name in known or told[:1]]
    reason = next(filter(None, conflicts), "" if told else "nothing tells whose model the agent is built on")
    if reason and not override:
        raise UsageError(
            "vendor_rule",
            f"{trajectory.id}: {judge.name} may not judge it: {reason}",
            "name a judge of another vendor with --model, the agent's with --agent-vendor or [agent] vendor, or set "
            "the rule aside with --same-vendor REASON, which every verdict then says",
        )
    return Vendors(own, families, overridden=bool(reason))


def room_for(asked: int, model: str) -> int:
    """Tokens of one prompt: what was asked, unless the model's window is smaller."""
    window = tokens.window_of(model)
    return asked if window is None else max(1, min(asked, window - _ANSWER))


def checked_preset(rubric: Rubric, preset: str | None) -> None:
    """Raises UsageError for a preset that the rubric has not."""
    if preset is not None and preset not in rubric.presets:
        raise UsageError("unknown_preset", f'{rubric.name} has no preset "{preset}"', nearest(preset, rubric.presets))
