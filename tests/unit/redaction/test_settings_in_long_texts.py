"""Settings in a long text are found as in a short one, by whatever way they are looked for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proctor.redaction.finder import _SETTING, _settings

PIECES = (
    "password", "PASSWORD", "Api_Key", "apikey", "paſſword", "apı-key", "密码", "token", "TOKEN", "access-key",
    "accountkey", "shared_access_key", "=", ": ", "：", "是", "'", '"', " ", "\n", "Bearer ", "kR7xQ2mZ9p4", "abc",
    "İ", "ß", "pass", "x" * 300,
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=60), st.sampled_from(("y" * 600, "ß" * 600, "İ" * 600, "")))
def test_every_one_is_found_once(pieces: list[str], filling: str) -> None:
    text = filling + "".join(pieces)
    assert [found.span() for found in _settings(text)] == [found.span() for found in _SETTING.finditer(text)]
