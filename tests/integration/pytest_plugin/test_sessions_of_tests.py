"""A test that asks gets a session and a tape of its own, by the fixture or by the marker."""

from __future__ import annotations

import pytest

from tests.integration.pytest_plugin.support import Model, agent_project, folder, run_pytest, tapes
from tests.support import Project, serving

EVERY_KIND = """
import subprocess, sys, unittest

def test_plain(proctor_session):
    assert proctor_session.urls == {"llm": os.environ["OPENAI_BASE_URL"]}
    first = ask("hello")
    assert ask("hello", first) == "the end of " + first
    told = os.environ["PROCTOR_SESSION_URL"] + "/_events"
    urllib.request.urlopen(told, b'{"kind": "note", "data": [1]}').close()
    assert [(event.kind, event.data) for event in proctor_session.events()] == [("note", [1])]
    assert [row.status for row in proctor_session.trace()] == [200, 200]
    assert (proctor_session.summary.exchanges, proctor_session.misses) == (2, ())

@pytest.fixture
def greeting():
    return ask("hello")

@pytest.mark.proctor
def test_the_marker_is_enough_and_comes_before_the_fixtures_of_the_test(greeting):
    assert greeting.startswith("conversation")

@pytest.mark.parametrize("language", ["en", pytest.param("zh/简体", id="zh/hans")])
async def test_async(language, proctor_session):
    assert ask(language).startswith("conversation")

PROGRAM = "import sys; sys.path.insert(0, 'tests'); from test_agent import ask; print(ask('hello'))"

def test_a_program_of_its_own(proctor_session):
    for done in (
        proctor_session.run([sys.executable, "-c", PROGRAM]),
        subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True),
    ):
        assert done.stdout.startswith("conversation"), done.stderr

@pytest.mark.proctor
class TestClass:
    def test_method(self):
        ask("hello")

@pytest.mark.proctor
class TestOfUnittest(unittest.TestCase):
    def test_method(self):
        self.assertTrue(ask("hello"))

@pytest.mark.proctor(cassette="chosen/name")
def test_a_tape_by_name():
    ask("hello")

@pytest.mark.proctor(faults="llm:2=429")
def test_a_fault():
    ask("hello")
    with pytest.raises(urllib.error.HTTPError, match="429"):
        ask("hello")

@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.proctor)])
def test_one_case_only(n):
    assert ("OPENAI_BASE_URL" in os.environ) == (n == 2)
    if n == 2:
        ask("hello")

def test_without_a_session_nothing_is_set():
    assert not [name for name in os.environ if name.lower().endswith("_proxy") or name.startswith("PROCTOR_SESSION")]
"""
NAMES = [
    "chosen/name",
    "tests/test_agent/TestClass.test_method",
    "tests/test_agent/TestOfUnittest.test_method",
    "tests/test_agent/test_a_fault",
    "tests/test_agent/test_a_program_of_its_own",
    "tests/test_agent/test_async-en",
    "tests/test_agent/test_async-zh-hans",
    "tests/test_agent/test_one_case_only-2",
    "tests/test_agent/test_plain",
    "tests/test_agent/test_the_marker_is_enough_and_comes_before_the_fixtures_of_the_test",
]


async def test_tests_of_every_kind_are_recorded_and_replayed_without_the_service(project: Project) -> None:
    model = Model()
    async with serving(model.answer) as url:
        agent_project(project, url, EVERY_KIND)
        recorded = await run_pytest(project, "--proctor-record")
        assert recorded.status == 0, recorded.stdout
        assert "proctor: recording: the real services are asked" in recorded.stdout
        assert tapes(project) == NAMES
        asked = model.asked
        replayed = await run_pytest(project)
        assert replayed.status == 0, replayed.stdout
        assert "recording" not in replayed.stdout
        assert model.asked == asked
    assert "12 passed" in (await run_pytest(project)).stdout
    assert folder(project, "journals") == []


async def test_a_tape_that_is_not_there_is_told_with_the_command_that_records_it(project: Project) -> None:
    tests = "@pytest.mark.parametrize('n', [1])\ndef test_new(n, proctor_session):\n    ask('hello')\n"
    async with serving(Model().answer) as url:
        agent_project(project, url, tests)
        missing = await run_pytest(project)
        assert missing.status == 1
        assert "record it: pytest 'tests/test_agent.py::test_new[1]' --proctor-record" in missing.stdout
        assert "Traceback" not in missing.stdout
        recorded = await run_pytest(project, "tests/test_agent.py::test_new[1]", "--proctor-record")
        assert recorded.status == 0, recorded.stdout
    assert (await run_pytest(project)).status == 0


SHARED = """
@pytest.mark.parametrize("text", ["a b", "a/b", "c"])
def test_same(text, proctor_session):
    ask(text)
"""
BY_NAME = """
@pytest.mark.proctor(cassette="both")
@pytest.mark.parametrize("n", [1, 2])
def test_same(n):
    ask("hello")
"""


async def test_two_tests_that_would_have_one_tape_are_an_error_that_says_so(project: Project) -> None:
    async with serving(Model().answer) as url:
        agent_project(project, url, SHARED)
        for options in (("--proctor-record",), ("--proctor-record", "-k", "a/b"), ()):
            told = (await run_pytest(project, *options)).stdout
            assert (
                "proctor: tape_shared: tests/test_agent.py::test_same[a/b] and tests/test_agent.py::test_same[a b] "
                "would have one tape: cassettes/tests/test_agent/test_same-a-b.yaml" in told
            )
        assert tapes(project) == ["tests/test_agent/test_same-c"]


async def test_a_tape_named_by_two_tests_is_replayed_for_both_and_recorded_for_neither(project: Project) -> None:
    async with serving(Model().answer) as url:
        agent_project(project, url, BY_NAME.replace("[1, 2]", "[1]"))
        assert (await run_pytest(project, "--proctor-record")).status == 0
        agent_project(project, url, BY_NAME)
        refused = await run_pytest(project, "--proctor-record")
        assert "2 errors" in refused.stdout
        assert "tape_shared" in refused.stdout
    assert "2 passed" in (await run_pytest(project)).stdout


@pytest.mark.parametrize(
    ("marker", "told"),
    [
        ("'refund'", "takes names only"),
        ("casette='x'", 'has no "casette"'),
        ("strict='yes'", "strict is 'yes'"),
        ("modes={'lm': 'live'}", 'did you mean "llm"?'),
        ("modes={'llm': 'life'}", '"llm=life" is no SERVICE=MODE'),
        ("cassette='../x'", "cannot name a cassette"),
    ],
)
async def test_a_wrong_marker_is_told_and_runs_nothing(marker: str, told: str, project: Project) -> None:
    agent_project(project, "http://127.0.0.1:9", f"@pytest.mark.proctor({marker})\ndef test_it():\n    print('ran')\n")
    done = await run_pytest(project, "-s")
    assert done.status == 1
    assert told in done.stdout
    assert "ran" not in done.stdout


async def test_a_service_in_another_mode_is_asked_while_the_rest_replays(project: Project) -> None:
    model = Model()
    tests = "@pytest.mark.proctor(modes={'llm': 'live'})\ndef test_it(proctor_session):\n    ask('hello')\n"
    async with serving(model.answer) as url:
        agent_project(project, url, tests)
        done = await run_pytest(project)
    assert (done.status, model.asked) == (0, 1), done.stdout
    assert tapes(project) == []
