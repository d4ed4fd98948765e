"""The short text form of a fault plan: `refund:2=timeout, openai=rate_limited*3`. No I/O."""

from __future__ import annotations

import re
from typing import Any

from pydantic import ValidationError

from proctor.errors import UsageError, nearest
from proctor.fault_plan import KINDS, POSITIONS, Fault, FaultPlanSpec

HEADER = "header"
"""The entry that lets requests ask for faults."""
_FORM = "it reads TOOL[:CALL|:early|:mid|:late]=KIND[@SECONDS][*TIMES], several with commas between"
_ENTRY = re.compile(r"(?P<tool>[^=]+?)(?::(?P<when>[^:/=]*))?=(?P<how>[^=]*)")
_HOW = re.compile(r"(?P<kind>\w+)(?:@(?P<seconds>\d+(?:\.\d+)?|\.\d+))?(?:\*(?P<times>\d+))?")


def plan_of_text(text: str) -> FaultPlanSpec:
    """The plan that a text says. Raises UsageError, naming the entry."""
    entries = [entry.strip() for entry in text.split(",")]
    faults = tuple(_fault(entry) for entry in entries if entry != HEADER)
    return FaultPlanSpec(fault=faults, by_header=HEADER in entries)


def fault_of_header(value: str, service: str) -> Fault:
    """The fault that a request asks for: `KIND[@SECONDS]`, or the status of an error. Raises UsageError."""
    if "*" in value or "=" in value:
        raise _wrong(value, "one request has one fault", "a header reads KIND, KIND@SECONDS or a status, as 503")
    return _made(value, {"tool": "*", "service": service, **_how(value, value.strip())})


def _fault(entry: str) -> Fault:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        raise _wrong(entry, "that is no fault", _FORM)
    when = match["when"]
    fields: dict[str, Any] = {"tool": match["tool"].strip()}
    if when is not None and when.isascii() and when.isdigit():
        fields["call"] = int(when)
    elif when in POSITIONS:
        fields["position"] = when
    elif when is not None:
        raise _wrong(entry, f'"{when}" is no call or position', f"a number, or {nearest(when, POSITIONS)}")
    return _made(entry, {**fields, **_how(entry, match["how"].strip())})


def _how(entry: str, text: str) -> dict[str, Any]:
    match = _HOW.fullmatch(text)
    if match is None:
        raise _wrong(entry, f'"{text}" is no kind of fault', f"{_FORM}; kinds: {', '.join(KINDS)}")
    kind = match["kind"]
    fields: dict[str, Any] = {"kind": "error", "status": int(kind)} if kind.isdigit() else {"kind": kind}
    if match["seconds"] is not None:
        fields["seconds"] = float(match["seconds"])
    if match["times"] is not None:
        fields["times"] = int(match["times"])
    return fields


def _made(entry: str, fields: dict[str, Any]) -> Fault:
    try:
        return Fault.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise _wrong(entry, first["msg"].removeprefix("Value error, "), _FORM) from None


def _wrong(entry: str, why: str, fix: str) -> UsageError:
    return UsageError("fault_text", f'fault "{entry}": {why}', fix)
