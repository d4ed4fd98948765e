"""`proctor serve`: a standing proxy, driven by plain HTTP and by the typed client."""

from __future__ import annotations

import asyncio
import shutil
import signal
import stat
from typing import Any

import pytest

from proctor import __version__
from proctor.client import ControlClient
from proctor.wire import SessionSpec
from tests.integration.cli.support import Desk, error_of, kept, record, started
from tests.integration.serve.support import TOKEN, Samples, Serve, samples, serve
from tests.support import Project, run, services, serving

LOOPBACK_ONLY = "http://127.0.0.1:"


async def call(on: Serve, url: str) -> tuple[int, Any]:
    """What an agent of any language does."""
    async with on.http.get(url) as answer:
        return answer.status, await answer.json()


async def recorded(project: Project, url: str, *paths: str, tape: str = "t") -> None:
    """A tape of some paths."""
    project.configure(services(desk=url))
    made = await record(project, "; ".join(f'call(DESK + "{path}")' for path in paths), tape=tape)
    assert made.status == 0, made.stderr


async def test_a_session_is_recorded_and_replayed_by_plain_http(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with serve(project) as on:
            assert on.ready["url"].startswith(LOOPBACK_ONLY)
            assert (on.ready["control"], on.ready["pid"]) == (on.ready["url"] + "/_proctor", on.process.pid)
            async with on.http.get(on.ready["control"] + "/health") as healthy:
                assert await healthy.json() == {"status": "ok", "proctor": __version__}
            status, info = await on.ask("POST", "/sessions", {"cassette": "t", "modes": {"desk": "record"}})
            assert (status, info["url"].startswith(on.ready["url"] + "/s/")) == (201, True)
            assert await call(on, f"{info['url']}/desk/a") == (200, {"path": "/a", "said": ""})
            status, closed = await on.ask("POST", f"/sessions/{info['session']}/close", {"command_status": 0})
            assert (status, closed["status"], closed["reasons"]) == (200, 0, [])
            assert closed["summary"]["sealed"] == str(project.layout.cassette("t"))
            ended = await on.stop()
    assert (ended.status, ended.stdout) == (0, "")
    assert "proctor: stopped; sessions: 1 opened, 1 closed (1 sealed), 0 left open" in ended.stderr
    assert [each.request.target for each in project.tape("t").interactions] == ["/a"]
    async with serve(project) as on:
        _, info = await on.ask("POST", "/sessions", {"cassette": "t", "modes": {"desk": "replay"}, "session": "mine"})
        assert await call(on, f"{info['url']}/desk/a") == (200, {"path": "/a", "said": ""})
        assert (await call(on, f"{info['url']}/desk/b"))[0] == 422
        _, closed = await on.ask("POST", "/sessions/mine/close", {"command_status": 0})
        assert (closed["status"], closed["reasons"][0].partition(":")[0]) == (3, "miss")
        assert (await on.stop(signal.SIGINT)).status == 3


async def test_metrics_add_up_to_what_was_done_before_and_after_closing(project: Project) -> None:
    async with serving(Desk().answer) as url:
        await recorded(project, url, "/a", "/b")
        async with serve(project) as on, ControlClient(on.ready["control"], TOKEN) as control:
            assert (await control.health()).proctor == __version__
            replaying = await control.open(SessionSpec(cassette="t", modes={"desk": "replay"}))
            recording = await control.open(SessionSpec(cassette="u", modes={"desk": "record"}))
            for path in ("/a", "/b", "/a", "/never"):
                await call(on, f"{replaying.url}/desk{path}")
            await call(on, f"{recording.url}/desk/c")
            async with on.http.get(on.ready["url"] + "/nowhere") as lost:
                assert lost.status == 404
            assert {info.session for info in await control.sessions()} == {replaying.session, recording.session}
            during = samples(await control.metrics())
            assert 0 < during.pop(("exchange_seconds_sum", "desk")) < 60
            assert during.pop(("tasks",)) >= 1
            done: Samples = {
                ("sessions_opened_total",): 2,
                ("exchanges_total", "desk", "replay"): 3,
                ("exchanges_total", "desk", "record"): 1,
                ("exchanges_total", "desk", "refused"): 1,
                ("misses_total", "desk"): 1,
                ("exchange_seconds_count", "desk"): 5,
                ("stray_requests_total",): 1,
            }
            assert during == {**done, ("sessions_open",): 2}
            await control.close(replaying.session, 0)
            await control.close(recording.session, 0)
            after = samples(await control.metrics())
            del after["exchange_seconds_sum", "desk"], after[("tasks",)]
            ended: Samples = {("sessions_closed_total", "aside"): 1, ("sessions_closed_total", "failed"): 1}
            assert after == {**done, **ended}
            assert await control.sessions() == ()


async def test_prometheus_scrapes_with_a_bearer_token(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    async with serve(project) as on:
        for header, status in ((f"Bearer {TOKEN}", 200), (f"bearer {TOKEN}", 200), ("Bearer x", 401), (TOKEN, 401)):
            async with on.http.get(on.ready["control"] + "/metrics", headers={"Authorization": header}) as scraped:
                assert scraped.status == status, header
                if status == 200:
                    assert scraped.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
                    assert samples(await scraped.text()).keys() == {("tasks",)}


async def test_two_sessions_at_once_are_kept_apart(project: Project) -> None:
    async with serving(Desk().answer) as url:
        await recorded(project, url, "/a")
        async with serve(project) as on:
            spec = {"cassette": "t", "modes": {"desk": "replay"}}
            _, one = await on.ask("POST", "/sessions", {**spec, "session": "one"})
            _, two = await on.ask("POST", "/sessions", {"cassette": "u", "modes": {"desk": "record"}, "session": "two"})
            for path in ("/a", "/x"):
                await asyncio.gather(*(call(on, f"{info['url']}/desk{path}") for info in (one, two)))
            _, traced = await on.ask("GET", "/sessions/two/trace")
            assert [(row["target"], row["source"]) for row in traced["rows"]] == [("/a", "record"), ("/x", "record")]
            _, closed = await on.ask("POST", "/sessions/one/close")
            assert [miss["target"] for miss in closed["summary"]["misses"]] == ["/x"]
            _, closed = await on.ask("POST", "/sessions/two/close")
            assert (closed["status"], closed["summary"]["recorded"], closed["summary"]["misses"]) == (0, 2, [])
    assert len(project.tape("u").interactions) == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_stop_tells_each_open_session_and_keeps_what_it_did(project: Project, number: signal.Signals) -> None:
    async with serving(Desk().answer) as url:
        await recorded(project, url, "/a")
        async with serve(project) as on:
            for mode, name in (("record", "rec"), ("replay", "rep")):
                tape = {"record": "u", "replay": "t"}[mode]
                spec = {"cassette": tape, "modes": {"desk": mode}, "session": name}
                _, info = await on.ask("POST", "/sessions", spec)
                assert (await call(on, f"{info['url']}/desk/a"))[0] == 200
            ended = await on.stop(number)
    assert ended.status == 1
    assert "2 opened, 0 closed, 2 left open" in ended.stderr
    assert "rec, recording u, was never closed: 1 exchanges" in ended.stderr
    assert "proctor cassette recover u.rec.jsonl" in ended.stderr
    assert "rep, replaying t, was never closed: 1 exchanges" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert kept(project) == [".proctor/journals/u.rec.jsonl", "cassettes/t.yaml"]
    shown = await project.proctor("session", "show", "rep")
    assert "status      1" in shown.stdout, "a session that nobody closed is never fine"
    assert "the proxy was stopped before the session was closed" in shown.stdout
    assert [row.target for row in project.trace("rep")] == ["/a"]
    assert (await project.proctor("cassette", "recover", "u.rec.jsonl")).status == 0
    assert [each.request.target for each in project.tape("u").interactions] == ["/a"]


async def test_an_open_session_with_a_miss_makes_the_status_3(project: Project) -> None:
    async with serving(Desk().answer) as url:
        await recorded(project, url, "/a")
    async with serve(project) as on:
        _, info = await on.ask("POST", "/sessions", {"cassette": "t", "modes": {"desk": "replay"}})
        assert (await call(on, f"{info['url']}/desk/b"))[0] == 422
        assert (await on.stop()).status == 3


@pytest.mark.parametrize(("command", "status"), [(0, 0), (7, 1), (3, 1)])
async def test_the_status_of_serve_says_whether_any_command_failed(project: Project, command: int, status: int) -> None:
    async with serving(Desk().answer) as url:
        await recorded(project, url, "/a")
    async with serve(project) as on:
        _, info = await on.ask("POST", "/sessions", {"cassette": "t", "modes": {"desk": "replay"}})
        await call(on, f"{info['url']}/desk/a")
        _, closed = await on.ask("POST", f"/sessions/{info['session']}/close", {"command_status": command})
        assert closed["status"] == command
        assert (await on.stop()).status == status


async def test_the_token_file_is_its_owners_alone_and_the_token_is_printed_nowhere(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    async with serve(project, "--token-file", "serve.token", env={}) as on:
        path = project.root / "serve.token"
        token = path.read_text().strip()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert len(token) >= 16
        assert (on.ready["token"], on.ready["token_file"]) == (None, str(path))
        assert (await on.ask("GET", "/sessions", **{"x-proctor-token": token}))[0] == 200
        ended = await on.stop()
    assert token not in ended.stdout + ended.stderr + str(on.ready)
    assert sorted(each.name for each in project.root.iterdir() if each.is_file()) == ["proctor.toml", "serve.token"]


async def test_without_a_file_the_token_is_in_the_json_line(project: Project) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    async with serve(project, env={}) as on:
        assert (await on.ask("GET", "/sessions", **{"x-proctor-token": on.ready["token"]}))[0] == 200


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl on this machine")
@pytest.mark.parametrize("how", ["printed", "file", "environment"])
async def test_the_lines_that_it_prints_open_and_close_a_session(project: Project, how: str) -> None:
    options = ("--token-file", "a file") if how == "file" else ()
    env = {"PROCTOR_TOKEN": TOKEN} if how == "environment" else {}
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with started(project, "serve", *options, env=env) as process:
            assert process.stdout is not None
            said: list[str] = []
            while not said or "stop " not in said[-1]:
                said.append((await process.stdout.readline()).decode())
            opening, closing = [line.strip() for line in said if line.startswith("    curl ")]
            (address,) = [line.split()[-1] for line in said if "desk is at" in line]
            for command, told in (
                (opening, '"cassette":"first"'),
                (f"curl {address}/a", '"/a"'),
                (closing, '"status":0'),
            ):
                done = await run("bash", "-c", command, cwd=project.root, env=env)
                assert (done.status, told in done.stdout) == (0, True), f"$ {command}\n{done}"
            process.send_signal(signal.SIGINT)
            _, stderr = await process.communicate()
    assert (process.returncode, "1 closed (1 sealed)" in stderr.decode()) == (0, True)
    assert [each.request.target for each in project.tape("first").interactions] == ["/a"]


@pytest.mark.parametrize(
    ("options", "env", "code", "told"),
    [
        ((), {"PROCTOR_TOKEN": "short"}, "token_short", "5 characters"),
        ((), {"PROCTOR_TOKEN": ""}, "token_short", "0 characters"),
        ((), {"PROCTOR_TOKEN": "fünfzehn Zeichen und mehr"}, "token_unfit", "header"),
        (("--token-file", "no/such/folder"), {}, "token_file_unwritable", "no/such/folder"),
        (("--host", "203.0.113.7"), {}, "cannot_listen", "http://203.0.113.7:"),
        (("--host", "no host"), {}, "cannot_listen", "no host"),
        (("--advertise", "host.test:80"), {}, "bad_advertise", "host.test:80"),
        (("--advertise", "http://host.test/path"), {}, "bad_advertise", "no path"),
    ],
)
async def test_what_cannot_be_served_is_refused_by_name(
    project: Project, options: tuple[str, ...], env: dict[str, str], code: str, told: str
) -> None:
    project.configure(services(desk="http://127.0.0.1:9"))
    ended = await project.proctor("serve", "--json", *options, env=env)
    error = error_of(ended)
    assert (ended.status, error["code"], told in error["message"]) == (2, code, True), error
    assert [path.name for path in project.root.iterdir()] == ["proctor.toml"]


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl on this machine")
async def test_an_agent_started_from_env_reaches_its_session(project: Project) -> None:
    async with serving(Desk().answer) as url:
        project.configure(services(desk=url))
        async with serve(project) as on:
            _, info = await on.ask("POST", "/sessions", {"cassette": "t", "modes": {"desk": "record"}})
            printed = await project.proctor("env", "--session-url", info["url"])
            script = f"{printed.stdout}\ncurl -sS $DESK_URL/a; curl -sS http://evil.test/"
            await run("bash", "-c", script, cwd=project.root)
            _, closed = await on.ask("POST", f"/sessions/{info['session']}/close")
            assert (closed["summary"]["recorded"], closed["summary"]["hosts"][0]["host"]) == (1, "evil.test:80")
