"""The table in docs/clients.md: read, and written from what a run found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.clients.catalogue import CLIENTS, Client
from tests.support import ROOT

PAGE = ROOT / "docs" / "clients.md"
BEGIN = "<!-- made by `make clients`: begin -->\n"
END = "<!-- made by `make clients`: end -->\n"
COLUMNS = ("client", "version", "recorded", "replayed", "pointed at Proctor by", "calls past it are seen")
HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|\n"


@dataclass(frozen=True)
class Row:
    """What a run found of one client."""

    version: str
    recorded: bool
    replayed: bool
    seen: bool
    """Whether a call past the services, straight to the model's address, is refused and told."""

    def line(self, client: Client) -> str:
        """As the table has it."""
        seen = "yes" if self.seen else "no: it ignores proxy variables"
        cells = (client.name, self.version, _word(self.recorded), _word(self.replayed), f"`{client.variable}`", seen)
        return f"| {' | '.join(cells)} |\n"


def committed() -> dict[str, str]:
    """Each client's line of the table, by its name."""
    lines = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].splitlines(keepends=True)
    return {line.split("|")[1].strip(): line for line in lines if line.startswith("|")}


def write(found: Mapping[str, Row]) -> None:
    """Put what was found into the page; the line of a client that did not run stays as it was."""
    old = committed()
    lines = [found[c.name].line(c) if c.name in found else old.get(c.name, "") for c in CLIENTS]
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + HEAD + "".join(lines) + END + rest.partition(END)[2], encoding="utf-8")


def without_version(line: str) -> str:
    """A line as far as it does not depend on what the machine happens to have."""
    cells = line.split("|")
    return "|".join(cells[:2] + cells[3:])


def _word(well: bool) -> str:
    return "yes" if well else "**no**"
