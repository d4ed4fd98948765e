"""Replay needs no key, and no clear credential outlives a recording."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import quote

import pytest
from aiohttp import web

from tests.integration.cli.support import all_files, error_of, kept, record, replay
from tests.support import Finished, Project, serving

TOML = """
[services.llm]
preset = "openai"
url = "{url}"

[services.desk]
url = "{url}"
env = ["DESK_URL"]
identities = {{ alice = "env:ALICE_TOKEN", bob = "env:BOB_TOKEN" }}
"""
KEYS = {"OPENAI_API_KEY": "sk-live-0123456789", "ALICE_TOKEN": "alice-secret-token", "BOB_TOKEN": "bob-secret-token"}
NO_KEYS = dict.fromkeys(KEYS, "")
SECRETS = [*KEYS.values(), "an-api-key/with+slash", "session-cookie-value", "fresh-cookie-value", "from-the-wire-only"]

ASK = """
def ask(url, name, body=None):
    token = os.environ[name]
    assert token, name
    return call(url, body, headers=[("Authorization", "Bearer " + token)])

talk = [ask(os.environ["OPENAI_BASE_URL"] + "/chat/completions", "OPENAI_API_KEY", {"model": "m"})]
talk += [ask(DESK + "/whoami", "ALICE_TOKEN"), ask(DESK + "/whoami", "BOB_TOKEN")]
print(json.dumps([status for status, _ in talk]), talk[1][1] != talk[2][1])
"""
SHOWN = '\nprint(json.dumps([os.environ[n] for n in ("OPENAI_API_KEY", "ALICE_TOKEN", "BOB_TOKEN")]))'
WALK = """
import glob, stat
name, = glob.glob(".proctor/journals/*.jsonl")
print(oct(stat.S_IMODE(os.stat(name).st_mode)), os.environ["ALICE_TOKEN"] in open(name).read())
"""
LEAKY = (
    ASK
    + """
headers = [("X-Api-Key", "an-api-key/with+slash"), ("Cookie", "sid=session-cookie-value; theme=dark")]
headers += [("Authorization", "Basic from-the-wire-only")]
call(DESK + "/echo?key=" + urllib.request.quote("an-api-key/with+slash", safe=""), {"sid": "session-cookie-value"},
     headers=headers)
call(DESK + "/tools/sk-live-0123456789", {"said": json.dumps({"key": "an-api-key/with+slash"})})
"""
    + WALK
)


async def staging(request: web.Request) -> web.StreamResponse:
    """Answers by who asks, and says every header back."""
    said = {"you": request.headers.get("Authorization"), "key": request.headers.get("X-Api-Key")}
    body = {**said, "url": str(request.rel_url), "sent": (await request.read()).decode()}
    return web.json_response(body, headers={"Set-Cookie": "sid=fresh-cookie-value; Path=/"})


def leaks(project: Project, *told: str) -> list[str]:
    """Where a clear secret stands: in any file of the project, or in what was told."""
    texts = {str(path.relative_to(project.root)): path.read_bytes() for path in all_files(project.root)}
    texts |= {f"told {number}": text.encode() for number, text in enumerate(told)}
    forms = {secret: {secret, quote(secret, safe=""), json.dumps(secret)[1:-1]} for secret in SECRETS}
    return [
        f"{secret} in {name}"
        for name, text in texts.items()
        for secret, spelled in forms.items()
        if any(form.encode() in text for form in spelled) or base64.b64encode(secret.encode()) in text
    ]


def assert_three_placeholders(line: str) -> None:
    """The agent's three keys are placeholders, each another."""
    keys = json.loads(line)
    assert all(re.fullmatch(r"(sk-)?proctor-redacted-\d{4}", key) for key in keys), keys
    assert len(set(keys)) == 3


async def recorded(project: Project, source: str) -> Finished:
    async with serving(staging) as url:
        project.configure(TOML.format(url=url))
        return await record(project, source, env=KEYS)


async def test_replay_needs_no_key_and_hands_out_the_tapes_placeholders(project: Project) -> None:
    made = await recorded(project, ASK)
    assert (made.status, made.stdout.splitlines()[0]) == (0, "[200, 200, 200] True")
    ended = await replay(project, ASK + SHOWN, env=NO_KEYS)
    assert (ended.status, ended.stdout.splitlines()[0]) == (0, "[200, 200, 200] True")
    assert_three_placeholders(ended.stdout.splitlines()[1])
    assert (ended.summary["hits"], ended.summary["misses"], ended.summary["llm"]) == (3, [], "replayed")


async def test_real_keys_in_the_environment_of_a_replay_never_reach_the_agent(project: Project) -> None:
    await recorded(project, ASK)
    ended = await replay(project, ASK + SHOWN, env=KEYS)
    assert (ended.status, ended.stdout.splitlines()[0]) == (0, "[200, 200, 200] True")
    assert_three_placeholders(ended.stdout.splitlines()[1])
    assert leaks(project, ended.stderr) == []


@pytest.mark.req(70)
async def test_the_identities_of_a_tape_are_never_mixed_up(project: Project) -> None:
    await recorded(project, ASK.replace('talk += [ask(DESK + "/whoami", "ALICE_TOKEN"), ', "talk += talk + ["))
    ended = await replay(project, 'call(DESK + "/whoami")\n' + ASK, "--allow-unused", env={**NO_KEYS, **KEYS})
    codes = [(miss["target"], miss["code"]) for miss in ended.summary["misses"]]
    assert ended.status == 3
    assert codes == [("/whoami", "not_recorded"), ("/whoami", "identity_unknown")]
    assert 'the credential is identity "alice", which the tape does not have for "desk"' in ended.stderr


@pytest.mark.parametrize("end", ["", "\nsys.exit(5)"], ids=["sealed", "put aside"])
@pytest.mark.req(74)
async def test_no_clear_secret_is_left_in_any_file_or_told_once_the_recording_has_ended(
    project: Project, end: str
) -> None:
    ended = await recorded(project, LEAKY + end)
    assert ended.stdout.splitlines()[1] == "0o600 True", "the journal is the user's alone, and holds the clear values"
    assert ended.summary["recorded"] == 5
    assert kept(project) == [".proctor/aside/t.yaml" if end else "cassettes/t.yaml"]
    assert ended.summary["redacted"] == 5
    assert leaks(project, ended.stderr, ended.stdout) == []


async def test_a_clear_secret_of_a_replay_is_left_in_no_trace_and_not_told(project: Project) -> None:
    await recorded(project, ASK)
    source = ASK + '\nask(DESK + "/new/" + os.environ["LIVE"], "LIVE", {"said": os.environ["LIVE"]})'
    ended = await replay(project, source, env={**NO_KEYS, "LIVE": "from-the-wire-only"})
    assert (ended.status, len(ended.summary["misses"])) == (3, 1)
    assert leaks(project, ended.stderr, ended.stdout) == []


async def test_a_clear_secret_of_a_live_service_is_left_in_no_trace(project: Project) -> None:
    await recorded(project, ASK)
    async with serving(staging) as url:
        project.configure(TOML.format(url=url))
        modes = ("--mode", "desk=live", "--mode", "llm=live")
        ended = await replay(project, LEAKY.replace(WALK, ""), *modes, env=KEYS)
    assert (ended.status, ended.summary["live"]) == (0, 5)
    assert leaks(project, ended.stderr, ended.stdout) == []


async def test_a_key_that_stands_in_the_configuration_itself_is_refused(project: Project) -> None:
    toml = TOML.format(url="http://127.0.0.1:9").replace("env:ALICE_TOKEN", "alice-secret-token")
    project.configure(toml)
    error = error_of(await record(project, ASK, env=KEYS))
    assert error["code"] == "config_bad_value"
    assert 'identity "alice" must name a variable' in error["message"]
    assert "alice-secret-token" not in error["message"]


IN_BODY = """
secret = os.environ["DESK_CLIENT_SECRET"]
print(call(DESK + "/login", {"user": "alice", "note": "it is " + secret})[0], secret[:7])
"""


async def test_a_secret_variable_is_replaced_in_a_sentence_and_handed_out_in_replay(project: Project) -> None:
    secret = "a-Very-l0ng-client-secret"
    async with serving(staging) as url:
        project.configure(f'[services.desk]\nurl = "{url}"\nenv = ["DESK_URL"]\n')
        made = await record(project, IN_BODY, env={"DESK_CLIENT_SECRET": secret})
    assert (made.status, made.stdout.splitlines()[0]) == (0, "200 a-Very-")
    (stamped,) = project.tape("t").stamp["variables"].items()
    assert stamped == ("DESK_CLIENT_SECRET", "proctor-redacted-0001")
    told = made.summary["replaced"][0]
    assert (told["placeholder"], told["kind"]) == ("proctor-redacted-0001", "variable DESK_CLIENT_SECRET")
    assert "#0 request.body/note" in told["places"]
    for env in ({}, {"DESK_CLIENT_SECRET": "another-l0ng-one-of-today"}):
        ended = await replay(project, IN_BODY, env=env)
        assert (ended.status, ended.stdout.splitlines()[0]) == (0, "200 proctor")
    assert not [path for path in all_files(project.root) if secret.encode() in path.read_bytes()]
