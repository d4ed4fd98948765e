"""The numbers of an earlier tape are kept by name and place, and none is given twice."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from proctor.interaction import Interaction
from proctor.redaction.numbering import AsBefore, places_on
from proctor.redaction.redactor import Redactor
from proctor.redaction.rules import Rules
from tests.property.counts import examples
from tests.unit.core.values import interaction, request

JSON = (("Content-Type", "application/json"),)


def call(**fields: str) -> Interaction:
    """An exchange whose request holds these fields."""
    return interaction(request(json.dumps(fields).encode(), headers=JSON))


def sealed(calls: Sequence[Interaction], numbers: AsBefore | None = None) -> tuple[list[Interaction], int]:
    """The exchanges with placeholders, and how many there are."""
    redactor = Redactor.over(calls, numbers=numbers)
    return [redactor.interaction(each) for each in calls], redactor.count


def again(calls: Sequence[Interaction], old: tuple[list[Interaction], int], **by_value: int) -> list[dict[str, str]]:
    """The fields of exchanges that are recorded once more over an old tape."""
    clean, _ = sealed(calls, AsBefore(by_value, places_on(old[0], Rules(), old[1])))
    return [json.loads(each.request.body) for each in clean]


def test_a_secret_keeps_its_number_though_another_comes_before_it() -> None:
    old = sealed([call(password="first-One-11"), call(secret="second-Two-22")])
    new = [call(password="other-One-33", api_key="quite-New-44"), call(secret="other-Two-55")]
    assert again(new, old) == [
        {"password": "proctor-redacted-0001", "api_key": "proctor-redacted-0003"},
        {"secret": "proctor-redacted-0002"},
    ]


def test_a_secret_that_the_earlier_tape_names_has_its_number_wherever_it_stands() -> None:
    old = sealed([call(password="first-One-11"), call(secret="second-Two-22")])
    new = [call(api_key="named-Secret-33"), call(password="other-One-44")]
    assert again(new, old, **{"named-Secret-33": 2})[0] == {"api_key": "proctor-redacted-0002"}


def test_a_random_token_keeps_the_spelling_that_it_had_though_it_looks_like_base64_by_chance() -> None:
    old = sealed([call(token="Zm9vYmFyYmF6cXV4MTIz")])
    assert json.loads(old[0][0].request.body)["token"].startswith("cHJvY3Rvci1yZWRhY3RlZC")
    assert again([call(token="no_base64-at-all-77_")], old) == [json.loads(old[0][0].request.body)]


def test_a_number_that_stands_in_the_new_recording_already_is_given_to_no_secret() -> None:
    old = sealed([call(password="first-One-11")])
    said, _ = again([call(said="proctor-redacted-0001", x="y"), call(password="other-One-22")], old)
    assert said["said"] == "proctor-redacted-0001"
    clean = again([call(said="proctor-redacted-0001"), call(password="other-One-22")], old)
    assert clean[1] == {"password": "proctor-redacted-0002"}


SECRETS = st.lists(st.sampled_from([f"pass-Word-{n}{n}" for n in range(12)] + ["481516", "234200"]), max_size=8)


@given(first=SECRETS, second=SECRETS)
@examples(ci=100, soak=1000)
def test_two_secrets_never_share_a_placeholder_and_the_same_run_has_the_same_ones(
    first: list[str], second: list[str]
) -> None:
    old = sealed([call(password=secret) for secret in first])
    placed = [fields["password"] for fields in again([call(password=secret) for secret in second], old)]
    assert len(set(placed)) == len(set(second)) == len(set(zip(placed, second, strict=True)))
    repeated = again([call(password=secret) for secret in first], old)
    assert repeated == [json.loads(each.request.body) for each in old[0]]
