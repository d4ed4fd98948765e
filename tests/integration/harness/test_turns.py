"""What the agent of a trial is told, turn by turn, for whom it acts, and which part of the run each check sees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.harness.shop import CALLING, case, ends, run, set_up
from tests.support import Project

LOGGING = (
    CALLING
    + """
LOG = open("asked.jsonl", "a")
for line in sys.stdin:
    LOG.write(line)
    LOG.flush()
    asked = json.loads(line)
    user = asked["user"]
"""
)
"""An agent that writes down what it is asked; its answers follow."""
SECRET = "s3cr3t-value-of-ann-4711"


def asked(project: Project, name: str) -> list[dict[str, Any]]:
    """All that the agent was asked in the trials of a case."""
    told = [json.loads(line) for line in (project.root / "asked.jsonl").read_text(encoding="utf-8").splitlines()]
    return [each for each in told if each["case"] == name]


def accounts(project: Project, text: str) -> None:
    path = project.root / ".proctor" / "accounts.toml"
    path.parent.mkdir(exist_ok=True)
    path.touch(0o600)
    path.write_text(text, encoding="utf-8")


ASKS_BACK = (
    LOGGING
    + """
    if user == "Where is my order?":
        reply("Which order? Please tell me its id.")
    elif user == "It is A1.":
        reply("It cost " + str(call("query_order", order_id="A1")))
    else:
        call("note", text=user)
        reply("Noted.")
"""
)


async def test_an_answer_by_rule_belongs_to_the_turn_in_which_the_agent_asked(project: Project) -> None:
    turns = [
        {"user": "Where is my order?", "expect": {"called": ["query_order"], "says": ["40"], "not_called": ["note"]}},
        {"user": "Thanks.", "expect": {"called": ["note"], "not_called": ["query_order"], "never_says": ["40"]}},
    ]
    facts = {"id": "back", "title": "back", "admitted": True, "replies": [{"when": ["id"], "say": "It is A1."}]}
    set_up(project, ASKS_BACK, [{**facts, "turns": turns}])
    _, told = await run(project)
    assert ends(told)["back"] == ("pass", "")
    messages = asked(project, "back")
    assert [each["user"] for each in messages] == ["Where is my order?", "It is A1.", "Thanks."]
    assert [each["turn"] for each in messages] == [0, 1, 2]
    assert [each["content"] for each in messages[2]["history"]] == [
        *("Where is my order?", "Which order? Please tell me its id.", "It is A1.", "It cost 40"),
    ]
    assert [len(each["history"]) for each in messages] == [0, 2, 4]
    shown = json.loads((await project.proctor("trial", "show", "back", "--json")).stdout)
    said = [(step["turn"], step["text"]) for step in shown["trajectory"]["steps"] if step["role"] == "user"]
    assert said == [(0, "Where is my order?"), (0, "It is A1."), (1, "Thanks.")]
    assert {(check["name"], check["turn"]) for check in shown["checks"] if check["turn"] == 1} == {
        *(("tool_called", 1), ("tool_not_called", 1), ("answer_must_not", 1)),
    }


async def test_a_check_of_a_turn_fails_by_what_that_turn_lacks_though_another_has_it(project: Project) -> None:
    turns = [{"user": "It is A1."}, {"user": "Thanks.", "expect": {"called": ["query_order"]}}]
    set_up(project, ASKS_BACK, [{"id": "late", "title": "late", "turns": turns}])
    done, told = await run(project)
    assert ends(told)["late"] == ("fail", "tool_called")
    assert told["trials"][0]["message"].startswith("turn 1: ")
    assert "admitted" in (await project.proctor("runs", "last")).stdout
    assert done.status == 1


@pytest.mark.req(67)
async def test_every_try_has_a_user_whom_the_agent_has_not_met(project: Project) -> None:
    agent = LOGGING + '    reply("no")\n'
    set_up(project, agent, [case("a", trials=2)])
    await run(project)
    users = [each["user_id"] for each in asked(project, "a")]
    assert len(users) == 4, "two trials, both run once more"
    assert len(set(users)) == 4
    assert len({each["session"] for each in asked(project, "a")}) == 4


@pytest.mark.req(68)
async def test_a_case_of_memory_has_one_user_over_all_its_trials(project: Project) -> None:
    set_up(project, LOGGING + '    reply("no")\n', [case("m", memory=True, trials=2)])
    await run(project)
    assert {each["user_id"] for each in asked(project, "m")} == {"memory-m"}
    assert len({each["session"] for each in asked(project, "m")}) == 4


PAYS = LOGGING + '    reply("Refunded " + str(call("create_refund", order_id=user.split()[-1])))\n'


@pytest.mark.req(132)
async def test_an_id_of_the_trials_own_stands_in_state_words_and_expectations(project: Project) -> None:
    mine = "{id:ORD:mine}"
    expected = {"state": [{"path": "$.refunds[*]", "value": mine}]}
    state = {"orders": {"orders": {mine: 40}}}
    set_up(project, PAYS, [case("own", f"Refund {mine}", state=state, expect=expected, trials=3)])
    done, told = await run(project)
    assert (ends(told)["own"], done.status) == (("pass", ""), 0)
    ids = [each["user"].split()[-1] for each in asked(project, "own")]
    assert len(set(ids)) == 3
    assert all(each.startswith("ORD-") for each in ids)
    shown = json.loads((await project.proctor("trial", "show", "own", "--trial", "2", "--json")).stdout)
    (own,) = shown["trajectory"]["end_state"]["orders"]
    assert own in ids


KEEPS_NOTHING = (
    LOGGING
    + """
    token = os.environ["SHOP_TOKEN"]
    assert asked["account"] == "ann"
    if asked["case"] == "argument":
        call("note", text=token)
    elif asked["case"] == "dies":
        sys.exit("cannot go on with " + token)
    reply("I hold " + token)
"""
)


@pytest.mark.req(71)
@pytest.mark.req(74)
@pytest.mark.parametrize("value", [SECRET, "env:ANN_SECRET_OF_TODAY"])
async def test_an_accounts_secret_reaches_the_agent_and_is_kept_nowhere(project: Project, value: str) -> None:
    cases = [case(name, audience="buyer", expect={"says": [SECRET]}) for name in ("argument", "says", "dies")]
    accounts(
        project,
        '[audiences]\nbuyer = "ann"\n[accounts.ann]\naudience = "buyer"\ntest = true\n'
        f'variables = {{ SHOP_TOKEN = "{value}" }}\n',
    )
    set_up(project, KEEPS_NOTHING, cases)
    done = await project.proctor("run", "shop", env={"ANN_SECRET_OF_TODAY": SECRET})
    shown = await project.proctor("trial", "show", "dies")
    assert (done.status, "pass 2, fail 1" in done.stdout) == (1, True), done.stdout
    assert "cannot go on with [SHOP_TOKEN of ann]" in shown.stdout
    assert SECRET not in done.stdout + done.stderr + shown.stdout
    holding = [path.name for path in files_below(project.root / ".proctor") if SECRET.encode() in path.read_bytes()]
    assert holding == (["accounts.toml"] if value == SECRET else [])


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.req(73)
async def test_a_case_that_may_write_gets_no_account_but_a_test_account(project: Project) -> None:
    accounts(project, "[accounts.ann]\n")
    set_up(project, PAYS, [case("w", account="ann")])
    done = await project.proctor("run", "shop")
    assert (done.status, "account_not_for_tests" in done.stderr) == (2, True)
    assert not (project.root / "asked.jsonl").exists()
    assert "there is no run yet" in (await project.proctor("runs")).stderr


async def test_a_variable_of_an_account_that_is_not_set_ends_the_run_before_its_first_trial(project: Project) -> None:
    accounts(project, '[accounts.ann]\ntest = true\nvariables = { SHOP_TOKEN = "env:NOT_SET_ANYWHERE" }\n')
    set_up(project, PAYS, [case("first"), case("w", account="ann")])
    done = await project.proctor("run", "shop")
    assert (done.status, "account_variable_unset" in done.stderr, "NOT_SET_ANYWHERE" in done.stderr) == (2, True, True)
    assert not (project.root / "asked.jsonl").exists()


FAULTY = (
    LOGGING
    + """
    first = call("query_order", order_id="A1")
    again = call("query_order", order_id="A1")
    call("create_refund", order_id="A1")
    reply(json.dumps([first, again]))
"""
)


async def test_a_fault_fires_and_one_that_never_does_is_told(project: Project) -> None:
    planned = [
        {"tool": "query_order", "call": 1, "kind": "error", "status": 503},
        {"tool": "note", "call": 1, "kind": "error", "status": 503},
    ]
    set_up(project, FAULTY, [case("f", faults={"fault": planned})])
    _, told = await run(project)
    assert ends(told)["f"] == ("pass", "")
    facts = told["trials"][0]["facts"]
    assert (len(facts["faults"]), len(facts["faults_unfired"])) == (1, 1)
    shown = (await project.proctor("trial", "show", "f")).stdout
    assert "fault that never fired: note:1" in shown
    assert "status 503" in shown


LOOPS = (
    LOGGING
    + """
    answers = [call("query_order", order_id="A1") for _ in range(int(user))]
    call("create_refund", order_id="A1")
    reply(json.dumps(answers[-1]))
"""
)


async def test_an_agent_that_takes_the_hint_at_a_loop_goes_on_and_one_that_does_not_is_stopped(
    project: Project,
) -> None:
    set_up(project, LOOPS, [case("takes", "4", on_loop="hint"), case("not", "5", on_loop="hint")])
    _, told = await run(project)
    assert ends(told) == {"takes": ("pass", ""), "not": ("fail", "loop")}
    shown = (await project.proctor("trial", "show", "takes")).stdout
    assert "loop_hint" in shown
    stopped = next(trial for trial in told["trials"] if trial["case_id"] == "not")
    assert "query_order was called 5 times with the same arguments" in stopped["message"]
