"""Metrics as Prometheus reads them: text format 0.0.4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Sample(NamedTuple):
    """One line of a metric."""

    labels: Mapping[str, str]
    value: float
    suffix: str = ""


Family = tuple[str, str, str, list[Sample]]
"""A metric: its name without `proctor_`, its type, its help, its samples."""


def written(families: Iterable[Family]) -> str:
    """Every metric with its HELP and TYPE lines, ready to be scraped."""
    lines: list[str] = []
    for name, kind, told, samples in families:
        lines += [f"# HELP proctor_{name} {told}", f"# TYPE proctor_{name} {kind}"]
        lines += [f"proctor_{name}{each.suffix}{_labels(each.labels)} {each.value!r}" for each in samples]
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
