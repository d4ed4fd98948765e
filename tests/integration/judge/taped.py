"""A batch that a judge was asked about through Proctor's own proxy, and the provider behind it."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.trajectories.file import line_of
from proctor.trajectory import Agent, Trajectory
from tests.support import Finished, Project
from tests.unit.judge.refunds import answer, refund
from tools.stand_in_judge_server import Answer, Asked

KEY = "sk-proj-Zx81kQpLmN47vTyRbC29wEfGhJ"
MODEL = "openai/gpt-4o"


def said(letter: str) -> str:
    """What the agent says in the run of that letter, so that its prompts can be told apart."""
    return f"Refund R77 of the run called {letter} was issued."


def runs(project: Project, letters: Iterable[str], agent: Agent) -> str:
    """A file of runs, one a letter, of this agent."""
    made: list[Trajectory] = [
        refund(said=said(each)).model_copy(update={"id": each, "agent": agent}) for each in letters
    ]
    (project.root / "runs.jsonl").write_bytes(b"".join(map(line_of, made)))
    return "runs.jsonl"


CLAUDE = Agent(model="claude-sonnet-4-5", vendor="anthropic")


@dataclass
class Provider:
    """Answers criteria, never twice in the same words; rate-limits one question, quotes wrongly in another, is
    content with all but one thing."""

    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    calls: int = 0

    def reply(self, criterion: str, prompt: str) -> str | None:
        """The text; None where the caller is to come back later."""
        self.calls += 1
        letter = next(each for each in "abcdef" if said(each) in prompt)
        self.asked[letter, criterion] += 1
        first = self.asked[letter, criterion] == 1
        if (letter, criterion) == ("b", "safety") and first:
            return None
        wrong = (letter, criterion) == ("c", "task_achievement") and first
        level = 1 if (letter, criterion) == ("a", "context_consistency") else 2
        given = answer(level, quotes=[(4, "nobody ever said this")]) if wrong else answer(level)
        return json.dumps({**given, "finding": f"call {self.calls}"})

    async def __call__(self, asked: Asked) -> Answer:
        """As an LLM server of OpenAI's API."""
        criterion = asked.body["response_format"]["json_schema"]["name"]
        text = self.reply(criterion, json.dumps(asked.body["messages"]))
        if text is None:
            return Answer(status=429, error={"message": "slow down"}, headers={"Retry-After": "0"})
        return Answer(text)


def judged(*words: str) -> tuple[str, ...]:
    """The command that judges, as the session runs it."""
    return "--", sys.executable, "-m", "proctor", "judge", "run", *words


def elsewhere(project: Project, folder: Path) -> Project:
    """What is in version control, in another folder: no `.proctor`."""
    folder.mkdir()
    for name in ("proctor.toml", "runs.jsonl"):
        shutil.copy(project.root / name, folder / name)
    shutil.copytree(project.root / "cassettes", folder / "cassettes")
    return Project(folder)


def verdicts(done: Finished) -> list[dict[str, Any]]:
    """Those that `--json` printed."""
    return [json.loads(line) for line in done.stdout.splitlines()]
