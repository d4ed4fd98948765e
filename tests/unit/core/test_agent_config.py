"""`[agent]` and `[agent.chat]` of `proctor.toml`: one form, whole, and every mistake named."""

from __future__ import annotations

import pytest

from proctor.config import CONFIG_NAME, AgentConfig, load_config
from proctor.errors import ConfigError
from tests.support import Project

SERVICE = '[services.x]\nurl = "http://x.test"\n'
PROMPT = 'chat = { prompt = "Help." }\n'


def read(project: Project, agent: str) -> AgentConfig:
    project.configure(f"{SERVICE}[agent]\n{agent}")
    return load_config(project.root / CONFIG_NAME).agent


def refused(project: Project, agent: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        read(project, agent)
    return caught.value


def test_a_command_is_words_whether_it_is_written_as_a_text_or_as_a_list(project: Project) -> None:
    words = ("python", "my agent.py", "$HOME", "${X}", "|", "cat")
    assert read(project, "command = \"python 'my agent.py' $HOME ${X} | cat\"").command == words
    assert read(project, 'command = ["python", "my agent.py", "$HOME", "${X}", "|", "cat"]').command == words


def test_a_chat_is_read_with_its_table(project: Project) -> None:
    agent = read(project, 'model = "openai/m"\nseed = 7\n[agent.chat]\nprompt_file = "p.txt"\nservice = "llm"')
    assert agent.chat is not None
    assert (agent.chat.prompt_file, agent.chat.service, agent.seed, agent.temperature) == ("p.txt", "llm", 7, 0)


@pytest.mark.parametrize(
    ("agent", "told"),
    [
        ('command = "a"\nurl = "http://a"', "an agent is asked in one way, and it has command and url"),
        (f'python = "a:b"\nmodel = "openai/m"\n{PROMPT}', "and it has python and chat"),
        (PROMPT, "`chat` asks a model: say which (`model`)"),
        ('model = "openai/m"\nchat = {}', "a chat has one prompt: `prompt` or `prompt_file`"),
        (
            'model = "openai/m"\nchat = { prompt = "a", prompt_file = "b" }',
            "a chat has one prompt: `prompt` or `prompt_file`",
        ),
        ('python = "a.b"', '"a.b" must read "package.module:function"'),
        ('command = "python \'agent.py"', "is no command line"),
        ("temperature = 2.5", "agent.temperature: "),
        ("top_p = 0", "agent.top_p: "),
        ("seed = -1", "agent.seed: "),
    ],
)
def test_a_bad_value_is_named_with_its_place_and_the_reason(project: Project, agent: str, told: str) -> None:
    error = refused(project, agent)
    assert (error.code, told in error.message) == ("config_bad_value", True), error.message


@pytest.mark.parametrize(
    ("agent", "key", "fix"),
    [
        ('comand = "a"', "agent.comand", 'did you mean "command"?'),
        ('chat = { promt = "a" }', "agent.chat.promt", 'did you mean "prompt"?'),
        ('chat = { prompt = "a", promptfile = "b" }', "agent.chat.promptfile", 'did you mean "prompt_file"?'),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_of_its_table(
    project: Project, agent: str, key: str, fix: str
) -> None:
    error = refused(project, f'model = "openai/m"\n{agent}')
    assert (error.code, error.fix) == ("config_unknown_key", fix)
    assert f'unknown key "{key}"' in error.message
