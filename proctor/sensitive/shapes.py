"""The shapes of keys and tokens that say of themselves what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

KEY_SIGNS = (
    "sk-",
    "AKIA",
    "ASIA",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "eyJ",
    "-----BEGIN",
    "earer",
    "EARER",
    "xox",
    "xapp-",
    "AIza",
    "ya29.",
    "GOCSPX-",
    "_live_",
    "_test_",
    "whsec_",
    "hf_",
    "npm_",
    "pypi-",
    "SG.",
    "gsk_",
    "xai-",
    "pplx-",
    "nvapi-",
    "tvly-",
    "r8_",
    "dapi",
    "dop_v1_",
    "hvs.",
    "shpat_",
    "lin_api_",
    "LTAI",
    "AKID",
)
"""One of these stands in every text that holds a key of a known shape."""

_SHORTEST = 12
"""Characters of the shortest key that is known by its shape."""
_START = r"(?<![A-Za-z0-9])"
_KEYS = (
    re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
    re.compile(rf"{_START}(?:A[KS]IA)[A-Z0-9]{{16}}(?![A-Za-z0-9])"),
    re.compile(rf"{_START}(?:gh[pousr]_[A-Za-z0-9]{{20,}}|github_pat_[A-Za-z0-9_]{{20,}}|glpat-[A-Za-z0-9_-]{{20,}})"),
    re.compile(rf"{_START}sk-(?=[A-Za-z_-]{{0,80}}[0-9])[A-Za-z0-9_-]{{16,}}"),
    re.compile(
        rf"{_START}(?:xox[abeprs]-[A-Za-z0-9-]{{10,}}|xapp-[0-9]-[A-Za-z0-9-]{{10,}}|AIza[A-Za-z0-9_-]{{30,}}"
        r"|[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}|ya29\.[A-Za-z0-9_-]{20,}"
        r"|GOCSPX-[A-Za-z0-9_-]{20,}|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|pypi-AgE[A-Za-z0-9_-]{40,}"
        r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|gsk_[A-Za-z0-9]{32,}|xai-[A-Za-z0-9]{32,}|pplx-[A-Za-z0-9]{32,}"
        r"|nvapi-[A-Za-z0-9_-]{32,}|tvly-[A-Za-z0-9_-]{20,}|r8_[A-Za-z0-9]{36,}|dapi[0-9a-f]{32}|dop_v1_[0-9a-f]{64}"
        r"|hvs\.[A-Za-z0-9_-]{20,}|shpat_[0-9a-f]{32}|lin_api_[A-Za-z0-9]{32,}|LTAI[A-Za-z0-9]{12,24}"
        r"|AKID[A-Za-z0-9]{32})(?![A-Za-z0-9])"
    ),
    re.compile(rf"{_START}(?i:bearer)[ :]{{1,3}}(?P<token>(?=[A-Za-z._~+/-]{{0,80}}[0-9])[A-Za-z0-9._~+/-]{{16,}}=*)"),
)


def has_key_sign(text: str) -> bool:
    """Quickly told: whether a look for keys is worth it."""
    if len(text) < _SHORTEST:
        return False
    for sign in KEY_SIGNS:  # noqa: SIM110 - a generator would cost more than the search
        if sign in text:
            return True
    return False


def keys(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and text of each key, token or private key; finds may overlap."""
    for pattern in _KEYS:
        for found in pattern.finditer(text):
            group = "token" if "token" in pattern.groupindex else 0
            yield found.start(group), found.end(group), found[group]
