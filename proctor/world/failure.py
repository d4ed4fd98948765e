"""What became of a tool that threw."""

from __future__ import annotations

import traceback

from proctor.errors import WorldFailed


def threw(tool: str, error: BaseException) -> WorldFailed:
    """The failure of a tool that threw; the traceback begins in the world, not in what called it."""
    inside = error.__traceback__.tb_next if error.__traceback__ else None
    trace = _writable("".join(traceback.format_exception(type(error), error, inside)))
    last = traceback.extract_tb(inside)[-1:]
    where = f" at {last[0].filename.rpartition('/')[2]}:{last[0].lineno}" if last else ""
    told = f"the world's tool {tool} threw {type(error).__name__}{where}: {_said(error)}"
    return WorldFailed("world_failed", told, "mend the world; the call was undone, so its state is as before", trace)


def _said(error: BaseException) -> str:
    try:
        return _writable(str(error))
    except Exception:
        return "its text cannot be had"


def _writable(text: str) -> str:
    """A text without lone surrogates, which no file takes."""
    return text.encode("utf-8", "backslashreplace").decode()
