"""`proctor suite lint --prove`: each case's reference, in worlds that begin as the case says."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.cases.case import Case
from proctor.cases.files import Placed, SuiteRead
from proctor.cases.lint import Level, Problem
from proctor.cases.proving import prove
from proctor.cli.tool_effects import tool_effects
from proctor.cli.world_project import world_kinds
from proctor.config import Config
from proctor.errors import WorldError, WorldFailed
from proctor.world.session import WorldSession

_FIXES = {
    "no_reference": "write the calls of a right run under `reference`",
    "reference_refused": "mend the call, or say `refused: CODE` where a right run meets that refusal",
    "reference_fails": "either the reference is no right run, or the case expects what no run does",
}


class Proofs:
    """Proves cases in the worlds of a project."""

    def __init__(self, config: Config, seed: int) -> None:
        """Raises WorldError for a world that cannot be loaded."""
        self._kinds = world_kinds(config)
        self._seed = seed
        self._effects = tool_effects(config)

    def problems(self, read: SuiteRead) -> Iterator[Problem]:
        """What is wrong with the references of a suite's cases."""
        for placed in read.cases:
            case = placed.case
            if case.tape or not self._kinds:
                yield _told("not_proved", placed, "is answered by no world, so its reference cannot be made", "warning")
            elif not case.reference:
                yield _told("no_reference", placed, "has no reference", "warning")
            else:
                yield from self._of(placed)

    def _of(self, placed: Placed) -> Iterator[Problem]:
        try:
            refused, failing = prove(placed.case, self._worlds(placed.case), self._effects)
        except (WorldError, WorldFailed) as error:
            yield _told(error.code, placed, f"has a reference that cannot be made: {error.message}")
            return
        for answer in refused[:1]:
            yield _told("reference_refused", placed, f"has a reference that is answered otherwise: {answer}")
        for each in [] if refused else failing:
            where = "" if each.turn is None else f" (turn {each.turn})"
            told = f"is not passed by its reference{where}: {each.result.check}: {each.result.message}"
            yield _told("reference_fails", placed, told)

    def _worlds(self, case: Case) -> dict[str, WorldSession]:
        seed = f"{self._seed} {case.id}"
        return {name: WorldSession(kind, seed, case.state.get(name)) for name, kind in self._kinds.items()}


def _told(code: str, placed: Placed, told: str, level: Level = "error") -> Problem:
    return Problem(code, placed.where, f"case {placed.case.id} {told}", _FIXES.get(code, ""), level)
