"""The trace of a session that asked the real thing: written from its journal, with every credential replaced."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from proctor.earlier import named_secrets, numbers_before
from proctor.interaction import Interaction
from proctor.journal import JournalContent
from proctor.paths import Layout
from proctor.redaction.redactor import Redactor
from proctor.redaction.rules import rules_of
from proctor.stamp import BEFORE, EXTENDS, OVER
from proctor.trace import interaction_fields, row_line


def session_redactor(content: JournalContent, layout: Layout) -> Redactor:
    """A redactor that knows every secret of the session; those of the tape have the first numbers.

    Secrets of an earlier tape keep their placeholders where its answers are taken over, and their numbers where it is
    recorded again. The rules are those with which the recording began.
    """
    head = content.head
    rules = rules_of(head.get("redact", {}), layout.root, head.get("variables", {}))
    over = head.get(OVER) or head.get(EXTENDS, {})
    redactor = Redactor.over(
        (*content.interactions, *content.live),
        rules,
        over.get("placeholders", 0),
        bound={**named_secrets(head, over), **content.bound},
        numbers=numbers_before(layout, head, rules) if BEFORE in head else None,
    )
    for row in content.rows:
        redactor.learn_row(row)
    return redactor


def redacted_rows(content: JournalContent, redactor: Redactor) -> tuple[dict[str, Any], ...]:
    """The whole trace, in order of the requests: exchanges with the real thing, and the others."""
    rows = [redactor.value(row) for row in content.rows]
    recorded = [interaction for interaction in content.interactions if interaction.index not in content.taken]
    for source, interactions in (("record", recorded), ("live", content.live)):
        rows.extend(_row(content, source, interaction, redactor) for interaction in interactions)
    return tuple(sorted(rows, key=lambda row: int(row["index"])))


def write_trace(layout: Layout, session: str, rows: Iterable[dict[str, Any]]) -> None:
    """`trace.jsonl` of a session, in its folder."""
    folder = layout.sessions / session
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trace.jsonl").write_bytes(b"".join(row_line(row) for row in rows))


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
        **content.late.get(interaction.index, {}),
    }
