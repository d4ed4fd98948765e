"""The key of a trial's result: whatever could change the result changes the key, and a credential does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.cases.case import Case
from proctor.cases.parts import Limits
from proctor.config import Config, load_config
from proctor.errors import CassetteError, ConfigError, UsageError
from proctor.harness import cache_key
from proctor.harness.cache_key import TrialInputs, project_inputs, reusable, tape_digest, trial_key
from proctor.wire import Mode, SessionSpec
from tests.support import Project
from tests.unit.harness.planning import case

TOML = """
[services.shop]
world = "shop.world:Shop"
reads = ["look_*"]
[services.openai]
preset = "openai"
url = "env:LLM_URL"
credential = "env:LLM_KEY"
[agent]
command = "python agent/main.py"
version = "env:SHA"
sources = ["agent/**"]
model = "gpt-4o-mini"
prompt_version = "7"
temperature = 0.0
"""
MODES: dict[str, Mode] = {"shop": "world", "openai": "live"}
ENVIRON = {"SHA": "3f9c", "LLM_URL": "http://127.0.0.1:9/v1", "LLM_KEY": "secret-one", "ANN": "secret-two"}
CASE = case(
    state={"shop": {"orders": {"A1": 1, "A2": 2}}}, expect={"state": [{"path": "$.a", "value": {"regex": "a+"}}]}
)
TRIAL = TrialInputs(CASE, 0, Limits(), SessionSpec(cassette="c", modes=MODES, seed=7), account="ann", audience="buyer")


@pytest.fixture
def shop(project: Project) -> Project:
    """A project with a world and an agent."""
    for name in ("shop/world.py", "agent/main.py", "prompt.md"):
        (project.root / name).parent.mkdir(exist_ok=True)
        (project.root / name).write_text(name, encoding="utf-8")
    project.configure(TOML)
    return project


def config_of(project: Project) -> Config:
    return load_config(project.root / "proctor.toml")


def key(
    project: Project,
    trial: TrialInputs = TRIAL,
    modes: Mapping[str, Mode] = MODES,
    environ: Mapping[str, str] = ENVIRON,
) -> str:
    return trial_key(project_inputs(config_of(project), modes, environ), trial)


@pytest.mark.req(209)
def test_the_same_inputs_have_the_same_key_also_in_another_folder(shop: Project, tmp_path_factory: Any) -> None:
    other = Project(tmp_path_factory.mktemp("other") / "project")
    other.root.mkdir()
    for path in shop.root.rglob("*"):
        if path.is_file():
            copy = other.root / path.relative_to(shop.root)
            copy.parent.mkdir(exist_ok=True)
            copy.write_bytes(path.read_bytes())
    assert key(shop) == key(other) == key(shop)
    assert len(key(shop)) == 64


def respec(**said: Any) -> Callable[[TrialInputs], TrialInputs]:
    return lambda trial: replace(trial, spec=trial.spec.model_copy(update=said))


def recase(**said: Any) -> Callable[[TrialInputs], TrialInputs]:
    def changed(trial: TrialInputs) -> TrialInputs:
        return replace(trial, case=Case.model_validate({**trial.case.model_dump(), **said}))

    return changed


@pytest.mark.req(209)
@pytest.mark.parametrize(
    "change",
    [
        recase(turns=[{"user": "hello!"}]),
        recase(expect={"state": [{"path": "$.a", "value": {"regex": "b+"}}]}),
        recase(expect={"state": [{"path": "$.a", "value": {"regex": "a+", "anywhere": True}}]}),
        recase(state={"shop": {"orders": {"A1": 1.0, "A2": 2}}}),
        recase(state={"shop": {"orders": {"A2": 2, "A1": 1}}}),
        recase(priority="P0"),
        recase(on_loop="hint"),
        lambda trial: replace(trial, trial=1),
        lambda trial: replace(trial, limits=Limits(response=31)),
        lambda trial: replace(trial, account="bob"),
        lambda trial: replace(trial, audience="seller"),
        lambda trial: replace(trial, tape="ab" * 32),
        respec(seed=8),
        respec(strict=True),
        respec(modes={**MODES, "openai": "replay"}),
        respec(worlds={"shop": {"orders": {}}}),
    ],
)
def test_whatever_is_another_in_the_trial_is_another_key(
    shop: Project, change: Callable[[TrialInputs], TrialInputs]
) -> None:
    assert key(shop, change(TRIAL)) != key(shop)


@pytest.mark.parametrize("said", [{"session": "s1"}, {"cassette": "d"}, {"notes": ("seen",)}, {"recorded_by": "x"}])
def test_names_and_words_for_people_are_not_in_the_key(shop: Project, said: dict[str, Any]) -> None:
    assert key(shop, respec(**said)(TRIAL)) == key(shop)


@pytest.mark.req(209)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('reads = ["look_*"]', 'reads = ["look_*", "ask_*"]'),
        ('"python agent/main.py"', '"python -O agent/main.py"'),
        ('model = "gpt-4o-mini"', 'model = "gpt-4o"'),
        ('prompt_version = "7"', 'prompt_version = "8"'),
        ("temperature = 0.0", "temperature = 0.1"),
        ("temperature = 0.0", "temperature = 0.0\nseed = 1"),
        ("temperature = 0.0", "temperature = 0.0\ntop_p = 0.9"),
        ('sources = ["agent/**"]\n', ""),
        ('command = "python agent/main.py"', 'url = "http://127.0.0.1:9"'),
    ],
)
def test_whatever_is_another_in_proctor_toml_is_another_key(shop: Project, old: str, new: str) -> None:
    before = key(shop)
    assert old in TOML
    shop.configure(TOML.replace(old, new))
    assert key(shop) != before


@pytest.mark.req(209)
@pytest.mark.parametrize("name", ["shop/world.py", "agent/main.py"])
def test_other_code_of_the_world_or_the_agent_is_another_key(shop: Project, name: str) -> None:
    before = key(shop)
    (shop.root / name).write_text("changed", encoding="utf-8")
    assert key(shop) != before


def test_another_prompt_in_a_chat_s_file_is_another_key(shop: Project) -> None:
    shop.configure(TOML.replace('command = "python agent/main.py"', 'chat = { prompt_file = "prompt.md" }'))
    before = key(shop)
    (shop.root / "prompt.md").write_text("be brief", encoding="utf-8")
    assert key(shop) != before
    (shop.root / "prompt.md").unlink()
    with pytest.raises(ConfigError) as caught:
        key(shop)
    assert "[agent.chat] prompt_file" in caught.value.message


def test_another_version_of_the_agent_or_address_of_the_model_is_another_key(shop: Project) -> None:
    found = {
        key(shop, environ={**ENVIRON, **each}) for each in ({}, {"SHA": "77aa"}, {"LLM_URL": "http://127.0.0.1:8"})
    }
    assert len(found) == 3


def test_another_proctor_or_another_installed_package_is_another_key(
    shop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = key(shop)
    monkeypatch.setattr(cache_key, "__version__", "0.1.1")
    newer = key(shop)
    monkeypatch.setattr(cache_key, "installed", lambda: "ab" * 32)
    assert len({before, newer, key(shop)}) == 3


@pytest.mark.req(209)
def test_another_credential_is_the_same_key(shop: Project) -> None:
    others = {**ENVIRON, "LLM_KEY": "another", "ANN": "another"}
    assert key(shop, environ=others) == key(shop)


def test_no_credential_is_in_what_the_key_is_made_of(shop: Project) -> None:
    data = project_inputs(config_of(shop), MODES, ENVIRON).data
    assert "secret" not in str(data)


@pytest.mark.req(209)
def test_without_a_version_nothing_can_be_used_again(shop: Project) -> None:
    shop.configure(TOML.replace('version = "env:SHA"\nsources = ["agent/**"]\n', ""))
    with pytest.raises(UsageError) as caught:
        key(shop)
    assert caught.value.code == "cache_without_version"
    assert "sources = " in caught.value.fix


def test_the_modules_of_a_world_that_does_not_answer_do_not_count(shop: Project) -> None:
    modes: dict[str, Mode] = {"openai": "live"}
    before = key(shop, modes=modes)
    (shop.root / "shop" / "world.py").write_text("changed", encoding="utf-8")
    assert key(shop, modes=modes) == before


@pytest.mark.req(209)
@pytest.mark.parametrize(
    ("tool", "model", "may"),
    [
        ("world", "live", True),
        ("replay", "replay", True),
        ("world", "record", False),
        ("live", "live", False),
        ("record", "live", False),
        ("new_episodes", "replay", False),
    ],
)
def test_only_what_asks_no_real_service_but_a_model_can_be_used_again(tool: Mode, model: Mode, may: bool) -> None:
    assert reusable({"shop": tool, "openai": model}, frozenset({"openai"})) is may


def test_a_tape_is_known_by_its_bytes(shop: Project) -> None:
    shop.layout.cassettes.mkdir()
    (shop.layout.cassettes / "c.yaml").write_bytes(b"one")
    first = tape_digest(shop.layout, "c")
    (shop.layout.cassettes / "c.yaml").write_bytes(b"two")
    assert tape_digest(shop.layout, "c") != first
    with pytest.raises(CassetteError) as caught:
        tape_digest(shop.layout, "d")
    assert caught.value.code == "cassette_missing"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.req(209)
@given(JSON, JSON)
def test_two_states_have_one_key_only_where_they_are_written_alike(one: Any, other: Any) -> None:
    project = cache_key.ProjectInputs({}, frozenset())
    first, second = (
        trial_key(project, replace(TRIAL, case=CASE.model_copy(update={"state": {"shop": each}})))
        for each in (one, other)
    )
    assert (first == second) is (repr(one) == repr(other))
