"""The stand-ins for secrets: numbered, of the secret's own shape, and known again wherever they come back.

A client that reads what it got (a JWT's expiry, a UUID, base64, a date) reads the stand-in as well.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

MARK = "proctor-redacted-"
FAR_EXPIRY = 4_102_444_800
"""Of a JWT's stand-in: the first second of 2100, as seconds since 1970."""

_HEX_MARK = "70726f63746f72"
_UUID_MARK = "70726f63-746f-4000-8000-"
_MARK64 = "cHJvY3Rvci1yZWRhY3RlZC"
"""How base64 of the mark begins, whatever follows it."""

DUMMY_KEY = "proctor-dummy-key"
"""Handed out where any key will do: the tape compares none, or Proctor puts the real one on."""
PLACEHOLDER = re.compile(r"proctor-redacted-(\d{4,})")
"""The plain form, which stands inside many others too."""
_PREFIXES = (
    r"sk-(?:ant-[a-z]+[0-9]*-|proj-|svcacct-|or-v1-)?|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|xapp-"
    r"|[rsp]k_(?:live|test)_|whsec_|hf_|npm_|pypi-|gsk_|xai-|pplx-|nvapi-|tvly-|r8_|hvs\.|shpat_|lin_api_|GOCSPX-"
)
SHAPED = re.compile(
    rf"(?i:{_UUID_MARK}\d{{12}})|A[KS]IAPROCTOR\d{{9}}|(?<![0-9A-Fa-f])(?i:{_HEX_MARK})\d{{2,}}+(?![0-9A-Fa-f])"
    rf"|-----BEGIN [A-Z ]+-----\s+{_MARK64}[A-Za-z0-9+/=]+\s+-----END [A-Z ]+-----\n?"
    rf"|(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*\.{_MARK64}[A-Za-z0-9_-]++|(?<![A-Za-z0-9+/_-]){_MARK64}[A-Za-z0-9+/]++=*+"
    r"|person-\d{4,}+@redacted\.invalid"
    rf"|(?:{_PREFIXES})?proctor-redacted-(?:live-\d++|\d{{4,}}+)"
)
"""Every form that no real secret has by chance."""
_SIGNS = (MARK, "70726f63", "70726F63", "IAPROCTOR", _MARK64, "@redacted.invalid")
"""One of these is in each of those forms."""

_PREFIXED = re.compile(rf"({_PREFIXES})[A-Za-z0-9_.-]{{8,}}")
_JWT = re.compile(r"(eyJ[A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]*")
_PEM = re.compile(r"(-----BEGIN ([A-Z ]+)-----)(\s+).*?(\s+)(-----END [A-Z ]+-----)(\n?)", re.DOTALL)
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_HEX = re.compile(r"(?=.*[a-fA-F])(?:[0-9a-f]{18,}|[0-9A-F]{18,})")
_DIGITS = re.compile(r"[0-9]{3,}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:([T ])\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4}){4,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_FAR = datetime(2100, 1, 1, tzinfo=UTC)

Inner = Callable[[str], str]
"""Looks through a readable part of a secret, such as a JWT's claims, for secrets of its own."""


def _as_is(text: str) -> str:
    return text


def stand_in(value: str, number: int, inner: Inner = _as_is) -> str:
    """The stand-in for the `number`-th secret of a tape."""
    for shape in (_uuid, _digits, _date, _hexadecimal, _aws, _prefixed, _pem, _base64):
        made = shape(value, number)
        if made is not None:
            return made
    return _jwt(value, number, inner) or plain(number)


def plain(number: int) -> str:
    """The stand-in for a secret without a shape."""
    return f"{MARK}{number:04d}"


def live_stand_in(number: int) -> str:
    """What reports of a replay show for a credential that stands for none of the tape's."""
    return f"{MARK}live-{number}"


def is_opaque(value: str) -> bool:
    """Whether `value` is a stand-in for a secret that had no shape, or that of base64, as it may have by chance."""
    return PLACEHOLDER.fullmatch(value) is not None or re.fullmatch(rf"{_MARK64}[A-Za-z0-9+/]+=*", value) is not None


def is_live(value: str) -> bool:
    """Whether `value` stands for a credential that stands for none of the tape's."""
    return value.startswith(f"{MARK}live-")


def is_placeholder(value: str, upto: int = 0) -> bool:
    """Whether `value` is a stand-in. Digits and dates are one only if a tape has so many stand-ins (`upto`)."""
    if PLACEHOLDER.fullmatch(value) or SHAPED.fullmatch(value):
        return True
    return bool(upto) and any(number <= upto for number in _ambiguous(value))


def may_hold_stand_ins(text: str) -> bool:
    """Quickly told: whether a look for stand-ins is worth it."""
    return any(sign in text for sign in _SIGNS)


def numbers_in(text: str) -> set[int]:
    """The numbers of the stand-ins that stand in a text, those in base64 included."""
    if not may_hold_stand_ins(text):
        return set()
    found = {int(match[1]) for match in PLACEHOLDER.finditer(text)}
    for match in SHAPED.finditer(text):
        found.update(_numbers(match[0]))
    return found


def numbers_of(value: str) -> set[int]:
    """The numbers for which a whole value may stand, digits and dates included."""
    return numbers_in(value) or _ambiguous(value)


def _numbers(shaped: str) -> set[int]:
    if _MARK64 in shaped:
        start = shaped.index(_MARK64)
        word = re.match(r"[A-Za-z0-9+/_-]+", shaped[start:])
        text = (word[0] if word else "").replace("+", "-").replace("/", "_")
        text = text[: len(text) - (len(text) % 4 == 1)]
        decoded = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        return {int(match[1]) for match in PLACEHOLDER.finditer(decoded.decode("latin-1"))}
    digits = re.search(r"(\d+)(?:@redacted\.invalid)?\Z", shaped)
    return {int(digits[1][-12:])} if digits else set()


def _ambiguous(value: str) -> set[int]:
    """The numbers that a value of digits, or a date, may stand for."""
    if re.fullmatch(r"9\d{2,}", value):
        return {int(value[1:])} - {0}
    if _DATE.fullmatch(value) and value >= "2100":
        try:
            moment = datetime.fromisoformat(value.replace("Z", "+00:00"))
        except ValueError:
            return set()
        passed = moment.replace(tzinfo=UTC) - _FAR
        return {passed.days if len(value) == 10 else int(passed.total_seconds())} - {0}
    return set()


def _uuid(value: str, number: int) -> str | None:
    if not _UUID.fullmatch(value) or number >= 10**12:
        return None
    made = f"{_UUID_MARK}{number:012d}"
    return made.upper() if value.isupper() else made


def _digits(value: str, number: int) -> str | None:
    """`9`, zeros, the number: as long as the secret, longer only where the number needs it."""
    if not _DIGITS.fullmatch(value):
        return None
    return f"9{number:0{max(len(value) - 1, 2)}d}"


def _date(value: str, number: int) -> str | None:
    found = _DATE.fullmatch(value)
    if not found or number > 36_500:
        return None
    if found[1] is None:
        return date.isoformat(_FAR.date() + timedelta(days=number))
    return (_FAR + timedelta(seconds=number)).strftime(f"%Y-%m-%d{found[1]}%H:%M:%S") + (found[2] or "")


def _hexadecimal(value: str, number: int) -> str | None:
    room = len(value) - len(_HEX_MARK)
    if not _HEX.fullmatch(value) or len(str(number)) > room:
        return None
    made = f"{_HEX_MARK}{number:0{room}d}"
    return made.upper() if value.isupper() else made


def _aws(value: str, number: int) -> str | None:
    found = re.fullmatch(r"(A[KS]IA)[A-Z0-9]{16}", value)
    return f"{found[1]}PROCTOR{number:09d}" if found else None


def _prefixed(value: str, number: int) -> str | None:
    found = _PREFIXED.fullmatch(value)
    return f"{found[1]}{plain(number)}" if found else None


def _pem(value: str, number: int) -> str | None:
    found = _PEM.fullmatch(value)
    if not found:
        return None
    middle = b64encode(plain(number).encode()).decode()
    return f"{found[1]}{found[3]}{middle}{found[4]}{found[5]}{found[6]}"


def _base64(value: str, number: int) -> str | None:
    if not _BASE64.fullmatch(value) or not _is_encoded(value):
        return None
    size = len(b64decode(value))
    return b64encode(plain(number).ljust(size, ".").encode()).decode()


def _is_encoded(value: str) -> bool:
    """Letters of both cases and digits, or a sign that only base64 has: else a word may be just a word."""
    if any(sign in value for sign in "+/="):
        return True
    return any(c.islower() for c in value) and any(c.isupper() for c in value) and any(c.isdigit() for c in value)


def _jwt(value: str, number: int, inner: Inner) -> str | None:
    """Header and claims stay readable, the expiry is far, the signature is the mark."""
    found = _JWT.fullmatch(value)
    if not found:
        return None
    signature = _segment(plain(number))
    try:
        text = urlsafe_b64decode(found[2] + "=" * (-len(found[2]) % 4)).decode()
        claims = json.loads(text)
    except ValueError:
        return f"{found[1]}.{_segment('{}')}.{signature}"
    if isinstance(claims, dict) and isinstance(claims.get("exp"), int | float):
        text = json.dumps({**claims, "exp": FAR_EXPIRY}, ensure_ascii=False, separators=(",", ":"))
    return f"{found[1]}.{_segment(inner(text))}.{signature}"


def _segment(text: str) -> str:
    return urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode().rstrip("=")
