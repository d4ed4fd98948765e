"""The tables of docs/appendix-fold.md that are read off the code: the fold by code point, and the codes.

.venv/bin/python -m tools.fold_table      writes them into the page
"""

from __future__ import annotations

import sys

from proctor.judge.citations import CODES
from proctor.judge.fold import FOLD, rows
from tools.records import ROOT

PAGE = ROOT / "docs" / "appendix-fold.md"
_BECOMES = {" ": "one space", "'": "`'` U+0027", '"': '`"` U+0022'}


def fold_table() -> str:
    """Every code point that the fold changes, a line each."""
    lines = [f"| U+{row.code:04X} | {row.name} | {_BECOMES[row.becomes]} |" for row in rows()]
    return "\n".join([f"Version {FOLD}:", "", "| code point | name | becomes |", "|---|---|---|", *lines])


def codes_table() -> str:
    """Every code of a rejected quote, with what it means."""
    return "\n".join(
        ["| code | the quote is rejected because |", "|---|---|", *(f"| `{c}` | {m} |" for c, m in CODES.items())]
    )


def written(page: str) -> str:
    """The page with its tables as they are now."""
    for name, table in (("fold", fold_table()), ("codes", codes_table())):
        before, _, rest = page.partition(f"<!-- {name} -->")
        _, _, after = rest.partition(f"<!-- end of {name} -->")
        page = f"{before}<!-- {name} -->\n\n{table}\n\n<!-- end of {name} -->{after}"
    return page


def main() -> int:
    """Write the page."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
