"""`python -m proctor`."""

from proctor.cli.main import run

run()
