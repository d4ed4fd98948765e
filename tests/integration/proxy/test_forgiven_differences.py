"""A request that differs as declared is answered, and the trace says what was forgiven; any other difference misses."""

from __future__ import annotations

from itertools import count
from typing import Any

from aiohttp import web

from tests.support import Handler, Project, Running, services, serving, session

VOLATILE = r"""volatile = [{ at = "/messages/0/content", pattern = "Today is (\\S+)" }]
"""


def counting() -> Handler:
    """Answers each request with a number of its own, so that no two answers are alike."""
    numbers = count(1)

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response({"answer": next(numbers)})

    return answer


async def ask(run: Running, body: Any, service: str = "llm", path: str = "/chat") -> tuple[int, dict[str, Any]]:
    async with run.http.post(run.url(service, path), json=body) as answer:
        return answer.status, await answer.json()


def prompt(day: str, question: str = "Where is my order?") -> dict[str, Any]:
    return {"messages": [{"content": f"You are kind. Today is {day}"}, {"content": question}]}


async def record(project: Project, asked: list[tuple[str, str, Any]], extra: str) -> None:
    async with serving(counting()) as url:
        project.configure(services(tools=url) + services(llm=url) + extra)
        async with session(project, "t", allow_unused=True) as run:
            for service, path, body in asked:
                await ask(run, body, service, path)
            assert (await run.close()).sealed


async def test_a_date_in_a_prompt_replays_on_another_day_once_declared(project: Project) -> None:
    await record(project, [("llm", "/chat", prompt("2026-11-30"))], VOLATILE)
    async with session(project, "t", "replay") as run:
        assert await ask(run, prompt("2026-12-02")) == (200, {"answer": 1})
        assert (await ask(run, prompt("2026-12-02", "Where is your order?")))[0] == 422
        summary = await run.close()
    answered, missed = project.trace(summary.session)
    told = 'body /messages/0/content volatile: recorded "2026-11-30", got "2026-12-02"'
    assert (answered.match, answered.forgiven) == ("forgiven", (told,))
    assert missed.error is not None
    assert [(each.service, each.difference, each.count) for each in summary.forgiven] == [("llm", told, 1)]


async def test_an_undeclared_date_misses_and_the_miss_proposes_the_rule(project: Project) -> None:
    await record(project, [("llm", "/chat", prompt("2026-11-30"))], "")
    async with session(project, "t", "replay") as run:
        status, body = await ask(run, prompt("2026-12-02"))
    assert status == 422
    assert body["proctor"]["cause"] == "volatile"
    assert 'volatile = [{ at = "/messages/0/content", pattern = ' in body["proctor"]["fix"]
    rule = body["proctor"]["fix"].partition(": ")[2]
    (project.root / "proctor.toml").write_text(
        (project.root / "proctor.toml").read_text(encoding="utf-8") + rule + "\n", encoding="utf-8"
    )
    async with session(project, "t", "replay") as run:
        assert await ask(run, prompt("2026-12-02")) == (200, {"answer": 1})


async def test_a_body_nested_past_any_use_is_compared_as_bytes_and_the_tape_still_opens(project: Project) -> None:
    deep: list[Any] = []
    for _ in range(400):
        deep = [deep]
    asked = {**prompt("2026-11-30"), "deep": deep}
    await record(project, [("llm", "/chat", asked), ("llm", "/chat", prompt("2026-11-30"))], VOLATILE)
    async with session(project, "t", "replay") as run:
        assert await ask(run, asked) == (200, {"answer": 1})
        assert await ask(run, prompt("2026-12-02")) == (200, {"answer": 2})
        assert (await ask(run, {**prompt("2026-12-02"), "deep": deep}))[0] == 422


async def test_a_live_value_is_threaded_into_later_requests_of_other_services(project: Project) -> None:
    asked = [
        ("llm", "/chat", prompt("2026-11-30")),
        ("tools", "/slots/2026-11-30?day=2026-11-30", {"day": "2026-11-30"}),
    ]
    await record(project, asked, VOLATILE)
    async with session(project, "t", "replay") as run:
        await ask(run, prompt("2026-12-02"))
        tool = await ask(run, {"day": "2026-12-02"}, "tools", "/slots/2026-12-02?day=2026-12-02")
        other = await ask(run, {"day": "2026-12-03"}, "tools", "/slots/2026-12-02?day=2026-12-02")
        summary = await run.close()
    assert (tool, other[0]) == ((200, {"answer": 2}), 422)
    _, answered, _ = project.trace(summary.session)
    assert len(answered.forgiven) == 3
    assert 'body /day threaded: "2026-12-02" stands for the recorded "2026-11-30"' in answered.forgiven


async def test_a_value_that_was_never_bound_is_threaded_nowhere(project: Project) -> None:
    await record(project, [("llm", "/chat", prompt("2026-11-30")), ("tools", "/", {"day": "2026-11-30"})], VOLATILE)
    async with session(project, "t", "replay") as run:
        assert (await ask(run, {"day": "2026-12-02"}, "tools", "/"))[0] == 422


async def test_a_recorded_value_stands_for_one_live_value_only(project: Project) -> None:
    asked = [("llm", "/chat", prompt("2026-11-30", each)) for each in ("one", "two")]
    await record(project, asked, VOLATILE)
    async with session(project, "t", "replay") as run:
        assert (await ask(run, prompt("2026-12-02", "one")))[0] == 200
        status, body = await ask(run, prompt("2026-12-03", "two"))
    assert (status, body["error"]) == (422, "volatile_changed")
    assert '"2026-12-02" stands for the recorded "2026-11-30"' in body["proctor"]["message"]


async def test_a_live_value_that_stands_for_two_recorded_ones_is_threaded_nowhere(project: Project) -> None:
    asked = [("llm", "/chat", prompt(day)) for day in ("2026-11-29", "2026-11-30")]
    await record(project, [*asked, ("tools", "/", {"day": "2026-11-30"})], VOLATILE)
    async with session(project, "t", "replay") as run:
        for _ in asked:
            assert (await ask(run, prompt("2026-12-02")))[0] == 200
        assert (await ask(run, {"day": "2026-12-02"}, "tools", "/"))[0] == 422


async def test_an_ignored_field_is_forgiven_and_the_right_state_goes_before_equal_bytes(project: Project) -> None:
    asked = [
        ("llm", "/query_stock", {"item": 1, "id": "a"}),
        ("llm", "/take", {"item": 1}),
        ("llm", "/query_stock", {"item": 1, "id": "b"}),
    ]
    rules = 'tools = "POST /{tool}"\nreads = ["query_*"]\nwrites = ["take"]\nignore = ["/id"]\n'
    await record(project, asked, rules)
    async with session(project, "t", "replay") as run:
        await ask(run, {"item": 1}, "llm", "/take")
        assert await ask(run, {"item": 1, "id": "a"}, "llm", "/query_stock") == (200, {"answer": 3})
        summary = await run.close()
    assert not summary.other_states
    assert project.trace(summary.session)[1].forgiven == ('body /id ignored: recorded "b", got "a"',)


async def test_a_secret_and_a_declared_field_may_differ_at_once(project: Project) -> None:
    await record(project, [("tools", "/login", {"password": "hunter2-of-old", "trace": 1})], "")
    text = (project.root / "proctor.toml").read_text(encoding="utf-8")
    project.configure(text.replace("[services.tools]", '[services.tools]\nignore = ["/trace"]'))
    async with session(project, "t", "replay") as run:
        assert await ask(run, {"password": "hunter3-of-new", "trace": 2}, "tools", "/login") == (200, {"answer": 1})
        assert (await ask(run, {"password": "hunter4-of-new", "trace": 2}, "tools", "/login"))[0] == 422
