"""How right the table of vendors is: measures for `make figures`, and the list of what it refuses.

.venv/bin/python -m tools.figures_vendors
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from proctor.trajectory import Trajectory
from proctor.vendors import families
from tests.unit.core.vendor_labels import labels

PRICES = "model_prices_and_context_window_backup.json"


def vendor_wrong(_: Sequence[Trajectory]) -> dict[str, float]:
    """Of the names labelled by hand, those that get other families; each is printed."""
    found = [(wanted, families(name)) for name, wanted in labels()]
    wrong = [(wanted, got) for wanted, got in found if wanted != got.families]
    for wanted, got in wrong:
        print(f"vendor wrong: wanted {', '.join(sorted(wanted)) or 'unknown'}; {got.why}")
    print(f"vendors: {len(labels()) - len(wrong)} of {len(labels())} labelled names are right")
    return {"vendor_wrong": len(wrong)}


def vendor_resolved(_: Sequence[Trajectory]) -> dict[str, float]:
    """The share of the installed litellm's chat models of which the families are known; no figure without it."""
    names = chat_models()
    if not names:
        print("vendors: litellm is not installed, so its models are not looked at")
        return {}
    refused = [name for name in names if not families(name).families]
    print(
        f"vendors: {len(names) - len(refused)} of litellm's {len(names)} chat models are known, {len(refused)} refused"
    )
    return {"vendor_resolved": round(1 - len(refused) / len(names), 4)}


def chat_models() -> list[str]:
    """The chat models that the installed litellm knows, read from its file and not imported; empty without it."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return []
    prices = json.loads((Path(spec.origin).parent / PRICES).read_text(encoding="utf-8"))
    return [name for name, facts in prices.items() if facts.get("mode") == "chat"]


MEASURES = (vendor_wrong, vendor_resolved)


def main() -> int:
    """Print the chat models that are refused, and why."""
    for name in chat_models():
        found = families(name)
        if not found.families:
            print(found.why)
    vendor_resolved(())
    return 0


if __name__ == "__main__":
    sys.exit(main())
