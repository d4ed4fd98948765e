"""A project whose service is the sample world."""

from __future__ import annotations

import json
from typing import Any

from tests.support import ROOT, Project, Running

TOML = """\
[services.shop]
world = "shop:Shop"
env = ["SHOP_URL"]
identities = { alice = "env:ALICE_TOKEN", bob = "env:BOB_TOKEN", owner = "env:OWNER_TOKEN" }
"""
PLACE = {"lines": [{"sku": "TV01"}], "gift": True, "discount": 0.5, "due": "2026-02-01", "way": "post"}


def with_shop(project: Project, more: str = "") -> Project:
    """The project with the sample world in it, as `shop.py`."""
    source = (ROOT / "tests" / "unit" / "world" / "shop.py").read_text(encoding="utf-8")
    project.script("shop.py", source)
    project.configure(TOML + more)
    return project


async def asked(run: Running, tool: str, caller: str = "", /, **arguments: Any) -> tuple[int, Any]:
    """Status and JSON of a call of the world, in the name of an identity."""
    headers = {"Authorization": f"Bearer proctor-world-{caller}"} if caller else {}
    async with run.http.post(run.url("shop", f"/tools/{tool}"), data=json.dumps(arguments), headers=headers) as answer:
        return answer.status, json.loads(await answer.read())
