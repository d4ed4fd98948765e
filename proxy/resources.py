"""What a session itself answers below its address: names that begin with `_`, which no service's name does.

Requests to them are no exchanges: they are not recorded, not traced and not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aiohttp import web

from proctor.proxy import judging
from proctor.proxy.session import Session

Resource = Callable[[Session, str, str], web.Response]
"""Answers for a session, from the method and the path below the resource's name."""

RESOURCES: Mapping[str, Resource] = {"_judge": judging.answer}
