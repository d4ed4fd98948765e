"""For whom an agent acts in one trial: the account, and a user whom nobody has met before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from proctor.cases.accounts import Accounts
from proctor.cases.case import Case
from proctor.errors import SuiteError, nearest
from proctor.world.ledger import session_id

How = Literal["case", "audience", "fallback", "anonymous"]


@dataclass(frozen=True)
class Identity:
    """Who the agent's user is. `how` says by which step the account was found."""

    account: str
    """Empty for nobody in particular."""
    user_id: str
    how: How
    fresh: bool
    """Nobody has met the user; not so in a case that tests memory, nor where a tape holds what a user says."""


def resolve(case: Case, accounts: Accounts, run: str, trial: int) -> Identity:
    """The case's own account, else its audience's, else the fallback, else nobody in particular.

    The same run, case and trial give the same user. Raises SuiteError where the account is not there, or must not be
    used by the case.
    """
    account, how = _account(case, accounts)
    _check_writes(case, account, accounts)
    if case.memory:
        return Identity(account, account or f"memory-{case.template}", how, fresh=False)
    return Identity(account, session_id(f"{run}\n{case.id}", "fresh", trial), how, fresh=True)


def renewed(identity: Identity, which: str) -> Identity:
    """For one more try of a trial: another user where he was to be new, for the agent has met the first by now."""
    if not identity.fresh:
        return identity
    return replace(identity, user_id=session_id(f"{identity.user_id}\n{which}", "fresh", 0))


def _account(case: Case, accounts: Accounts) -> tuple[str, How]:
    if case.account:
        if case.account not in accounts.accounts:
            told = f'case {case.id} is for the account "{case.account}", which is not in .proctor/accounts.toml'
            raise SuiteError("account_unknown", told, nearest(case.account, accounts.accounts) or "write it there")
        return case.account, "case"
    if case.audience in accounts.audiences:
        return accounts.audiences[case.audience], "audience"
    return (accounts.fallback, "fallback") if accounts.fallback else ("", "anonymous")


def _check_writes(case: Case, account: str, accounts: Accounts) -> None:
    """A case may write unless it says that it does not: what nobody thought of must not reach real customers."""
    if not case.may_write:
        return
    if accounts.production:
        told = f"case {case.id} may write, and these services are production"
        raise SuiteError("writes_in_production", told, "run it against staging or a world, or say permissions: [read]")
    if account and not accounts.accounts[account].test:
        told = f'case {case.id} may write, and the account "{account}" is not for tests alone'
        raise SuiteError("account_not_for_tests", told, "test = true in .proctor/accounts.toml, if it is")
