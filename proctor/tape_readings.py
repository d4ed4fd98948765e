"""A whole tape, or the trace of a session, as readings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from proctor.cassette import Cassette
from proctor.interaction import Interaction
from proctor.service_config import ServiceConfig
from proctor.tape_masking import masked
from proctor.tape_reading import Reading, reading, row_reading
from proctor.tape_text import shown_interactions
from proctor.trace import TraceRow, interaction_fields

Rules = Mapping[str, ServiceConfig]
"""The services by name: which headers are part of a request, and what differs in each run."""


def tape_readings(tape: Cassette, rules: Rules) -> list[Reading]:
    """What a tape says, without what the rules declare to differ in each run."""
    return masked([reading(each, _key_headers(each, rules)) for each in shown_interactions(tape)], rules)


def traced_readings(tape: Cassette, rules: Rules) -> list[Reading]:
    """The same by what a trace of the tape would keep."""
    return masked([row_reading(_row(each)) for each in shown_interactions(tape)], rules)


def row_readings(rows: Iterable[TraceRow], rules: Rules) -> list[Reading]:
    """What a trace says, likewise."""
    return masked([row_reading(row) for row in rows], rules)


def _key_headers(interaction: Interaction, rules: Rules) -> tuple[str, ...]:
    service = rules.get(interaction.request.service)
    return tuple(name.lower() for name in service.key_headers) if service else ()


def _row(interaction: Interaction) -> TraceRow:
    times = {"started": interaction.started, "seconds": interaction.seconds}
    head = {"index": interaction.index, "session": "", "source": "record"}
    return TraceRow.model_validate({**head, **times, **interaction_fields(interaction)})
