"""A run without its agent's identity: rebuilt from the few fields that a judge may see, and looked through again.

    what is read    role, text, name of the tool, arguments, result, status, is_error; thoughts only when asked for;
                    goal, policy, tools offered; the final answer where no step holds it
    never read      agent, labels, expected, source, versions, notes, tokens, times, and whatever is added later

Ids are numbered anew, fields and names that tell a vendor replaced, characters that cannot be printed written out, and
orders to an evaluator withheld. Equal runs give equal transcripts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache, partial
from hashlib import blake2b

from proctor.checks.state_changes import changes_state
from proctor.judge.faults import NotBlind
from proctor.judge.minted import Ids, bare_metadata, shaped_ids, without_metadata
from proctor.judge.names import Names, names_in, rules_for
from proctor.judge.neutralising import Neutral, neutralised
from proctor.judge.showing import as_json, in_a_heading, language_of, printable
from proctor.judge.transcript import Flag, Passage, ShownStep, Transcript
from proctor.last_seen import LastSeen
from proctor.rubric import EvidenceKind
from proctor.tool_calls import calls_of
from proctor.trajectory import Step, ToolCall, ToolSchema, Trajectory

__all__ = ["NotBlind", "blind", "refuse_leaks"]

NO_STEP = -1
"""The step of a flag in goal, policy or tools."""


def blind(trajectory: Trajectory, *, thoughts: bool) -> Transcript:
    """The transcript of a run; with `thoughts`, the agent's private reasoning too. Raises NotBlind.

    What was made of the last trajectory is kept, since each criterion asks for it.
    """
    return _LAST[thoughts].of(trajectory)


def refuse_leaks(texts: Iterable[tuple[str, str]], clean: Collection[str] = ()) -> None:
    """Raise NotBlind where one of the texts still tells whose the agent is. Each comes with its place, in words.

    `clean` are texts that were just looked through for names.
    """
    for place, text in texts:
        leak = _leak_in(text, text in clean)
        if leak is not None:
            what, start, end = leak
            shown = f"{text[start : start + 2]}***" if end - start > 4 else "***"
            raise NotBlind(
                "not_blind",
                f"{place} still holds {what} at character {start}: {shown}",
                "take it out of the rubric or the run, or report the text: the judge was not asked",
            )


@lru_cache(maxsize=4096)
def _leak_in(text: str, is_clean: bool) -> tuple[str, int, int] | None:
    """The first leak, with its span. Kept, since the prompts of all criteria hold the same texts."""
    for found in () if is_clean else names_in(text, rules_for([text])):
        return f"the name of a {'vendor' if found.kind == 'vendor' else 'model'}", found.start, found.end
    for span in shaped_ids(text):
        return "an id in the shape of a vendor's", *span
    for span in bare_metadata(text):
        return "a field of a model's API", *span
    return None


class _Blinding:
    """One run. Names and ids are numbered by first use, in the order in which the judge reads."""

    def __init__(self, trajectory: Trajectory, thoughts: bool) -> None:
        self.trajectory = trajectory
        self.thoughts = thoughts
        calls = [call.id for step in trajectory.steps for call in step.tool_calls]
        self.ids = Ids([*calls, *(step.tool_call_id or "" for step in trajectory.steps)])
        self.names = Names(_all_texts(trajectory))
        self.flags: dict[Flag, None] = {}

    def transcript(self) -> Transcript:
        run = self.trajectory
        goal = self.text(run.task.goal or "", NO_STEP, "goal").text
        said = [run.task.policy or "", *(step.text or "" for step in run.steps if step.role == "system")]
        policy = self.text("\n\n".join(dict.fromkeys(filter(None, said))), NO_STEP, "policy").text
        tools = self.text("\n".join(map(_tool_line, run.tools or ())), NO_STEP, "tools").text
        steps = tuple(filter(None, [*map(self.step, run.steps), self.final_answer()]))
        spoken = [each.text for step in steps for each in step.passages if each.kind in ("user", "agent")]
        return Transcript(
            steps=steps,
            goal=goal,
            policy=policy,
            tools=tools,
            flags=tuple(self.flags),
            digest=_digest(goal, policy, tools, steps),
            language=language_of(spoken),
            names=dict(self.names.given),
            changing=frozenset(_changing(run)),
        )

    def step(self, step: Step) -> ShownStep | None:
        """The step's passages; None for a system message, which stands in the policy, and where nothing was said."""
        passages: list[Passage] = []
        if step.role != "system":
            if step.role == "assistant" and self.thoughts and step.thought:
                passages.append(self.passage("thought", step, "thought", step.thought))
            kinds: dict[str, EvidenceKind] = {"user": "user", "assistant": "agent", "tool": "tool_result"}
            if step.text or step.role == "tool":
                passages.append(self.passage(kinds[step.role], step, "text", step.text or ""))
            passages += [self.call(step.index, number, call) for number, call in enumerate(step.tool_calls)]
        return ShownStep(step.index, self.heading(step), tuple(passages)) if passages else None

    def heading(self, step: Step) -> str:
        """Who speaks or which tool answers, and how: the facts of the wire, in our words."""
        name = in_a_heading(self.plain(step.name or ""))
        told = [name, f"status {step.status}" if step.status is not None else "", "error" if step.is_error else ""]
        return ", ".join(filter(None, told if step.role == "tool" else [name]))

    def final_answer(self) -> ShownStep | None:
        """As a step of its own after the last, where the agent gave an answer that no step holds."""
        answer = self.trajectory.final_answer
        if not answer or any(step.role == "assistant" and step.text == answer for step in self.trajectory.steps):
            return None
        index = len(self.trajectory.steps)
        text = self.text(answer, index, "final_answer")
        return ShownStep(index, "final answer", (Passage("agent", "final_answer", text.text, text.spans),))

    def passage(self, kind: EvidenceKind, step: Step, field: str, text: str) -> Passage:
        """One text of a step."""
        shown = self.text(text, step.index, field)
        return Passage(kind, field, shown.text, shown.spans)

    def call(self, index: int, number: int, call: ToolCall) -> Passage:
        """`NAME ARGUMENTS`, as sent."""
        field = f"tool_calls/{number}"
        name = self.tool_name(call.name, index, field)
        raw = call.arguments_raw if call.arguments_raw is not None else as_json(call.arguments)
        arguments = self.text(raw, index, field)
        spans = (*name.spans, *_moved(arguments.spans, len(name.text) + 1))
        return Passage("tool_call", field, f"{name.text} {arguments.text}", spans)

    def tool_name(self, name: str, index: int, field: str) -> Neutral:
        """An order behind a name hides no name: that is a deed."""
        first, rest = re.match(r"([\w.-]{0,80})(.*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
        whole = self.text(name, index, field)
        if not whole.spans or not first or not rest:
            return whole
        one, other = self.text(first, index, field), self.text(rest, index, field)
        return Neutral(one.text + other.text, (*one.spans, *_moved(other.spans, len(one.text))))

    def plain(self, text: str) -> str:
        """Without identity, and printable."""
        return self.names.blinded(self.ids.renumbered(without_metadata(printable(text))))

    def text(self, text: str, step: int, field: str) -> Neutral:
        """What can be shown of a text; what had to be withheld is flagged."""
        neutral = neutralised(self.plain(text)) if text else Neutral("")
        for find in neutral.finds:
            self.flags[Flag(find.kind, step, field, find.quote)] = None
        return neutral


def _blinded(thoughts: bool, trajectory: Trajectory) -> Transcript:
    blinding = _Blinding(trajectory, thoughts)
    transcript = blinding.transcript()
    refuse_leaks(_places(transcript), blinding.names.clean)
    return transcript


_LAST = {thoughts: LastSeen(partial(_blinded, thoughts)) for thoughts in (False, True)}


def _places(transcript: Transcript) -> Iterator[tuple[str, str]]:
    yield from (("the goal", transcript.goal), ("the policy", transcript.policy), ("the tools", transcript.tools))
    for step in transcript.steps:
        yield f"the heading of step {step.index}", step.heading
        yield from ((f"step {step.index} ({each.field})", each.text) for each in step.passages)


def _moved(spans: Iterable[tuple[int, int]], by: int) -> Iterator[tuple[int, int]]:
    return ((start + by, end + by) for start, end in spans)


def _all_texts(run: Trajectory) -> Iterator[str]:
    """What may be shown, before anything is done to it."""
    yield from (run.task.goal or "", run.task.policy or "", run.final_answer or "")
    yield from map(_tool_line, run.tools or ())
    for step in run.steps:
        yield from (step.name or "", step.text or "", step.thought or "")
        for call in step.tool_calls:
            yield from (call.name, call.arguments_raw if call.arguments_raw is not None else as_json(call.arguments))


def _tool_line(tool: ToolSchema) -> str:
    description = " ".join(tool.description.split())
    return f"{tool.name}: {description}" if description else tool.name


def _changing(trajectory: Trajectory) -> Iterator[int]:
    """Steps with a call that does more than read, as far as can be told, and with its result."""
    for call in calls_of(trajectory):
        if changes_state(call) is not False:
            yield call.step
            if call.result_step is not None:
                yield call.result_step


def _digest(goal: str, policy: str, tools: str, steps: tuple[ShownStep, ...]) -> str:
    said = [[step.index, step.heading, [[each.kind, each.text] for each in step.passages]] for step in steps]
    return blake2b(json.dumps([goal, policy, tools, said]).encode(), digest_size=16).hexdigest()
