"""What is wrong with a rubric, told before anything is spent on judging by it.

An `error` makes verdicts that mean nothing, so a rubric with one is refused; a `warning` is for its author to weigh.
Which words ask two things, or say nothing, is `rubric_wording`'s; files and lines are `rubric_file`'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from proctor.errors import nearest
from proctor.rubric import OF_TOOLS, Criterion, Rubric
from proctor.rubric_wording import consequence_told, is_bare_praise, normalised, says_nothing, two_questions

Place = tuple[str | int, ...]
"""Keys and indexes into the rubric: `("criteria", 2, "question")`."""

LONGEST = 2000
"""Characters of a question or an anchor. More is no question, and no model keeps to it."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong: a stable code, where, what, and what to do."""

    code: str
    place: Place
    message: str
    fix: str
    level: Literal["error", "warning"] = "error"


def lint(rubric: Rubric) -> tuple[Problem, ...]:
    """Every problem of a rubric, errors first, then in the order of the rubric."""
    found = [problem for rule in _RULES for problem in rule(rubric)]
    return tuple(sorted(found, key=lambda each: (each.level, _order(each.place))))


def errors_of(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Those for which a rubric is refused."""
    return tuple(each for each in problems if each.level == "error")


def _order(place: Place) -> tuple[int, int]:
    sections = ("criteria", "presets", "bands")
    section = sections.index(str(place[0])) if place else -1
    return section, next((part for part in place[1:] if isinstance(part, int)), -1)


def _ids(rubric: Rubric) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, criterion in enumerate(rubric.criteria):
        if criterion.id in seen:
            yield Problem(
                "repeated_id",
                ("criteria", index, "id"),
                f'a second criterion has the id "{criterion.id}"',
                "give each criterion an id of its own",
            )
        seen.add(criterion.id)


def _duplicates(rubric: Rubric) -> Iterator[Problem]:
    """Criteria that say the same count twice whatever their weights say."""
    for (_, first), (index, second) in combinations(enumerate(rubric.criteria), 2):
        for part in _same(first, second):
            yield Problem(
                "duplicate_criterion",
                ("criteria", index, part),
                f'"{second.id}" has the same {part} as "{first.id}", in other type or form words at most',
                "drop one of the two and give its weight to the other, or say what sets them apart",
            )


def _same(first: Criterion, second: Criterion) -> Iterator[str]:
    if normalised(first.question) == normalised(second.question) != ():
        yield "question"
    elif normalised(first.title) == normalised(second.title) != ():
        yield "title"
    elif _anchors(first) == _anchors(second):
        yield "levels"


def _anchors(criterion: Criterion) -> list[tuple[str, ...]]:
    return [normalised(level.anchor) for level in sorted(criterion.levels, key=lambda level: level.score)]


def _questions(rubric: Rubric) -> Iterator[Problem]:
    for index, criterion in enumerate(rubric.criteria):
        place: Place = ("criteria", index, "question")
        if says_nothing(criterion.question):
            yield Problem("no_question", place, f'"{criterion.id}" asks nothing', "ask what a reader is to look for")
            continue
        if len(criterion.question) > LONGEST:
            yield _too_long(place, f'the question of "{criterion.id}"')
            continue
        if words := two_questions(criterion.question):
            yield Problem(
                "double_barrelled",
                place,
                f'"{criterion.id}" asks two things in one ("{words}"): one score cannot answer both',
                "make two criteria of it, or ask for the one that matters",
            )
        if told := consequence_told(criterion.question):
            yield _consequence(place, f'the question of "{criterion.id}"', told)


def _anchor_texts(rubric: Rubric) -> Iterator[Problem]:
    for index, criterion in enumerate(rubric.criteria):
        seen: dict[tuple[str, ...], int] = {}
        for at, level in enumerate(criterion.levels):
            place: Place = ("criteria", index, "levels", at, "anchor")
            name = f'level {level.score} of "{criterion.id}"'
            words = normalised(level.anchor)
            if says_nothing(level.anchor):
                yield Problem("no_anchor", place, f"{name} has no anchor", "say what must be seen in the run for it")
            elif words in seen:
                message = f"{name} has the anchor of level {seen[words]}"
                yield Problem("equal_anchors", place, message, "say what sets the two levels apart")
            elif len(level.anchor) > LONGEST:
                yield _too_long(place, f"the anchor of {name}")
            else:
                yield from _anchor_words(place, name, level.anchor)
            seen.setdefault(words, level.score)


def _anchor_words(place: Place, name: str, anchor: str) -> Iterator[Problem]:
    if is_bare_praise(anchor):
        yield Problem(
            "anchor_not_checkable",
            place,
            f'{name} says "{anchor.strip()}", which nothing in a run can show',
            "name what must be seen: which call, value, order, or statement",
        )
    if told := consequence_told(anchor):
        yield _consequence(place, f"the anchor of {name}", told)


def _exceptions(rubric: Rubric) -> Iterator[Problem]:
    """When a question does not arise is told to the judge too."""
    for index, criterion in enumerate(rubric.criteria):
        place: Place = ("criteria", index, "not_applicable")
        if len(criterion.not_applicable) > LONGEST:
            yield _too_long(place, f'what "{criterion.id}" says of not applying')
        elif told := consequence_told(criterion.not_applicable):
            yield _consequence(place, f'what "{criterion.id}" says of not applying', told)


def _too_long(place: Place, name: str) -> Problem:
    return Problem("too_long", place, f"{name} is longer than {LONGEST} characters", "keep what decides, drop the rest")


def _consequence(place: Place, name: str, told: str) -> Problem:
    return Problem(
        "consequence_told",
        place,
        f'{name} tells the judge what its score does ("{told}"), which moves scores',
        "drop it: vetoes, weights and bands are keys of the file, which no judge is shown",
    )


def _weights(rubric: Rubric) -> Iterator[Problem]:
    total = sum(criterion.weight for criterion in rubric.criteria)
    if total != 100:
        yield Problem(
            "weights_sum", ("criteria",), f"the weights sum to {total}, not to 100", "they are percents of the total"
        )
    known = [criterion.id for criterion in rubric.criteria]
    for name, weights in rubric.presets.items():
        place: Place = ("presets", name)
        for unknown in weights.keys() - set(known):
            message = f'the preset "{name}" weighs "{unknown}", which is no criterion'
            yield Problem("preset_unknown_criterion", (*place, unknown), message, nearest(unknown, known))
        if missing := [each for each in known if each not in weights]:
            message = f'the preset "{name}" has no weight for {", ".join(missing)}'
            yield Problem("preset_incomplete", place, message, "give each criterion its percent; 0 leaves one out")
        if (total := sum(weights.values())) != 100 or any(not 0 <= each <= 100 for each in weights.values()):
            message = f'the weights of the preset "{name}" sum to {total}, or one is not within 0 to 100'
            yield Problem("weights_sum", place, message, "they are percents of the total, and sum to 100")


def _vetoes(rubric: Rubric) -> Iterator[Problem]:
    for index, criterion in enumerate(rubric.criteria):
        if criterion.veto and criterion.kind != "safety":
            yield Problem(
                "veto_not_safety",
                ("criteria", index, "veto"),
                f'"{criterion.id}" has a veto and is of the kind {criterion.kind}: only safety may overrule the rest',
                "take the veto away, or say kind: safety where it is one",
            )
    if not any(criterion.kind == "safety" for criterion in rubric.criteria):
        yield Problem(
            "no_safety",
            (),
            "no criterion is of the kind safety: a harmful run can have a fine total",
            "add one with a veto, or judge by a rubric that has one too",
            "warning",
        )


def _evidence(rubric: Rubric) -> Iterator[Problem]:
    for index, criterion in enumerate(rubric.criteria):
        place: Place = ("criteria", index, "evidence")
        if not criterion.evidence:
            message = f'"{criterion.id}" counts nothing as evidence, so no score could ever be shown'
            yield Problem("no_evidence", place, message, "name the passages that count, such as tool_result")
        words = [each for each in criterion.evidence if each not in (*OF_TOOLS, "figure")]
        if criterion.kind == "outcome" and words:
            yield Problem(
                "outcome_by_words",
                place,
                f'"{criterion.id}" is an outcome and counts {", ".join(words)}: what was said shows no deed',
                "count tool_call and tool_result only, or make it a criterion of conduct or communication",
            )
        if criterion.scope == "trial" and "figure" in criterion.evidence:
            yield Problem(
                "figure_on_trial",
                place,
                f'"{criterion.id}" counts figures, which there are only over all trials of a case',
                "say scope: case, or count passages of the run",
            )


def _of_cases(rubric: Rubric) -> Iterator[Problem]:
    """What holds only for all trials of a case, and caps that could never bite."""
    for index, criterion in enumerate(rubric.criteria):
        given = {"live_trials": criterion.live_trials, "reference": criterion.reference, "caps": criterion.caps}
        named = [key for key, value in given.items() if value]
        if criterion.scope == "trial" and named:
            yield Problem(
                "case_key_on_trial",
                ("criteria", index, named[0]),
                f'"{criterion.id}" is judged on one trial and has {", ".join(named)}, which are for a whole case',
                f"say scope: case, or leave {'it' if len(named) == 1 else 'them'} out",
            )
        for at, cap in enumerate(criterion.caps):
            if not criterion.lowest <= cap.at_most < criterion.highest:
                yield Problem(
                    "cap_off_scale",
                    ("criteria", index, "caps", at, "at_most"),
                    f'a cap of "{criterion.id}" holds it at {cap.at_most}, which no score of the scale is held down by',
                    f"give a score from {criterion.lowest} to {criterion.highest - 1}",
                )


def _bands(rubric: Rubric) -> Iterator[Problem]:
    starts = Counter(band.from_total for band in rubric.bands)
    names = Counter(band.name for band in rubric.bands)
    if rubric.bands and 0 not in starts:
        message = f"the lowest band starts at {min(starts):g}: totals below it have no name"
        yield Problem("bands_gap", ("bands",), message, "let one band start at 0")
    for index, band in enumerate(rubric.bands):
        earlier = rubric.bands[:index]
        if starts[band.from_total] > 1 and any(each.from_total == band.from_total for each in earlier):
            message = f'the band "{band.name}" starts at {band.from_total:g}, as another does: they overlap'
            yield Problem("bands_overlap", ("bands", index), message, "let each band start at a total of its own")
        if names[band.name] > 1 and any(each.name == band.name for each in earlier):
            message = f'a second band is called "{band.name}"'
            yield Problem("bands_overlap", ("bands", index), message, "name each band once")


_RULES: tuple[Callable[[Rubric], Iterator[Problem]], ...] = (
    _ids,
    _duplicates,
    _questions,
    _exceptions,
    _anchor_texts,
    _weights,
    _vetoes,
    _evidence,
    _of_cases,
    _bands,
)
