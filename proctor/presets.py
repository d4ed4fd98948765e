"""What Proctor knows of well-known LLM APIs, so that a service needs one line of configuration."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Preset:
    """One LLM API: where it is, which variables point SDKs at it, and how it words an error.

    `error_shape` names the JSON in which its SDKs expect errors; see `proctor.proxy.miss`.
    """

    name: str
    url: str
    base_url_variables: tuple[str, ...]
    key_variables: tuple[str, ...]
    key_header: str
    """The header in which its SDKs send the key."""
    error_shape: str
    minted_ids: tuple[str, ...]
    """JSON pointers in requests to ids of the model's making: others in each run, they only pair calls and results."""


PRESETS: dict[str, Preset] = {
    "openai": Preset(
        name="openai",
        url="https://api.openai.com/v1",
        base_url_variables=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        key_variables=("OPENAI_API_KEY",),
        key_header="Authorization",
        error_shape="openai",
        minted_ids=("/messages/*/tool_calls/*/id", "/messages/*/tool_call_id", "/input/*/call_id", "/input/*/id"),
    ),
    "anthropic": Preset(
        name="anthropic",
        url="https://api.anthropic.com",
        base_url_variables=("ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"),
        key_variables=("ANTHROPIC_API_KEY",),
        key_header="x-api-key",
        error_shape="anthropic",
        minted_ids=("/messages/*/content/*/id", "/messages/*/content/*/tool_use_id"),
    ),
}

# Set for every agent: these libraries otherwise call home beside the traffic that is meant.
QUIET_VARIABLES: dict[str, str] = {
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}
