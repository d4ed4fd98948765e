"""An agent that is a program: a JSON line in for each turn, a JSON line out."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from proctor.agents.contract import LARGEST_ANSWER, AgentFailed, Answered, Asked, read_answer
from proctor.agents.leftovers import MARK, kill_group, kill_marked, new_mark
from proctor.agents.printed import Printed

GRACE = 5.0
"""Seconds that a program has to end after its last turn."""
MOST_PRINTED = 32 * 1024 * 1024
"""Bytes that it may print beside its answers in one turn."""
_PIECE = 64 * 1024
_POLL = 0.01
_PAUSE = 0.5
"""Seconds for what it printed last to come in, once it has ended."""


class CommandConversation:
    """One run of a program. What it prints beside its answers, to either stream, is kept for people: the last lines.

    A line on stdout that begins with `{` is its answer. Standard input ends with the last turn.
    """

    def __init__(
        self, command: Sequence[str], variables: Mapping[str, str], folder: Path | None = None, turns: int = 1
    ) -> None:
        """`variables` come on top of this process's own; `turns` is how many there will be."""
        self._command = command
        self._mark = new_mark()
        self._variables = {**variables, MARK: self._mark}
        self._folder = folder
        self._left = turns
        self._printed = Printed()
        self.leaked = 0
        """Processes that it left running, known after the end."""
        self.status: int | None = None
        """With which it ended by itself; None where it had to be killed."""

    async def __aenter__(self) -> Self:
        """Start the program. Raises AgentFailed (`agent_unstartable`)."""
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**os.environ, **self._variables},
                cwd=self._folder,
                limit=LARGEST_ANSWER,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            said = getattr(error, "strerror", None) or error
            raise AgentFailed("agent_unstartable", f"cannot run {self._command[0]!r}: {said}") from None
        self._errors = asyncio.create_task(self._read_errors())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let it end where all went well; then end what is left of it."""
        try:
            if kind is None:
                await self._let_end()
        finally:
            kill_group(self._process.pid)
            self.leaked = await asyncio.to_thread(kill_marked, self._mark)
            await self._process.wait()
            self._errors.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._errors

    async def ask(self, asked: Asked, seconds: float) -> Answered:
        """See `Conversation.ask`."""
        self._left -= 1
        try:
            async with asyncio.timeout(seconds):
                await self._tell(asked)
                return read_answer(await self._answer(), self.shown())
        except TimeoutError:
            told = f"no answer within {seconds:g} s"
            raise AgentFailed("agent_timeout", told, self.shown()) from None

    def shown(self) -> str:
        """The end of what it printed beside its answers."""
        return self._printed.shown()

    async def _tell(self, asked: Asked) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # how it ended is told by what comes next
            stdin.write(asked.model_dump_json().encode() + b"\n")
            if self._left <= 0:
                stdin.write_eof()
            await stdin.drain()

    async def _answer(self) -> bytes:
        stdout = self._process.stdout
        assert stdout is not None
        printed = 0
        while True:
            try:
                line = await stdout.readuntil(b"\n")
            except asyncio.IncompleteReadError as error:
                line = error.partial
            except asyncio.LimitOverrunError:
                told = f"a line of more than {LARGEST_ANSWER:,} bytes"
                raise AgentFailed("agent_flood", told, self.shown()) from None
            if line.lstrip().startswith(b"{"):
                return line
            if not line:
                raise await self._ended()
            printed += len(line)
            self._printed.add("out", line)
            if printed > MOST_PRINTED:
                told = f"printed more than {MOST_PRINTED:,} bytes and no answer"
                raise AgentFailed("agent_flood", told, self.shown())

    async def _ended(self) -> AgentFailed:
        """It closed its output: how it ended."""
        status = await self._exit()
        if status is None:
            return AgentFailed("agent_ended", "closed its output without an answer, and runs on", self.shown())
        await asyncio.wait({self._errors}, timeout=_PAUSE)
        if status == 0:
            return AgentFailed("agent_ended", "ended with status 0 and without an answer", self.shown())
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        return AgentFailed("agent_crashed", how, self.shown())

    async def _let_end(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        stdin.close()
        drained = asyncio.create_task(self._drain())
        try:
            self.status = await self._exit()
        finally:
            drained.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await drained
        if self.status is None:
            self._printed.note(f"(it did not end within {GRACE:g} s after its last turn, and was killed)")

    async def _exit(self) -> int | None:
        """Its status, once it has ended; None where it has not in time.

        `wait` of asyncio's process would wait for the ends of its pipes too, which a child of it may hold open.
        """
        try:
            async with asyncio.timeout(GRACE):
                while self._process.returncode is None:  # noqa: ASYNC110 - asyncio has no event for it
                    await asyncio.sleep(_POLL)
        except TimeoutError:
            return None
        return self._process.returncode

    async def _drain(self) -> None:
        """Take what it still prints, so that it can end."""
        stdout = self._process.stdout
        assert stdout is not None
        while piece := await stdout.read(_PIECE):
            self._printed.add("out", piece)

    async def _read_errors(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        while piece := await stderr.read(_PIECE):
            self._printed.add("err", piece)
