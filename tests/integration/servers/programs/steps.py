"""What the programs say: a JSON line for each step of a client, one line for a server that listens."""

import datetime
import hashlib
import json
import os
import sys


def told(name, seen):
    """Print one step."""
    print(json.dumps([name, plain(seen)], sort_keys=True), flush=True)


def until_stdin_ends(listening):
    """Say where a server listens, then serve until the test that started it closes its stdin."""
    print(json.dumps(listening), flush=True)
    sys.stdin.read()
    os._exit(0)  # connections that are kept alive hold threads, which nobody waits for


def plain(value):
    """A value as JSON has it; bytes as their text or, where they are none, by length and digest."""
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return f"{len(value)} bytes {hashlib.sha256(value).hexdigest()}"
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, set):
        return sorted(map(plain, value))
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return repr(value)
