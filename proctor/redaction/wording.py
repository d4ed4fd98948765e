"""What stands under a secret name and is none: labels, messages, masks, templates, counts, pieces of text.

An agent reads a form's label, `{"password": "Password"}`, as it reads any other word; a recording without it would say
less than was said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from proctor.redaction.names import FIELDS, normal, words

_SCHEME = re.compile(r"(?i)(?:bearer|basic|token|apikey|bot)\s+(?=\S)")
_STATES = words(
    """
    true false null none nil undefined yes no n/a string str number integer boolean required optional missing
    invalid expired hidden masked redacted changed unchanged empty unset
    """
)
"""Words of types and states, as they are said of secrets."""
_MASK = re.compile(r"[*•●…]+|\.{3,}")
_MASKED = re.compile(r"[*•●]{3}|…|\.{3}")
_CROSSES = re.compile(r"(?i)x{4,}")
_SHOWN = 8
"""Characters that a masked secret shows at most."""
_TEMPLATE = re.compile(r"\$\{[^{}]*\}|\$?\{\{[^{}]*\}\}|%\([\w.]+\)s|<[^<>]+>|\[[A-Za-z _-]+\]|\$[A-Z]+(?:_[A-Z0-9]+)+")
_ABOUT = re.compile(r"(?i)\b(?:pass(?:word|phrase|code)|token|secret|key|pin|code|otp|credential)s?\b")
_CHINESE = re.compile("[\u4e00-\u9fff]")
_LATIN = re.compile("[A-Za-z0-9]")
_TEXTS = words(
    """
    error errors fielderrors validationerrors formerrors nonfielderrors labels translations i18n locales
    placeholders hints descriptions helptexts tooltips
    """
)
"""Objects whose fields are said about the fields of a form, and have their names."""
_AMBIGUOUS = words("token authorization key auth sig signature")
"""Names of a word, a state or a count as often as of a secret."""
_NUMERIC = words("otp totp onetimepassword mfacode pincode pin cvv cvc cvv2 cardcvc securitycode 验证码")
_SHORTEST = 8
_LONG = 16


def scheme_of(value: str) -> str:
    """What stands before a credential: `Bearer `, or nothing."""
    found = _SCHEME.match(value)
    return found[0] if found else ""


def is_wording(name: str, value: str, path: Sequence[str] = ()) -> bool:
    """Whether a value is surely no secret. `name` is spelled as the lists do, `path` is where the value stands."""
    value = value.strip()
    scheme = scheme_of(value)
    value = value[len(scheme) :]
    digits, blanks = any(map(str.isdigit, value)), any(map(str.isspace, value))
    if value.lower() in _STATES or _is_template(value) or (_CHINESE.search(value) and not _LATIN.search(value)):
        return True
    if not digits and (normal(value) in FIELDS or (blanks and _ABOUT.search(value))):
        return True
    if (blanks or not digits) and any(normal(part) in _TEXTS for part in path):
        return True
    if blanks and path and path[-1].isdigit() and not name.endswith("s"):
        return True  # `{"password": ["This field may not be blank."]}`
    return (name in _AMBIGUOUS and not scheme and not _is_minted(value, digits, blanks)) or (
        name in _NUMERIC and not digits
    )


def _is_template(value: str) -> bool:
    """A mask, or the place of a value that somebody or something is to put there."""
    if _TEMPLATE.fullmatch(value) or _CROSSES.fullmatch(value):
        return True
    return bool(_MASKED.search(value)) and len(_MASK.sub("", value)) <= _SHOWN


def _is_minted(value: str, digits: bool, blanks: bool) -> bool:
    """What a machine makes has digits, or is far longer than a word."""
    word = value.isalpha() and value[1:].islower()
    return len(value) >= _SHORTEST and (digits or (len(value) >= _LONG and not blanks and not word))
