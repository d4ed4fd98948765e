"""`proctor init`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from proctor.config import CONFIG_NAME
from proctor.errors import ConfigError, UsageError
from proctor.paths import Layout
from proctor.presets import PRESETS
from proctor.service_config import checked_service_name, checked_url

_HEAD = """\
# Proctor: which real services stand behind the proxy. Every key is explained in docs/configuration.md.
"""

_SERVICE = """
[services.{name}]
url = {url}
env = [{env}]{note}
# tools = "POST /tools/{{tool}}"       # how a request names its tool
# reads = ["query_*"]                 # tools that only read; writes = [...] likewise
# key_headers = ["X-Tenant"]          # headers that choose the answer
# expected_status = [503]             # error statuses that a clean recording may end with
# identities = {{ alice = "env:ALICE_TOKEN" }}
"""

_PRESET = """
[services.{name}]
preset = "{name}"                     # url, variables and effects are known
"""

_IGNORED = "# Proctor's journals and traces: they may hold credentials\n.proctor/\n"
_ATTRIBUTES = """\
# Tapes are compared byte for byte: no line-end changes, no text merge. To read them in `git diff`, once a clone:
#   git config diff.proctor.textconv "proctor cassette text"
cassettes/**/*.yaml text eol=lf -merge diff=proctor
cassettes/**/*.bodies/* -text -merge
"""


@click.command()
@click.option("--service", "services", multiple=True, metavar="NAME=URL", help="A service; repeatable.")
@click.option("--preset", "presets", multiple=True, type=click.Choice(sorted(PRESETS)), help="An LLM API; repeatable.")
def init(services: tuple[str, ...], presets: tuple[str, ...]) -> None:
    """Write proctor.toml here, and keep .proctor/ out of git.

    \b
      proctor init --service orders=https://staging.example/api --preset openai
    """
    root = Path.cwd()
    path = root / CONFIG_NAME
    if path.exists():
        raise ConfigError("config_exists", f"{path} is there already", "edit it; init never overwrites")
    named = [_named(text) for text in services]
    names = [*(name for name, _ in named), *presets]
    if len(set(names)) < len(names):
        raise UsageError("bad_service", "a service is named twice", "give each its own name")
    if not named and not presets:
        named, presets = [("orders", "https://staging.example/api")], ("openai",)
    blocks = [_service_block(name, url) for name, url in named] + [_PRESET.format(name=name) for name in presets]
    path.write_text(_HEAD + "".join(blocks), encoding="utf-8")
    layout = Layout(root)
    layout.ensure_state()
    layout.cassettes.mkdir(exist_ok=True)
    files = {".gitignore": _IGNORED, ".gitattributes": _ATTRIBUTES}
    added = [name for name, text in files.items() if _added(root / name, text)]
    click.echo(f"wrote {CONFIG_NAME}" + "".join(f", added to {name}" for name in added))
    click.echo("next: check the urls and env in it, then: proctor record --cassette first -- COMMAND")


def _named(text: str) -> tuple[str, str]:
    name, equals, url = text.partition("=")
    try:
        if not equals:
            raise ValueError("it has no =")
        return checked_service_name(name), checked_url(url)
    except ValueError as error:
        raise UsageError("bad_service", f'"{text}" is no NAME=URL: {error}') from None


def _service_block(name: str, url: str) -> str:
    variable = f"{name.upper().replace('-', '_')}_URL"
    note = "                  # the variable from which your agent takes this service's address"
    return _SERVICE.format(name=name, url=json.dumps(url), env=json.dumps(variable), note=note)


def _added(path: Path, text: str) -> bool:
    """Append `text` to a file unless its last line is there already."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    if text.splitlines()[-1] in old.splitlines():
        return False
    separator = "" if not old or old.endswith("\n") else "\n"
    path.write_text(old + separator + text, encoding="utf-8")
    return True
