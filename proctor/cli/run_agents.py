"""The agent of each trial: asked as proctor.toml says, with the addresses of its session and its account's secrets."""

from __future__ import annotations

from proctor.agents.contract import Conversation
from proctor.agents.making import conversation_of
from proctor.cases.accounts import Accounts, variables_of
from proctor.cases.case import Case
from proctor.config import Config
from proctor.harness.engine import AgentOf
from proctor.harness.trial import TrialPlan
from proctor.launch import agent_environment
from proctor.wire import SessionInfo


def agents_of(config: Config, accounts: Accounts) -> AgentOf:
    """What makes the agent of a trial. It raises ConfigError where the agent, or a variable of its account, is not."""

    def made(plan: TrialPlan, info: SessionInfo) -> Conversation:
        account = accounts.accounts.get(plan.identity.account)
        own = variables_of(plan.identity.account, account) if account else {}
        return conversation_of(config, info, {**agent_environment(config, info), **own}, _turns(plan.case))

    return made


def _turns(case: Case) -> int:
    """How many messages the user may send, those by rule included."""
    return len(case.turns) + sum(rule.times for rule in case.replies)
