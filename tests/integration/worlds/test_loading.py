"""A world that cannot be had is an error of the configuration, told before anything runs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from proctor.errors import UsageError
from proctor.world.loading import load_world
from proctor.world.session import WorldSession
from tests.integration.worlds.support import with_shop
from tests.support import Project, session


@pytest.mark.parametrize(
    ("reference", "code", "told"),
    [
        ("shop:Shp", "world_unknown", 'did you mean "Shop"?'),
        ("shop:Order", "world_class", "Order is no world"),
        ("shpo:Shop", "world_missing", 'did you mean "shop"?'),
        ("package.module:Shop", "world_missing", "package/module.py"),
        ("broken:Shop", "world_unimportable", "ZeroDivisionError: division by zero"),
        ("untyped:Shop", "world_tool_types", "Shop.look does not say what it gives"),
        ("outside:Shop", "world_outside", "leads out of the project"),
        ("json:JSONDecoder", "world_missing", "there is no json.py"),
    ],
)
async def test_it_is_named_with_what_is_wrong(
    project: Project, tmp_path_factory: pytest.TempPathFactory, reference: str, code: str, told: str
) -> None:
    with_shop(project)
    project.script("broken.py", "1 / 0\n")
    project.script(
        "untyped.py",
        "from pydantic import BaseModel\nfrom proctor.world import World, tool\n"
        "class State(BaseModel): pass\n"
        "class Shop(World[State]):\n    @tool\n    def look(self):\n        'Look.'\n",
    )
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "outside.py"
    elsewhere.write_text("raise SystemExit('it was run')\n")
    Path(project.root / "outside.py").symlink_to(elsewhere)
    project.configure(f'[services.shop]\nworld = "{reference}"\n')
    with pytest.raises(UsageError) as refused:
        async with session(project, "case", "world"):
            raise AssertionError("it was opened")
    assert refused.value.code == code
    assert told in f"{refused.value.message} {refused.value.fix}"


@pytest.mark.parametrize(
    ("toml", "mode", "more", "code"),
    [
        ('[services.shop]\nurl = "http://127.0.0.1:9"\n', "world", {}, "world_missing"),
        ('[services.shop]\nworld = "shop:Shop"\n', "record", {}, "service_url_missing"),
        ('[services.shop]\nworld = "shop:Shop"\n', "world", {"worlds": {"shpo": {}}}, "world_not_opened"),
        ('[services.shop]\nworld = "shop:Shop"\n', "world", {"worlds": {"shop": {"stock": -1}}}, "world_start"),
        ('[services.shop]\nworld = "shop:Shop"\n', "world", {"seed": -1}, "bad_request"),
    ],
)
async def test_a_session_that_cannot_have_its_world_is_refused(
    project: Project, toml: str, mode: str, more: dict[str, object], code: str
) -> None:
    with_shop(project)
    project.configure(toml)
    with pytest.raises((UsageError, ValueError)) as refused:
        async with session(project, "case", mode, **more):  # type: ignore[arg-type]
            raise AssertionError("it was opened")
    assert getattr(refused.value, "code", "bad_request") == code


async def test_two_projects_in_one_process_have_each_its_own_module(project: Project) -> None:
    for name, number in (("one", 1), ("two", 2)):
        (project.root / name).mkdir()
        each = Project(project.root / name)
        each.script(
            "made.py",
            "from pydantic import BaseModel\nfrom proctor.world import World, tool\n"
            f"class State(BaseModel):\n    number: int = {number}\n"
            "class Made(World[State]):\n    @tool\n    def look(self) -> int:\n"
            "        'Look.'\n        return self.state.number\n",
        )
        each.configure('[services.made]\nworld = "made:Made"\n')
        async with session(each, "case", "world") as run, run.http.post(run.url("made", "/tools/look")) as answer:
            assert await answer.json() == number


SHELF = """\
from pydantic import BaseModel
from shelves.parts import OWN
from proctor.world import World, tool

class State(BaseModel):
    own: str = OWN

class Shelf(World[State]):
    @tool
    def look(self) -> str:
        "Look."
        return self.state.own
"""


def test_worlds_that_are_loaded_at_the_same_time_get_each_its_own_modules(tmp_path: Path) -> None:
    roots = [tmp_path / str(number) for number in range(8)]
    for root in roots:
        (root / "shelves").mkdir(parents=True)
        (root / "shelves" / "world.py").write_text(SHELF, encoding="utf-8")
        (root / "shelves" / "parts.py").write_text(f"OWN = {root.name!r}\n", encoding="utf-8")
    for again in range(5):
        with ThreadPoolExecutor(len(roots)) as threads:
            load_world.cache_clear()
            kinds = list(threads.map(lambda root: load_world("shelves.world:Shelf", root), roots))
        owns = [WorldSession(kind, 1).call("look", b"{}").body for kind in kinds]
        assert owns == [f'"{root.name}"'.encode() for root in roots], again
