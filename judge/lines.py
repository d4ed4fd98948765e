"""Files of JSON lines: each line a value, or named as what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from proctor.trajectories.file import json_of

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that does not count. `code` is stable: those of `json_of`, not_valid, repeated_label, repeated_verdict."""

    line: int
    code: str
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.code}: {self.message}"

    def as_dict(self) -> dict[str, object]:
        """For `--json`."""
        return {"line": self.line, "code": self.code, "message": self.message}


def parsed(data: bytes, model: type[Model]) -> Iterator[tuple[int, Model | BadLine]]:
    """Every line that is not empty, with its number. Never raises for what the bytes hold."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            yield number, model.model_validate(json_of(line))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "it"
            more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
            yield number, BadLine(number, "not_valid", f"{where}: {first['msg']}{more}")
        except ValueError as error:
            yield number, BadLine(number, getattr(error, "code", "not_json"), str(error))
