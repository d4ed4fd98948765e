"""Calls from several threads come one after the other too: a launcher may call a session without the proxy."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor

from pydantic import BaseModel

from proctor.world import World, tool
from proctor.world.kind import WorldKind
from proctor.world.session import WorldSession


class Account(BaseModel):
    balance: int = 0


class Bank(World[Account]):
    @tool
    def pay_in(self, amount: int) -> int:
        """Read, let other threads go on, write."""
        before = self.state.balance
        time.sleep(0)
        self.state.balance = before + amount
        return self.state.balance


def test_no_update_of_several_threads_is_lost() -> None:
    bank = WorldSession(WorldKind(Bank), 1)
    bodies = [json.dumps({"amount": amount}).encode() for amount in range(1, 401)]
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda body: bank.call("pay_in", body), bodies))
    assert bank.state() == {"balance": sum(range(1, 401))}
    assert [write.call for write in bank.log] == list(range(1, 401))
    balances = [write.patch[0]["value"] for write in bank.log]
    assert sorted(int(answer.body) for answer in answers) == balances
