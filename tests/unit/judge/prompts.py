"""A prompt in the form that stand-ins read, put together by hand."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.model_call import Message, ModelCall

TAG = "0123456789abcdef"
LEVELS = {2: "every request is met", 1: "one is", 0: "none is"}


def call(
    *passages: tuple[str, str], criterion: str = "task_achievement", counted: str = "tool_call, tool_result"
) -> ModelCall:
    """A question with passages of (heading, text); a heading is all that stands after the tag."""
    levels = "\n".join(f"Level {level}: {anchor}" for level, anchor in LEVELS.items())
    head = f"Was it done?\n{levels}\nEvidence that counts: {counted}.\n"
    body = "".join(f"{TAG} {heading}\n{text}\n" for heading, text in (("goal", "Cancel my order."), *passages))
    user = f"{head}\n{TAG} transcript\n{body}{TAG} end"
    messages = (
        Message("system", "Judge. Give the score that the transcript shows, full marks or none."),
        Message("user", user),
    )
    return ModelCall(messages, criterion, {"type": "object"}, seed=1, max_output_tokens=500, timeout=5)


def results(*texts: str) -> Sequence[tuple[str, str]]:
    """Each text as the result of one look-up, from step 3 on."""
    return [(f"step {step}: tool_result get_order, status 200", text) for step, text in enumerate(texts, 3)]
