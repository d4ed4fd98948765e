"""How a route is asked: which parameters it is sent, and what is sent after it refused one.

litellm's tables say what a route takes, and are wrong at times: so a refusal that names a parameter moves it to its
next form (a schema to plain JSON to nothing), until there is nothing left to leave out.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from proctor.model_call import ModelCall

_FORMS = {
    "response_format": ("json_schema", "json_object", ""),
    "temperature": ("zero", ""),
    "seed": ("given", ""),
    "limit": ("max_completion_tokens", "max_tokens"),
}
_NAMED = {
    "response_format": re.compile(r"(?:response|output)_?format|json_?schema|json_?object|json.mode", re.IGNORECASE),
    "temperature": re.compile(r"\btemperature\b", re.IGNORECASE),
    "seed": re.compile(r"\bseed\b", re.IGNORECASE),
    "limit": re.compile(r"max_completion_tokens|max_?tokens", re.IGNORECASE),
}


@dataclass(frozen=True)
class Ways:
    """The form of each parameter; an empty one is not sent."""

    response_format: str
    temperature: str
    seed: str
    limit: str

    def parameters(self, call: ModelCall) -> dict[str, Any]:
        """What is sent beside the messages."""
        sent: dict[str, Any] = {self.limit: call.max_output_tokens}
        if self.temperature:
            sent["temperature"] = 0
        if self.seed:
            sent["seed"] = call.seed
        if self.response_format == "json_schema":
            schema = {"name": call.schema_name, "schema": call.schema, "strict": True}
            sent["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif self.response_format:
            sent["response_format"] = {"type": self.response_format}
        return sent

    def after(self, refusal: str) -> Ways | None:
        """The ways to ask after a refusal in these words; None where they name nothing that can be left out."""
        for parameter, pattern in _NAMED.items():
            form, forms = getattr(self, parameter), _FORMS[parameter]
            if form != forms[-1] and pattern.search(refusal):
                following: dict[str, Any] = {parameter: forms[forms.index(form) + 1]}
                return replace(self, **following)
        return None


def first_ways(supported: Collection[str], takes_schemas: bool) -> Ways:
    """By litellm's tables: the names of parameters that a route takes, and whether its model keeps to schemas."""
    formats = _FORMS["response_format"]
    return Ways(
        response_format=formats[0 if takes_schemas else 1] if "response_format" in supported else "",
        temperature="zero" if "temperature" in supported else "",
        seed="given" if "seed" in supported else "",
        limit="max_completion_tokens" if "max_completion_tokens" in supported else "max_tokens",
    )
