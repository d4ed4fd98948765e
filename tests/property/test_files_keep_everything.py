"""What is written is what is read: journal, tape, and the tape as plain vcrpy reads it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st
from vcr.serialize import deserialize
from vcr.serializers import yamlserializer

from proctor.cassette import Cassette, parse_cassette, render_cassette
from proctor.errors import CassetteError
from proctor.interaction import Interaction
from proctor.journal import JournalWriter, read_journal
from tests.property.counts import examples
from tests.property.exchanges import interactions

some = st.lists(interactions(), min_size=1, max_size=4).map(
    lambda made: tuple(replace(interaction, index=index) for index, interaction in enumerate(made))
)


@given(made=some)
@examples(ci=300, soak=3000)
def test_a_tape_gives_back_every_interaction(made: tuple[Interaction, ...]) -> None:
    tape = Cassette("t", made, {"recorded_at": "2026-01-01T00:00:00Z"})
    assert parse_cassette("t", render_cassette(tape)) == tape


@given(made=some)
@examples(ci=150, soak=1500)
def test_plain_vcrpy_reads_the_same_from_a_tape(made: tuple[Interaction, ...]) -> None:
    text = render_cassette(Cassette("t", made)).decode("utf-8")
    requests, responses, *_ = deserialize(text, yamlserializer)
    for ours, request, response in zip(made, requests, responses, strict=True):
        body = request.body or b""
        assert (body.encode() if isinstance(body, str) else body) == ours.request.body
        assert response["body"]["string"] == ours.response.body
        assert response["status"] == {"code": ours.response.status, "message": ours.response.reason}


@given(made=some)
@examples(ci=150, soak=1500)
def test_a_journal_gives_back_every_interaction(made: tuple[Interaction, ...], tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / f"{uuid4()}.jsonl", {"session": "s"})
    for interaction in made:
        journal.interaction(interaction)
    journal.close()
    assert read_journal(journal.path).interactions == made


@given(made=some, where=st.floats(0, 1, exclude_max=True))
@examples(ci=200, soak=1000)
def test_a_truncated_tape_is_an_error_never_a_shorter_tape(made: tuple[Interaction, ...], where: float) -> None:
    tape = Cassette("t", made)
    data = render_cassette(tape)
    cut = data[: int(len(data) * where)]
    with suppress(CassetteError):
        assert parse_cassette("t", cut).interactions == made
