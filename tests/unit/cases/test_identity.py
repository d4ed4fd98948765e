"""For whom an agent acts: found in four steps, fresh for each trial, and no real customer where a case may write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proctor.cases.accounts import Accounts, read_accounts, variables_of
from proctor.cases.case import Case
from proctor.cases.identity import resolve
from proctor.errors import ConfigError, SuiteError

FILE = """\
fallback = "shared"

[audiences]
buyer = "ann"

[accounts.ann]
audience = "buyer"
test = true
variables = { SHOP_TOKEN = "env:ANN_TOKEN", PLAIN = "secret-of-ann" }

[accounts.shared]
test = true

[accounts.real]
"""


def written(folder: Path, text: str = FILE) -> Path:
    path = folder / "accounts.toml"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return path


@pytest.fixture
def accounts(tmp_path: Path) -> Accounts:
    written(tmp_path)
    return read_accounts(tmp_path)


def case(**said: Any) -> Case:
    return Case.model_validate({"id": "c", "title": "t", "turns": [{"user": "x"}], **said})


@pytest.mark.req(71)
@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"account": "shared", "audience": "buyer"}, ("shared", "case")),
        ({"audience": "buyer"}, ("ann", "audience")),
        ({"audience": "seller"}, ("shared", "fallback")),
        ({}, ("shared", "fallback")),
    ],
)
def test_the_case_s_account_comes_before_its_audience_s_and_the_fallback(
    accounts: Accounts, said: Any, found: tuple[str, str]
) -> None:
    identity = resolve(case(**said), accounts, "run", 0)
    assert (identity.account, identity.how) == found


def test_without_any_account_the_user_is_nobody_in_particular() -> None:
    identity = resolve(case(audience="buyer"), Accounts(), "run", 0)
    assert (identity.account, identity.how, identity.fresh) == ("", "anonymous", True)


@pytest.mark.req(67)
def test_each_trial_has_a_user_of_its_own_and_the_same_run_the_same_ones(accounts: Accounts) -> None:
    def users(run: str) -> list[str]:
        return [resolve(case(id=name), accounts, run, trial).user_id for name in ("a", "b") for trial in range(3)]

    assert len({*users("one"), *users("two")}) == 12
    assert users("one") == users("one")


def test_a_case_that_tests_memory_keeps_its_user(accounts: Accounts) -> None:
    first, second = (resolve(case(memory=True, account="ann"), accounts, run, 0) for run in ("one", "two"))
    assert first == second
    assert (first.user_id, first.fresh) == ("ann", False)


@pytest.mark.req(73)
def test_a_case_that_may_write_reaches_neither_production_nor_a_customer_s_account(accounts: Accounts) -> None:
    real = accounts.model_copy(update={"production": True})
    for said, where, code in (
        ({"account": "ann"}, real, "writes_in_production"),
        ({}, real, "writes_in_production"),
        ({"account": "real"}, accounts, "account_not_for_tests"),
    ):
        with pytest.raises(SuiteError) as caught:
            resolve(case(**said), where, "run", 0)
        assert caught.value.code == code
        assert resolve(case(**said, permissions=["read"]), where, "run", 0).user_id
    with pytest.raises(SuiteError):
        resolve(case(permissions=["read", "write"]), real, "run", 0)


def test_an_unknown_account_is_told_with_the_nearest(accounts: Accounts) -> None:
    with pytest.raises(SuiteError) as caught:
        resolve(case(account="anne"), accounts, "run", 0)
    assert (caught.value.code, caught.value.fix) == ("account_unknown", 'did you mean "ann"?')


def test_variables_come_from_the_file_or_the_environment_and_are_never_shown(accounts: Accounts) -> None:
    ann = accounts.accounts["ann"]
    assert variables_of("ann", ann, {"ANN_TOKEN": "t"}) == {"SHOP_TOKEN": "t", "PLAIN": "secret-of-ann"}
    assert "secret-of-ann" not in repr(accounts) + accounts.model_dump_json()
    with pytest.raises(ConfigError) as caught:
        variables_of("ann", ann, {})
    assert (caught.value.code, "ANN_TOKEN" in caught.value.fix) == ("account_variable_unset", True)


@pytest.mark.req(74)
def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.chmod(0o640)
    with pytest.raises(ConfigError) as caught:
        read_accounts(tmp_path)
    assert (caught.value.code, caught.value.fix) == ("accounts_open", f"chmod 600 {path}")


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ('fallback = "bob"\n', "accounts_bad_value", 'fallback is "bob"'),
        ('[audiences]\nbuyer = "bob"\n[accounts.bobby]\n', "accounts_bad_value", 'did you mean "bobby"?'),
        ("[accounts.bob]\ntests = true\n", "accounts_unknown_key", "accounts.bob.tests"),
        ("fallbak = 1\n", "accounts_unknown_key", "fallbak"),
        ("[accounts", "accounts_syntax", "is not TOML"),
    ],
)
def test_a_file_that_does_not_fit_is_told(tmp_path: Path, text: str, code: str, told: str) -> None:
    written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        read_accounts(tmp_path)
    assert (caught.value.code, told in caught.value.message) == (code, True), caught.value.message


def test_no_file_is_no_account(tmp_path: Path) -> None:
    assert read_accounts(tmp_path) == Accounts()
