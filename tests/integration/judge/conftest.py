"""What several tests of the judge's service need."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.judge.senders import Sender
from tests.integration.judge.services import judge_service


@pytest.fixture
async def sender(tmp_path: Path) -> AsyncIterator[Sender]:
    async with judge_service(tmp_path) as (service, client):
        yield Sender(service, client)
