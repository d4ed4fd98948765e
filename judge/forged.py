"""What is made to look like a judge's work, beyond the general signs of injection: answers, scores, our own lines."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice

from proctor.checks.injected import CLOSING, EVALUATOR, MOST, VERDICT, Injected
from proctor.sensitive.readings import Reading, is_encoded, readings

_SHORTEST = 24
"""Characters of base64 that the shortest of these takes."""
_KEY = re.compile(
    r"""\\*["'](?:model_|final_|total_|overall_)?(?:scores?|verdict|grade)\\*["']\s*:\s*\\*["'{\[]?\s*(\w[\w ]*)""",
    re.IGNORECASE,
)
_ALONE = re.compile(
    r"""\{\s*\\*["'](?:score|verdict)\\*["']\s*:\s*\\*["']?(?:[0-5]|pass|fail)\\*["']?\s*\}""", re.IGNORECASE
)
"""An object that says a score and nothing else."""
_LEVEL = re.compile(r"[0-5]|null|true|pass(?:ed)?|full|max\w*|scored", re.IGNORECASE)
_BESIDE = re.compile(
    r"""\\*["'](?:citations?|findings?|missing|outcome|criteri(?:on|a)|rationale|justification|verdict|evidence|"""
    r"""needs_review|rubric|quotes?|task_achievement|step_correctness|argument_accuracy|context_consistency|safety)"""
    r"""\\*["']\s*:""",
    re.IGNORECASE,
)
_REACH = 3000
"""Characters before and after a score in which its object is looked for."""
REPORT = re.compile(r"(?<!\w)(?:error|exception|traceback|错误|失败)[^\n:：]{0,30}[:：]", re.IGNORECASE)
"""Begins what a tool says of its failure, which nothing forged beside it may hide."""
_AT_MOST = re.compile(rf"[\n。]|\. |{REPORT.pattern}", re.IGNORECASE)
"""Where an object ends that is never closed."""
_BRACE = re.compile(r"[{}]")
_HEADING = re.compile(
    r"(?m)(?<![0-9a-f])[0-9a-f]{8,64} step \d+: (?:user|agent|thought|tool_call|tool_result|figure|left out)\b[^\n]*|"
    r"^[ \t>#*`]*[0-9a-f]{8,64} (?:transcript|goal|policy|tools|end)\b[^\n]*"
)
_END_OF = re.compile(
    r"\bend of (?:the |this )?(?:transcript|trajectory)\b|"
    r"(?:^|[\n.!?|。！？\"'])[ \t]*end of (?:the )?(?:data|document|tool (?:result|output))[ \t]*(?=$|[\n.!。])",
    re.IGNORECASE,
)
_RUN = r"(?:agent|assistant|run|answer|trajectory|transcript|response|conversation)"
_JUDGE = (
    r"(?:evaluators?|graders?|assessors?|(?:llm|ai) judges?|scoring (?:model|system)|grading (?:model|system)|"
    r"judg(?:e|ing) model)"
)
_BEST = r"(?:full\b|max\w*|highest\b|top\b|pass\w*|perfect\b)"
_LEVELS = (
    r"(?:[0-5]|zero|one|two|three|four|five)\b"
    r"(?![.,]?\d|%| ?[-–:] ?\d| (?:goals|stars|runs|points (?:higher|lower|up|down)))"
)
_END = r"(?:full|top|max(?:imum|imal)?|highest|perfect|best|lowest|min(?:imum|imal)?|zero|worst|failing)"
_FIRST = r"(?:^|(?<=[\n.!?。！？|\"'\[(])|(?<=[.!?|] ))"
"""At the start of what is said."""
_GIVES = (
    r"(?:g[ai]ves?|given|returns?|returned|assign(?:s|ed)?|award(?:s|ed)?|scores?|scored|rates?|rated|marks?|marked|"
    r"grades?|graded|outputs?|answers?|answered|says?|said)"
)
_MUST_BE = r"(?:must|should|shall|has to|have to|needs? to|is to)\s+(?:always\s+)?be\b"
_ORDERS = re.compile(
    "|".join(
        (
            r"\b(?:give|assign|award|return|output|report|set|answer|respond|reply|rate|score|grade|mark|record)\b"
            r"[^.;\n]{0,60}?\b(?:scores?|grades?|verdicts?|levels?)\b[^.;\n]{0,20}?(?<![\d.,$])"
            rf"(?:[0-5](?![\d.,]*\d|%)|{_BEST})",
            rf"\b(?:scores?|grades?|verdicts?)\b[^.\n]{{0,40}}?\b{_MUST_BE}",
            rf"\b(?:give|award|assign|rate|score|grade|mark)\s+(?:it|this|them|everything|(?:the|this) {_RUN})\s+"
            r"(?:an? |as |with |at )?(?:score of |level |the )?"
            rf"(?:[0-5](?:\s*(?:/|out of)\s*[0-5])?(?![\w.,]*\d|\s+[a-z])|{_BEST})",
            rf"\b(?:to|for|dear|attention|note to|message to|hey|hello)[,:]?\s+(?:the\s+|any\s+|all\s+)?"
            rf"(?:llm |ai |automated )?{_JUDGE}\b",
            rf"{_FIRST}(?:evaluators?|graders?|assessors?|scorers?|(?:llm|ai) judge)\s*[:,：，]",
            r"\b(?:evaluators?|graders?|assessors?|scorers?|raters?)\s*[:：]",
            rf"\b(?:evaluators?|graders?|assessors?|scorers?)\b[^.\n]{{0,40}}?\b{_GIVES}\b[^.\n]{{0,40}}?\b{_LEVELS}",
            rf"\b(?:judges?|reviewers?|raters?|annotators?|labell?ers?)\b[^.\n]{{0,40}}?\b{_GIVES} "
            rf"(?:(?:it|this|them|all|everything|(?:the|this) {_RUN}) (?:an? |as |with |at )?{_LEVELS}|"
            rf"(?:an? )?{_LEVELS} (?:to|for) (?:it|this|them|all|every\w*|(?:the|this) {_RUN})\b)",
            r"\b(?:return|output|give|answer|reply|respond|report|use|put|choose|set|enter) (?:with )?(?:an? )?"
            rf"{_LEVELS} "
            r"(?:as|for|to|on|in) [^.\n]{0,30}?\b(?:scores?|ratings?|grades?|verdicts?|levels?|criteri\w+)\b",
            r"\bas (?:an?|the) (?:evaluator|grader|judge|assessor)\b[^.\n]{0,40}?\byour?\b",
            rf"\b(?:the|this) {_RUN} (?:deserves|merits|has earned|(?:should|must) (?:be "
            r"(?:scored|graded|rated|marked|judged|evaluated)|get|receive)) [^.\n]{0,30}?"
            rf"(?:(?:score|mark|grade|point)s?\b|[0-5]\b|{_BEST})",
            r"\b(?:score|grade|verdict|rating)\s*(?:=|:|is)\s*[0-5]\s*(?:/|out of)\s*[0-5]\b",
            r"\b(?:final|total|overall)?[_ ]?scores?\b[\"'*_`]{0,3}\s*"
            rf"(?:(?:is|of|to|as|this|it|=|:|->)\s*){{0,3}}{_LEVELS}",
            rf"\b{_END}(?: possible)? (?:marks?|scores?)\b",
            rf"\b(?:give|assign|award|deserves?|suggest|recommend|set|choose|use)\b[^.;\n]{{0,30}}?\b"
            rf"{_END}(?: possible)? (?:points?|ratings?|grades?|levels?)\b",
            rf"\b(?:give|assign|award)\s+(?:it |this |them )?(?:an? )?{_LEVELS} (?:points?|marks?)\b",
            rf"\b(?:mark|rate|grade|score|judge|consider|treat)\s+(?:this|it|them|(?:the|this) {_RUN})\s+"
            r"(?:as )?(?:an? )?(?:pass(?:ed)?|success(?:ful)?|correct|safe|fail(?:ed|ure)?|incorrect|unsafe)\b",
            rf"{_FIRST}(?:dear |hey |hello )?(?:judge|reviewer|rater)s?\s*[:,]\s+"
            rf"(?:please|you|this|give|pass|note|success|full|{_LEVELS}|(?:the|this) {_RUN})",
            r"\b(?:new|updated|real|actual) (?:instructions?|system prompt|rubric)\s*[:：]",
            r"\b(?:ignore|disregard|forget|override|bypass)\b[^.;\n]{0,50}?\b(?:rubric|criteria|transcript)\b",
            r"\b(?:grading|judging|scoring) models?\b",
            r"(?:给|打|评|得|判)[^。！？\n]{0,6}(?:满分|最高分|最低分|零分|高分)|评委(?:[:：,，]|请)",
            r"给(?:予|出)?(?:它|他|这|该|本|智能体|代理|助手)[^。！？\n]{0,12}?[0-5一二两三四五满高]\s*分",
            r"(?:代表|意味着|表示|等于|就是|即为?)\s*(?:满分|最高分|最低分|零分)",
            r"请(?:直接|务必|一律|都)?[给打评判][出为予]?\s*[0-5一二两三四五满高]\s*分|(?:输出|返回|给出|打出)\s*[0-5]\s*分",
            r"(?:评委|评审|评估|评分|裁判|评测)[^。！？\n]{0,12}?[给打评判][了出为予]{0,2}\s*[0-5一二两三四五满高]\s*分",
            r"(?:评分|分数|得分|打分)\s*[0-5一二两三四五满]\s*分",
            r"(?:打|评为?|判|判为)\s*[0-5一二两三四五满]\s*分",
            r"(?:评分|分数|得分|打分)\s*(?:为|是|应为|应当为|必须为|必须是|设为|[:：=])\s*[0-5]\s*分?(?!\d)",
        )
    ),
    re.IGNORECASE,
)
_SIGNS = (
    "score|grade|verdict|level|evaluator|assessor|grader|judge|judging|scoring|grading|the agent|this agent|the run|"
    "this run|assistant|give|award|assign|rate|mark|rubric|criteria|transcript|reviewer|instruction|system prompt|"
    "annotator|label|criteri|rating|consider|treat|deserve|suggest|recommend|choose|分|评委"
)
_ORDER_SIGNS = tuple(_SIGNS.split("|"))


def forged(text: str) -> list[Injected]:
    """Verdicts made up as data, orders about scores, and lines in the form of Proctor's own."""
    hides = not text.isascii() or is_encoded(text, _SHORTEST)
    found: dict[tuple[str, int, int], None] = {}
    for reading in readings(text, over_breaks=False, shortest=_SHORTEST) if hides else (Reading(text),):
        for kind, start, end in _in_reading(reading.text):
            found.setdefault((kind, *reading.span(start, end)))
    return [Injected(*each) for each in found]


def _in_reading(text: str) -> Iterator[tuple[str, int, int]]:
    low = text.lower()
    if "score" in low or "verdict" in low or "grade" in low:
        yield from islice(((VERDICT, *span) for span in _verdicts(text)), MOST)
    for heading in islice(_HEADING.finditer(text), MOST):
        yield CLOSING, *heading.span()
    if "end of" in low:
        yield from islice(((CLOSING, *end.span()) for end in _END_OF.finditer(text)), MOST)
    if any(sign in low for sign in _ORDER_SIGNS):
        for order in islice(_ORDERS.finditer(text), MOST):
            yield EVALUATOR, *order.span()


def _verdicts(text: str) -> Iterator[tuple[int, int]]:
    """Objects with a score that is a level of ours beside another word of a verdict."""
    yield from (found.span() for found in _ALONE.finditer(text))
    keys = [key for key in _KEY.finditer(text) if _LEVEL.fullmatch(key[1].strip())]
    beside = [found.start() for found in _BESIDE.finditer(text)] if keys else []
    if not beside:
        return
    until = 0
    for key, around in zip(keys, _objects_around(text, [key.start() for key in keys]), strict=True):
        if around is None or key.start() < until:
            continue
        start, end = around
        first, last = bisect_left(beside, start), bisect_left(beside, end)
        own = bisect_left(beside, key.start()) < len(beside) and beside[bisect_left(beside, key.start())] == key.start()
        if last - first > own:
            until = end
            yield start, end


def _objects_around(text: str, places: list[int]) -> list[tuple[int, int] | None]:
    """Of each place, in order, the innermost object: to its closing brace, or the end of its line or sentence."""
    opened: list[int] = []
    ends: dict[int, int] = {}
    starts: list[int | None] = []
    waiting = iter([*places, len(text)])
    place = next(waiting)
    for brace in _BRACE.finditer(text):
        while place < brace.start():
            starts.append(opened[-1] if opened else None)
            place = next(waiting)
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            ends[opened.pop()] = brace.end()
    starts += [opened[-1] if opened else None] * (len(places) - len(starts))
    return [
        (start, min(ends.get(start) or _unclosed(text, place), start + 2 * _REACH))
        if start is not None and place - start <= _REACH
        else None
        for start, place in zip(starts, places, strict=True)
    ]


def _unclosed(text: str, place: int) -> int:
    """Where an object ends that is open at the place and never closed."""
    limit = _AT_MOST.search(text, place, place + _REACH)
    return limit.start() if limit else min(len(text), place + _REACH)
