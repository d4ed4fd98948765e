"""Declaring effects in `proctor.toml`: nothing else in the file changes, whatever its layout."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from proctor.config import load_config
from proctor.config_edit import declare, with_effects
from proctor.effect_table import Confirmation
from proctor.errors import ConfigError, PlatformError

ADDED = {"orders": Confirmation(("query_order",), ("pay",))}

HOUSE = """\
# The order desk.

[services.orders]
url = "http://x.test"    # staging
reads = ["calc_*"]       # tools that only read
# identities come later

# The model.
[services.llm]
preset = "openai"
"""
HOUSE_AFTER = """\
# The order desk.

[services.orders]
url = "http://x.test"    # staging
reads = ["calc_*", "query_order"]       # tools that only read
writes = ["pay"]
# identities come later

# The model.
[services.llm]
preset = "openai"
"""


def test_comments_blank_lines_and_order_stay() -> None:
    assert with_effects(HOUSE, ADDED) == HOUSE_AFTER


def test_a_list_of_many_lines_grows_by_a_line() -> None:
    text = '[services.orders]\nurl = "http://x.test"\nwrites = [\n    "refund",  # money\n    "cancel",\n]\n'
    after = with_effects(text, {"orders": Confirmation(writes=("pay", '支付 \\ "'))})
    assert after == text.replace('"cancel",\n', '"cancel",\n    "pay",\n    "支付 \\\\ \\"",\n')


LAYOUTS = [
    HOUSE,
    HOUSE.replace("\n", "\r\n"),
    HOUSE.rstrip("\n"),
    '[services]\norders = { url = "http://x.test", reads = [] }  # one line\n',
    '[services]\norders.url = "http://x.test"  # dotted\n[cassettes]\nenvironment = "x"\n',
    'services.orders.url = "http://x.test"\nservices.orders.writes = []\n[redact]\n',
    '[services.orders]\nurl = "http://x.test"\n[services.orders.identities]\nalice = "env:A"\n',
    '[services.orders.identities]\nalice = "env:A"\n[cassettes]\n[services.orders]\nurl = "http://x.test"\n',
    '[services.orders.identities]\nalice = "env:A"\n[services.llm]\npreset = "openai"\n[services.orders]\nurl="http://x.test"',
    '[services."orders"]\n"url" = \'http://x.test\'\nreads = [ # none\n]\n\n\n\n[services.llm]\npreset = "openai"\n',
]


@pytest.mark.parametrize("text", LAYOUTS)
def test_in_every_layout_only_the_two_lists_change(text: str, tmp_path: Path) -> None:
    path = tmp_path / "proctor.toml"
    path.write_bytes(text.encode())
    path.chmod(0o640)
    before = load_config(path)
    declare(path, ADDED)
    after = load_config(path)
    old, new = before.services["orders"], after.services["orders"]
    assert (new.reads, new.writes) == ((*old.reads, "query_order"), (*old.writes, "pay"))
    assert new.model_copy(update={"reads": old.reads, "writes": old.writes}) == old
    assert after.model_copy(update={"services": before.services}) == before
    comments = [line.partition("#")[2].strip() for line in text.splitlines() if "#" in line]
    written = path.read_bytes().decode()
    assert [line.partition("#")[2].strip() for line in written.splitlines() if "#" in line] == comments
    assert path.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["proctor.toml"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "proctor.toml"
    real.write_text(HOUSE, encoding="utf-8")
    link.symlink_to(real)
    declare(link, ADDED)
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == HOUSE_AFTER


def test_an_edit_that_makes_a_bad_file_is_refused_and_the_file_is_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "proctor.toml"
    path.write_text(HOUSE, encoding="utf-8")
    with pytest.raises(PlatformError) as raised:
        declare(path, {"orders": Confirmation(writes=("calc_*",))})
    assert (raised.value.code, "stands in reads" in raised.value.message) == ("config_not_editable", True)
    assert path.read_text(encoding="utf-8") == HOUSE


def test_a_folder_that_takes_no_file_is_a_named_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        declare(tmp_path / "gone.toml", ADDED)
    assert raised.value.code == "config_unwritable"


def test_what_is_written_is_what_was_wanted_and_nothing_is_written_twice() -> None:
    once = with_effects(HOUSE, ADDED)
    assert tomllib.loads(once)["services"]["orders"]["writes"] == ["pay"]
    assert with_effects(once, {}) == once
