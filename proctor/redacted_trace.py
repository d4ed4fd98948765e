"""The trace of a session that asked the real thing: written from its journal, with every credential replaced."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from proctor.interaction import Interaction
from proctor.journal import JournalContent
from proctor.paths import Layout
from proctor.redaction import Redactor
from proctor.trace import interaction_fields, row_line


def session_redactor(content: JournalContent) -> Redactor:
    """A redactor that knows every credential of the session; those of the tape have the first numbers."""
    return Redactor.over((*content.interactions, *content.live))


def redacted_rows(content: JournalContent, redactor: Redactor) -> tuple[dict[str, Any], ...]:
    """The whole trace, in order of the requests: exchanges with the real thing, and the others."""
    rows = [redacted_value(row, redactor) for row in content.rows]
    for source, interactions in (("record", content.interactions), ("live", content.live)):
        rows.extend(_row(content, source, interaction, redactor) for interaction in interactions)
    return tuple(sorted(rows, key=lambda row: int(row["index"])))


def write_trace(layout: Layout, session: str, rows: Iterable[dict[str, Any]]) -> None:
    """`trace.jsonl` of a session, in its folder."""
    folder = layout.sessions / session
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trace.jsonl").write_bytes(b"".join(row_line(row) for row in rows))


def redacted_value(value: Any, redactor: Redactor) -> Any:
    """Plain data with every long credential replaced, in keys too."""
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, list):
        return [redacted_value(item, redactor) for item in value]
    if isinstance(value, dict):
        return {redactor.text(key): redacted_value(item, redactor) for key, item in value.items()}
    return value


def _row(content: JournalContent, source: str, interaction: Interaction, redactor: Redactor) -> dict[str, Any]:
    rewrites = content.rewrites.get(interaction.index)
    return {
        "index": interaction.index,
        "session": content.head["session"],
        "source": source,
        "started": round(interaction.started, 6),
        "seconds": round(interaction.seconds, 6),
        **interaction_fields(redactor.interaction(interaction)),
        **({"rewrites": [redactor.text(text) for text in rewrites]} if rewrites else {}),
        **({"client_gone": True} if interaction.index in content.clients_gone else {}),
    }
