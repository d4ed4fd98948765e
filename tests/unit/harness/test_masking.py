"""What accounts' variables hold stands in nothing that is kept of a trial."""

from __future__ import annotations

import pytest

from proctor.cases.accounts import Accounts
from proctor.cases.evaluating import Looked
from proctor.check import CheckResult, Evidence
from proctor.errors import ConfigError
from proctor.harness.masking import account_secrets, masked
from proctor.harness.trial import Ended, TrialDone
from tests.runs import call, run_of
from tests.unit.harness.test_planning import case, planned, suite

ACCOUNTS = Accounts.model_validate(
    {
        "accounts": {
            "ann": {"variables": {"TOKEN": "token-of-ann", "LONG": "token-of-ann-and-more", "PIN": "4711"}},
            "bob": {"variables": {"TOKEN": "env:NOT_SET_ANYWHERE"}},
        }
    }
)


def test_values_of_eight_characters_are_secrets_and_the_longest_comes_first() -> None:
    assert list(account_secrets(ACCOUNTS, {"ann", ""}).items()) == [
        ("token-of-ann-and-more", "[LONG of ann]"),
        ("token-of-ann", "[TOKEN of ann]"),
    ]


def test_of_accounts_that_are_not_used_nothing_need_be_set() -> None:
    assert account_secrets(ACCOUNTS, set()) == {}
    with pytest.raises(ConfigError):
        account_secrets(ACCOUNTS, {"bob"})


def test_a_secret_is_replaced_wherever_the_agent_says_it() -> None:
    run = run_of("user: hello", call("note", {"text": "token-of-ann"}, text="token-of-ann"), "agent: token-of-ann!")
    result = CheckResult(
        check="c", outcome="fail", message="token-of-ann is said", evidence=(Evidence(step=None, quote="token-of-ann"),)
    )
    ended = Ended("fail", "agent_crashed", "token-of-ann", "fix token-of-ann", "printed token-of-ann")
    (plan,) = planned(suite(case("a")))
    done = masked(TrialDone(plan, ended, run, (Looked(0, result),)), account_secrets(ACCOUNTS, {"ann"}))
    told = repr((done.ended, done.trajectory, done.looked))
    assert "token-of-ann" not in told
    assert told.count("[TOKEN of ann]") == 8
