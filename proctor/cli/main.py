"""The entry point: finds the command, and turns errors into messages and exit codes."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from proctor import __version__
from proctor.cli.lazy import Commands, LazyGroup

_COMMANDS: Commands = {
    "init": ("proctor.cli.init:init", "Write a proctor.toml to start from."),
    "record": ("proctor.cli.record:record", "Run an agent against the real services and keep their answers."),
    "replay": ("proctor.cli.replay:replay", "Run an agent against a cassette, with no network."),
    "serve": ("proctor.cli.serve:serve", "Run a proxy for launchers of your own, until it is stopped."),
    "run": ("proctor.cli.run:run", "Run an agent through the cases of a suite."),
    "runs": ("proctor.cli.runs:runs", "List what was run, and the trials of a run."),
    "trial": ("proctor.cli.trial:trial", "Look at one trial: its checks, and step by step what was done."),
    "suite": ("proctor.cli.suite:suite", "Look at suites of cases: list, lint, expand."),
    "world": ("proctor.cli.world:world", "See and try the project's worlds: tools with a state of their own."),
    "env": ("proctor.cli.env:env", "Print the variables that point an agent at a session."),
    "session": ("proctor.cli.session:session", "Read what a session did."),
    "effects": ("proctor.cli.effects:effects", "Show what each recorded call does, and declare what is guessed."),
    "faults": ("proctor.cli.faults:faults", "Look at fault plans: what goes wrong, and when."),
    "trajectory": ("proctor.cli.trajectory:trajectory", "Show, check and convert what runs did."),
    "judge": ("proctor.cli.judge:judge", "Judge runs against a rubric, and check rubrics."),
    "review": ("proctor.cli.review:review", "Label runs that the judge was in doubt about."),
    "learn": ("proctor.cli.learn:learn", "Propose what a match may forgive, from two recordings."),
    "cassette": ("proctor.cli.cassette:cassette", "List, show, compare, seal, scan and recover cassettes."),
}

_EPILOG = """\
\b
First steps:
  proctor init                                   write proctor.toml, then name your services in it
  proctor record --cassette first -- COMMAND     once, against staging
  proctor replay --cassette first -- COMMAND     for ever after, in CI

\b
Exit status: 0 fine; 1 the thing under test failed; 2 usage or configuration;
3 misses, unseen traffic, nothing replayed; 4 Proctor failed. Where several hold:
4, 2, 3, the command's own status, 1.
"""


@click.group(cls=LazyGroup, lazy=_COMMANDS, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="proctor")
def cli() -> None:
    """Record what an agent's tools answered once; replay it for ever; know when that cannot be."""


def run() -> None:
    """The console script."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: list[str]) -> int:
    """Run one command line; gives its exit status. Every error is turned into words here and nowhere else."""
    if sys.platform == "win32":
        click.echo("proctor: Windows is supported by way of WSL only", err=True)
        return 2
    as_json = "--json" in (arguments[: arguments.index("--")] if "--" in arguments else arguments)
    try:
        result: Any = cli.main(arguments, prog_name="proctor", standalone_mode=False)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as error:
        if as_json:
            told = {"code": "usage", "message": error.format_message(), "fix": "see --help"}
            click.echo(json.dumps({"error": told}, ensure_ascii=False))
        else:
            error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        return 130
    except BrokenPipeError:
        return 141
    except Exception as error:
        return _told(error, as_json=as_json)
    return result if isinstance(result, int) else 0


def _told(error: Exception, *, as_json: bool) -> int:
    """Say an error; gives the exit status. An error that nobody foresaw is ours, and shows its traceback."""
    from proctor.errors import EXIT_PLATFORM, ProctorError

    if not isinstance(error, ProctorError):
        import traceback

        traceback.print_exception(error)
        click.echo("proctor: failed inside; this is a fault of Proctor's own", err=True)
        return EXIT_PLATFORM
    if as_json:
        click.echo(json.dumps({"error": error.as_dict()}, ensure_ascii=False))
    else:
        click.echo(f"proctor: {error.code}: {error}", err=True)
    return error.exit_code
