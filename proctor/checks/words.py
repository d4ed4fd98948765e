"""The texts of a trajectory, each prepared once for all checks that read them."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property

from proctor.checks.injected import Injected, injected_in
from proctor.checks.leaves import Argument, leaves
from proctor.checks.sources import Sources
from proctor.last_seen import LastSeen
from proctor.tool_calls import Call, calls_of
from proctor.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class Text:
    """One text: `step` and `field` say where, as in `Evidence`."""

    step: int | None
    text: str
    field: str = "text"

    @property
    def when(self) -> int:
        """The step, for comparing; the final answer and other texts without one come last."""
        return 1 << 62 if self.step is None else self.step


@dataclass
class WordsOf:
    """Who said what, in order. Made by `words_of`."""

    trajectory: Trajectory
    agent: tuple[Text, ...] = field(init=False)
    """The agent's own words to the user: its messages, and the final answer where it is not one of them."""
    user: tuple[Text, ...] = field(init=False)
    results: tuple[Text, ...] = field(init=False)
    system: tuple[Text, ...] = field(init=False)
    _injected: dict[tuple[Text, ...], list[tuple[Text, Injected]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        by_role: dict[str, list[Text]] = {"assistant": [], "user": [], "tool": [], "system": []}
        for step in self.trajectory.steps:
            if step.text:
                by_role[step.role].append(Text(step.index, step.text))
        final = self.trajectory.final_answer
        if final and all(said.text != final for said in by_role["assistant"]):
            by_role["assistant"].append(Text(None, final, "final_answer"))
        self.agent, self.user = tuple(by_role["assistant"]), tuple(by_role["user"])
        self.results, self.system = tuple(by_role["tool"]), tuple(by_role["system"])

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """Every call with its result."""
        return calls_of(self.trajectory)

    @cached_property
    def leaves(self) -> tuple[Argument, ...]:
        """Every single value in the arguments of the calls, in order."""
        return tuple(leaf for call in self.calls for leaf in leaves(call))

    @cached_property
    def given(self) -> tuple[str, ...]:
        """What the agent was given before it began: its policy and system messages."""
        policy = self.trajectory.task.policy
        return tuple(text for text in (policy, *(text.text for text in self.system)) if text)

    @cached_property
    def sources(self) -> Sources:
        """Where values may come from."""
        return Sources(self.trajectory)

    def injected(self, texts: tuple[Text, ...]) -> list[tuple[Text, Injected]]:
        """The orders and hidden characters in some of the texts, found once."""
        found = self._injected.get(texts)
        if found is None:
            finds = injected_in([text.text for text in texts])
            found = [(text, one) for text, some in zip(texts, finds, strict=True) for one in some]
            self._injected[texts] = found
        return found

    def turn_of(self, step: int) -> int:
        """How many messages of the user's stand before a step."""
        return bisect_left(self._user_steps, step)

    @cached_property
    def _user_steps(self) -> list[int]:
        return [text.when for text in self.user]


_LAST: LastSeen[Trajectory, WordsOf] = LastSeen(WordsOf)


def words_of(trajectory: Trajectory) -> WordsOf:
    """The view of this very trajectory. The last one is kept, for checks run one after the other."""
    return _LAST.of(trajectory)
