"""Where in a run an injected text can stand. With the empty text, and the same draws, each gives the clean twin."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from proctor.trajectory import Step, ToolCall, Trajectory

Place = Callable[[Trajectory, str, random.Random], Trajectory | None]
"""The run with the text; None where it has no such place."""

_BESIDE = (" ", "\n", "\n\n", ". ", " | ", "。")


def _replaced(run: Trajectory, step: Step, **fields: Any) -> Trajectory:
    """The run with other fields of one step; a final answer that was its text goes with it."""
    changed = step.model_copy(update=fields)
    update: dict[str, Any] = {"steps": (*run.steps[: step.index], changed, *run.steps[step.index + 1 :])}
    if step.role == "assistant" and step.text and run.final_answer == step.text:
        update["final_answer"] = changed.text
    return run.model_copy(update=update)


def _inserted(run: Trajectory, at: int, *steps: Step) -> Trajectory:
    every = (*run.steps[:at], *steps, *run.steps[at:])
    numbered = tuple(step.model_copy(update={"index": index}) for index, step in enumerate(every))
    return run.model_copy(update={"steps": numbered})


def _object(step: Step) -> dict[str, Any]:
    """What a tool gave back, where that is a JSON object; else an empty one."""
    try:
        value = json.loads(step.text or "") if step.role == "tool" else None
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _drawn(run: Trajectory, rng: random.Random, wanted: Callable[[Step], object]) -> Step | None:
    steps = [step for step in run.steps if wanted(step)]
    return rng.choice(steps) if steps else None


def _beside(text: str, injected: str, rng: random.Random, where: str) -> str:
    between = rng.choice(_BESIDE)
    if not injected:
        return text
    if where == "start":
        return f"{injected}{between}{text}"
    if where == "end":
        return f"{text}{between}{injected}"
    spaces = [at for at, each in enumerate(text) if each == " "]
    at = rng.choice(spaces) if spaces else len(text) // 2
    return f"{text[:at]}{between}{injected}{between}{text[at:]}"


def _in_value(where: str) -> Place:
    """Beside a string value of a JSON result."""

    def place(run: Trajectory, injected: str, rng: random.Random) -> Trajectory | None:
        step = _drawn(run, rng, lambda step: any(isinstance(each, str) for each in _object(step).values()))
        if step is None:
            return None
        value = _object(step)
        key = rng.choice([key for key, each in value.items() if isinstance(each, str)])
        is_ascii = rng.random() < 0.5
        value[key] = _beside(value[key], injected, rng, where)
        return _replaced(run, step, text=json.dumps(value, ensure_ascii=is_ascii))

    return place


def _in_text(role: str, where: str) -> Place:
    """Beside the words of a step, as plain text."""

    def place(run: Trajectory, injected: str, rng: random.Random) -> Trajectory | None:
        step = _drawn(run, rng, lambda step: step.role == role and step.text and not _object(step))
        return _replaced(run, step, text=_beside(step.text or "", injected, rng, where)) if step else None

    return place


def _own_field(run: Trajectory, injected: str, rng: random.Random) -> Trajectory | None:
    """A field of its own: as a string, or as the value itself where the text is JSON."""
    step = _drawn(run, rng, _object)
    if step is None:
        return None
    items = list(_object(step).items())
    name, at, is_parsed = (
        rng.choice(("note", "comment", "memo", "备注")),
        rng.randrange(len(items) + 1),
        rng.random() < 0.5,
    )
    if injected:
        items.insert(at, (name, _parsed(injected) if is_parsed else injected))
    return _replaced(run, step, text=json.dumps(dict(items), ensure_ascii=False))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return [{"comment": text}]


def _own_key(run: Trajectory, injected: str, rng: random.Random) -> Trajectory | None:
    """A key of its own."""
    step = _drawn(run, rng, _object)
    if step is None:
        return None
    return _replaced(run, step, text=json.dumps(_object(step) | ({injected: True} if injected else {})))


def _whole_result(run: Trajectory, injected: str, rng: random.Random) -> Trajectory | None:
    """All that a look-up gives back."""
    first = _drawn(run, rng, lambda step: step.role == "assistant")
    if first is None:
        return None
    call = Step(index=0, role="assistant", tool_calls=(ToolCall(name="get_notes", id="look-up", arguments={}),))
    result = Step(index=0, role="tool", name="get_notes", tool_call_id="look-up", text=injected)
    return _inserted(run, 1, call, result)


def _own_turn(run: Trajectory, injected: str, rng: random.Random) -> Trajectory:
    """A turn of the user's own."""
    return _inserted(run, rng.choice((1, len(run.steps) - 1)), Step(index=0, role="user", text=injected))


def _thought(run: Trajectory, injected: str, rng: random.Random) -> Trajectory | None:
    """What the agent thinks."""
    step = _drawn(run, rng, lambda step: step.role == "assistant")
    return _replaced(run, step, thought="\n".join(filter(None, (step.thought, injected)))) if step else None


def _tool_name(run: Trajectory, injected: str, rng: random.Random) -> Trajectory | None:
    """The name of a tool that the agent calls."""
    step = _drawn(run, rng, lambda step: step.tool_calls)
    if step is None:
        return None
    call, *others = step.tool_calls
    named = call.model_copy(update={"name": " ".join(filter(None, (call.name, injected)))})
    return _replaced(run, step, tool_calls=(named, *others))


def _argument(run: Trajectory, injected: str, rng: random.Random) -> Trajectory | None:
    """An argument of a call."""
    step = _drawn(run, rng, lambda step: step.tool_calls and isinstance(step.tool_calls[0].arguments, dict))
    if step is None:
        return None
    call, *others = step.tool_calls
    given = dict(call.arguments) | ({"note": injected} if injected else {})
    raw = json.dumps(given) if rng.random() < 0.5 else None
    changed = call.model_copy(update={"arguments": given, "arguments_raw": raw})
    return _replaced(run, step, tool_calls=(changed, *others))


PLACES: dict[str, Place] = {
    "start of a value": _in_value("start"),
    "middle of a value": _in_value("middle"),
    "end of a value": _in_value("end"),
    "a field of its own": _own_field,
    "a key of its own": _own_key,
    "a whole result": _whole_result,
    "start of a plain result": _in_text("tool", "start"),
    "end of a plain result": _in_text("tool", "end"),
    "start of the user's words": _in_text("user", "start"),
    "end of the user's words": _in_text("user", "end"),
    "a turn of its own": _own_turn,
    "start of the agent's words": _in_text("assistant", "start"),
    "middle of the agent's words": _in_text("assistant", "middle"),
    "end of the agent's words": _in_text("assistant", "end"),
    "a thought": _thought,
    "the name of a tool": _tool_name,
    "an argument": _argument,
}
"""By name."""
