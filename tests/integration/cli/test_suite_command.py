"""`proctor suite`: the order desk's own suite, and a broken one."""

from __future__ import annotations

import json
import shutil

import pytest

from examples.order_desk.conversations import CONVERSATIONS
from tests.support import ROOT, Project

SUITE = ROOT / "examples" / "order_desk" / "suite.yaml"


@pytest.fixture
def desk(project: Project) -> Project:
    """A project with the order desk's world and its suite."""
    project.configure('[services.orders]\nworld = "examples.order_desk.world:OrderDesk"\nenv = ["ORDERS_URL"]\n')
    shutil.copytree(SUITE.parent, project.root / "examples" / "order_desk")
    (project.root / "suites").mkdir()
    shutil.copy(SUITE, project.root / "suites" / "order_desk.yaml")
    return project


async def test_the_order_desk_s_suite_has_a_case_for_each_conversation_and_no_error(desk: Project) -> None:
    listed = await desk.proctor("suite", "list", "order_desk", "--json")
    (told,) = json.loads(listed.stdout)["suites"]
    assert [each["id"] for each in told["cases"]] == list(CONVERSATIONS)
    linted = await desk.proctor("suite", "lint", "--prove", "--json")
    (problems,) = json.loads(linted.stdout)["suites"].values()
    assert linted.status == 0
    assert {each["code"] for each in problems} == {"set_short", "kinds_missing", "no_long_chain", "no_longer_chain"}
    expanded = await desk.proctor("suite", "expand", "order_desk")
    said = [json.loads(line) for line in expanded.stdout.splitlines()]
    turns = {name: [{"user": turn} for turn in each.turns] for name, each in CONVERSATIONS.items()}
    assert {each["id"]: [{"user": turn["user"]} for turn in each["turns"]] for each in said} == turns


async def test_a_reference_that_does_not_pass_its_case_is_an_error(desk: Project) -> None:
    path = desk.root / "suites" / "order_desk.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('CN1001", amount: "119.00"', 'CN1001", amount: "129.00"'), encoding="utf-8")
    done = await desk.proctor("suite", "lint", "order_desk", "--prove")
    assert done.status == 1
    assert "reference_refused: case refund_zh has a reference that is answered otherwise: create_refund" in done.stdout
    assert (await desk.proctor("suite", "lint", "order_desk")).status == 0


async def test_an_error_of_a_case_is_status_1_and_names_file_line_and_fix(desk: Project) -> None:
    path = desk.root / "suites" / "order_desk.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("called: [calc_refund, create_refund]", "called: [calc_refunds]"), encoding="utf-8")
    done = await desk.proctor("suite", "lint", "order_desk")
    assert done.status == 1
    line = 1 + text[: text.index("- id: refund_zh")].count("\n")
    assert f"order_desk.yaml:{line}: unknown_tool: case refund_zh names the tool" in done.stdout
    assert 'did you mean "calc_refund"?' in done.stdout


@pytest.mark.req(152)
async def test_blind_cases_are_printed_only_where_that_is_asked_for_and_then_written_down(project: Project) -> None:
    project.configure('[services.orders]\nurl = "http://127.0.0.1:9"\n')
    head = "name: desk\ntitle: t\ntests: this\ntests_not: that\ninclude: [blind/*.yaml]\n"
    one = "cases:\n  - {id: %s, title: t, set: %s, turns: [{user: hello}], expect: {says: [hi]}}\n"
    (project.root / "suites" / "blind").mkdir(parents=True)
    (project.root / "suites" / "desk.yaml").write_text(head + one % ("seen", "baseline"), encoding="utf-8")
    (project.root / "suites" / "blind" / "desk.yaml").write_text(one % ("unseen", "blind"), encoding="utf-8")
    log = project.root / "suites" / "desk.blind.jsonl"
    plain = await project.proctor("suite", "expand", "desk")
    assert [json.loads(line)["id"] for line in plain.stdout.splitlines()] == ["seen"]
    assert not log.exists()
    blind = await project.proctor("suite", "expand", "desk", "--blind")
    assert [json.loads(line)["id"] for line in blind.stdout.splitlines()] == ["unseen"]
    (use,) = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    assert (use["reason"], use["suite"], use["cases"], use["run"]) == ("suite expand", "desk", 1, "")
    assert (await project.proctor("suite", "lint", "desk")).status == 0


@pytest.mark.parametrize(
    "arguments", [("lint", "nosuch"), ("list", "suites/x.yaml"), ("expand", "../x"), ("list", "order_desk/../../x")]
)
async def test_a_suite_that_is_not_there_is_status_2(desk: Project, arguments: tuple[str, ...]) -> None:
    done = await desk.proctor("suite", *arguments)
    assert (done.status, "suite_missing" in done.stderr) == (2, True)


async def test_without_suites_the_command_says_where_to_write_one(project: Project) -> None:
    project.configure('[services.orders]\nurl = "http://127.0.0.1:9"\n')
    listed = await project.proctor("suite", "list")
    assert (listed.status, "no suites yet: write " in listed.stdout) == (0, True)
    assert (await project.proctor("suite", "lint")).status == 2


async def test_the_schema_is_json_schema_that_knows_every_key_of_the_suite(project: Project) -> None:
    done = await project.proctor("suite", "schema")
    schema = json.loads(done.stdout)
    assert {"cases", "templates", "include", "limits"} <= schema["properties"].keys()
    assert "on_loop" in schema["$defs"]["Case"]["properties"]
