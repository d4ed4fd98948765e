"""A suite: cases that are run together, and what they say of an agent and what not."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from proctor.cases.case import Case
from proctor.cases.parts import Count, Limits, Part, Text

Value = str | int | float | bool
Name = Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]*$")]
SuiteClass = Literal["smoke", "full"]
CAPS: dict[SuiteClass, int] = {"smoke": 8, "full": 32}
"""Trials at once."""


class Template(Part):
    """Many cases from one: each `{name}` in the case's texts is replaced by a value."""

    values: dict[Name, Annotated[tuple[Value, ...], Field(min_length=1)]] = Field(min_length=1)
    """By name. A run takes combinations of them, by its seed."""
    most: Count = 24
    """So many cases at most."""
    case: dict[str, Any]
    """A case, whose id the made ones begin with."""


class Suite(Part):
    """What stands in a suite's file. Cases of other files are added by `include`."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,79}$")]
    title: Text
    tests: Text
    """What it tests."""
    tests_not: Text
    """And what it does not: load, the user interface, whether the answer is kind, ..."""
    size: SuiteClass = "smoke"
    """How many trials run at once: 8 of a smoke suite, 32 of a full one."""
    trials: Count = 1
    limits: Limits = Limits()
    include: tuple[Text, ...] = ()
    """Files with more cases and templates, below the suite's folder; `*` stands for any part of a name."""
    cases: tuple[Case, ...] = ()
    templates: tuple[Template, ...] = ()


class CaseFile(Part):
    """What stands in a file that a suite includes."""

    cases: tuple[Case, ...] = ()
    templates: tuple[Template, ...] = ()
