"""`proctor learn`: two recordings of one scenario say what a match has to forgive, and replay with that works."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from tests.support import Project, Running, services, serving, session

RUNS: dict[str, dict[str, Any]] = {
    "monday": {"day": "2026-11-30", "id": "req-8fk2", "number": "A-17"},
    "wednesday": {"day": "2026-12-02", "id": "req-x0d9", "number": "A-18"},
}


async def talk(run: Running, day: str, trace: str) -> list[int]:
    """A conversation on some day: the prompt names it, a tool is asked about it, an answer's number is used."""

    async def ask(service: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        async with run.http.post(run.url(service, path), json=body) as answer:
            return answer.status, await answer.json()

    prompt = [{"role": "system", "content": f"Be kind. Today is {day}. 回答简短。"}]
    first, _ = await ask("llm", "/chat", {"messages": prompt})
    second, slot = await ask("desk", "/slots", {"day": day, "trace": trace})
    third, _ = await ask("desk", "/book", {"slot": slot.get("slot"), "trace": trace})
    return [first, second, third]


async def record(project: Project) -> None:
    for name, facts in RUNS.items():

        async def desk(request: web.Request, number: str = facts["number"]) -> web.StreamResponse:
            return web.json_response({"said": "ok"} if request.path == "/chat" else {"slot": number})

        async with serving(desk) as url:
            project.configure(services(llm=url, desk=url))
            async with session(project, name) as run:
                assert await talk(run, facts["day"], facts["id"]) == [200, 200, 200]
                assert (await run.close()).sealed


async def test_it_proposes_exactly_the_rules_that_a_replay_on_another_day_needs(project: Project) -> None:
    await record(project)
    done = await project.proctor("learn", "monday", "wednesday")
    assert done.status == 0, done.stdout + done.stderr
    rules = [line.strip().rstrip(",") for line in done.stdout.splitlines() if line.startswith("  {") or '  "/' in line]
    assert rules == [
        r"""{ at = "/messages/0/content", pattern = 'Be kind\. Today is (\d{4}[-/.]\d{1,2}[-/.]\d{1,2})' }""",
        '"/trace"',
    ]
    text = (project.root / "proctor.toml").read_text(encoding="utf-8")
    declared = text.replace("[services.llm]", f"[services.llm]\nvolatile = [{rules[0]}]")
    project.configure(declared.replace("[services.desk]", f"[services.desk]\nignore = [{rules[1]}]"))
    async with session(project, "monday", "replay") as run:
        assert await talk(run, "2027-01-15", "req-other") == [200, 200, 200]
        summary = await run.close()
    assert not summary.misses
    again = await project.proctor("learn", "monday", "wednesday")
    assert again.stdout.startswith("3 calls in both recordings")
    assert "[services." not in again.stdout


async def test_what_needs_no_rule_is_told_apart_from_what_none_explains(project: Project) -> None:
    await record(project)
    told = (await project.proctor("learn", "monday", "wednesday", "--json")).summary
    assert [each["at"] for each in told["rules"]] == ["/messages/0/content", "/trace"]
    assert told["follows"] == ['#1/#1 POST /slots body /day: "2026-11-30", then "2026-12-02"']
    assert told["carried"] == ['#2/#2 POST /book body /slot: "A-17", then "A-18" (from the answer of #1)']
    assert (told["unexplained"], told["unpaired"]) == ([], [])


async def test_another_scenario_ends_with_status_1(project: Project) -> None:
    async def desk(request: web.Request) -> web.StreamResponse:
        return web.json_response({})

    async with serving(desk) as url:
        project.configure(services(desk=url))
        asked: dict[str, list[Any]] = {"one": [{"a": [1]}], "two": [{"a": {"b": 1}}, {"more": 1}]}
        for name, bodies in asked.items():
            async with session(project, name) as run:
                for body in bodies:
                    async with run.http.post(run.url("desk", "/"), json=body):
                        pass
                assert (await run.close()).sealed
    done = await project.proctor("learn", "one", "two", "--json")
    assert done.status == 1
    assert len(done.summary["unexplained"]) == 1
    assert done.summary["unpaired"] == ["two #1 desk POST /"]
