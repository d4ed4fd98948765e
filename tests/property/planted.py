"""Secrets of every kind, and every place of a conversation into which one can be planted."""

from __future__ import annotations

import base64
import gzip
import json
import random
import re
import string
import uuid
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import quote
from xml.sax.saxutils import escape

import brotli
import jwt
import zstandard

from proctor.encoding import decoded
from proctor.interaction import header
from tests.support import Project

QUOTES = {'"': "&quot;"}
LETTERS = string.ascii_letters + string.digits


def _some(rng: random.Random, size: int, letters: str = LETTERS) -> str:
    """Letters of which at least one is a digit and one a letter."""
    return "".join(rng.choice(letters) for _ in range(size - 2)) + "a7"


KINDS: dict[str, Callable[[random.Random], str]] = {
    "opaque": lambda rng: _some(rng, rng.randrange(14, 48)),
    "urlsafe": lambda rng: _some(rng, 43, LETTERS + "-_"),
    "base64": lambda rng: base64.b64encode(rng.randbytes(32)).decode(),
    "uuid": lambda rng: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
    "hex": lambda rng: rng.randbytes(rng.choice([16, 20, 32])).hex(),
    "digits": lambda rng: str(rng.randrange(10**11, 10**12)),
    "password": lambda rng: "Tr0ub4" + _some(rng, 10, LETTERS + "!#$^*+/=%&:@?\"'\\<> ").strip(),
    "other letters": lambda rng: "密码" + _some(rng, 12) + "é",
    "openai key": lambda rng: f"sk-proj-{_some(rng, 40, LETTERS + '-_')}",
    "github token": lambda rng: f"ghp_{_some(rng, 36)}",
    "aws key id": lambda rng: "AKIA" + _some(rng, 16, string.ascii_uppercase + "234567").upper(),
    "jwt": lambda rng: jwt.encode({"exp": 1_900_000_000, "jti": _some(rng, 12)}, _some(rng, 40), algorithm="HS256"),
    "private key": lambda rng: (
        f"-----BEGIN PRIVATE KEY-----\n{base64.b64encode(rng.randbytes(48)).decode()}\n-----END PRIVATE KEY-----"
    ),
}
IN_HEADERS = frozenset(KINDS) - {"private key", "other letters", "password"}
"""What a header can carry as it is."""

SELF_TELLING = frozenset({"openai key", "github token", "aws key id", "jwt", "private key"})
"""What is found by its shape, wherever it stands."""


@dataclass(frozen=True)
class Sent:
    """A request to be sent: the coding of its body is not yet laid on."""

    target: str = "/tools/login"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b"{}"
    media: str = "application/json"


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _multipart(secret: str) -> Sent:
    body = (
        '--b0\r\nContent-Disposition: form-data; name="user"\r\n\r\nalice\r\n'
        f'--b0\r\nContent-Disposition: form-data; name="client_secret"\r\n\r\n{secret}\r\n--b0--\r\n'
    )
    return Sent(body=body.encode(), media="multipart/form-data; boundary=b0")


def _nested(secret: str) -> Sent:
    inner = _multipart(secret).body.decode()
    body = f"--c1\r\nContent-Type: multipart/mixed; boundary=b0\r\n\r\n{inner}\r\n--c1--\r\n"
    return Sent(body=body.encode(), media="multipart/form-data; boundary=c1")


def _stream(secret: str) -> bytes:
    """A model's tool call whose arguments hold the secret, some letters an event."""
    arguments = json.dumps({"user": "alice", "password": secret}, ensure_ascii=False)
    pieces = [arguments[at : at + 5] for at in range(0, len(arguments), 5)]
    calls = [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces]
    events = [json.dumps({"choices": [{"index": 0, "delta": delta}]}) for delta in calls]
    return "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode()


def _linked(secret: str) -> Sent:
    inner = f"https://b.test/x?access_token={quote(secret, safe='')}"
    return Sent(body=_json({"next": f"https://a.test/go?to={quote(inner, safe='')}"}))


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


CARRIERS: dict[str, Callable[[str], Sent]] = {
    "bearer": lambda s: Sent(headers=(("Authorization", f"Bearer {s}"),)),
    "api key header": lambda s: Sent(headers=(("X-Api-Key", s),)),
    "cookie": lambda s: Sent(headers=(("Cookie", f"theme=dark; sid={s}"),)),
    "other header": lambda s: Sent(headers=(("X-Client-Secret", s),)),
    "query": lambda s: Sent(target=f"/tools/login?user=alice&api_key={quote(s, safe='')}&page=2"),
    "signed url": lambda s: Sent(body=_json({"at": f"https://files.test/x?X-Amz-Signature={quote(s, safe='')}&v=1"})),
    "json": lambda s: Sent(body=_json({"user": "alice", "password": s})),
    "deep json": lambda s: Sent(body=_json({"a": [{"b": {"clientSecret": s, "n": 1}}]})),
    "named value": lambda s: Sent(body=_json({"headers": [{"name": "Authorization", "value": f"Bearer {s}"}]})),
    "json in json": lambda s: Sent(body=_json({"call": {"arguments": json.dumps({"token": s})}})),
    "json in json in json": lambda s: Sent(body=_json({"a": json.dumps({"b": json.dumps({"api_key": s})})})),
    "form": lambda s: Sent(
        body=f"grant_type=password&password={quote(s, safe='')}&x=1".encode(),
        media="application/x-www-form-urlencoded",
    ),
    "json in a form": lambda s: Sent(
        body=f"payload={quote(json.dumps({'secret': s}), safe='')}".encode(),
        media="application/x-www-form-urlencoded",
    ),
    "multipart": _multipart,
    "base64 of json": lambda s: Sent(body=_json({"blob": _b64(json.dumps({"password": s}))})),
    "base64 of zipped json": lambda s: Sent(
        body=_json({"blob": base64.b64encode(gzip.compress(_json({"password": s}), mtime=0)).decode()})
    ),
    "url in a url": _linked,
    "url password": lambda s: Sent(body=_json({"dsn": f"postgres://app:{quote(s, safe='')}@db.test:5432/x"})),
    "soap": lambda s: Sent(
        body=f"<Env><wsse:Password>{escape(s)}</wsse:Password></Env>".encode(),
        media="text/xml",
    ),
    "cookie in json": lambda s: Sent(body=_json({"headers": {"Cookie": f"theme=dark; sid={s}"}})),
    "hidden input": lambda s: Sent(
        body=f"<form><input type='hidden' name='csrf_token' value=\"{escape(s, QUOTES)}\"></form>".encode(),
        media="text/html",
    ),
    "cdata": lambda s: Sent(body=f"<Env><Password><![CDATA[{s}]]></Password></Env>".encode(), media="text/xml"),
    "gbk": lambda s: Sent(
        body=json.dumps({"用户": "王", "密码": s}).encode("gbk"), media="application/json; charset=gbk"
    ),
    "parts in parts": _nested,
    "base64 in a path": lambda s: Sent(target=f"/tools/open/{_b64(json.dumps({'password': s})).rstrip('=')}"),
    "stream": lambda s: Sent(body=_stream(s), media="text/event-stream"),
}  # fmt: skip
HEADER_CARRIERS = frozenset({"bearer", "api key header", "cookie", "other header"})

CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda body: body,
    "gzip": lambda body: gzip.compress(body, mtime=0),
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": lambda body: zstandard.ZstdCompressor().compress(body),
    "gzip, br": lambda body: brotli.compress(gzip.compress(body, mtime=0)),
}

ECHOES: dict[str, Callable[[str], bytes]] = {
    "nothing": lambda s: _json({"ok": True}),
    "in a sentence": lambda s: _json({"message": f"welcome, {s}, you are in"}),
    "in plain text": lambda s: f"hello {s}\n".encode(),
    "as a key": lambda s: _json({"sessions": {s: {"n": 1}}}),
    "base64": lambda s: _json({"seen": _b64(f"user said: {s}")}),
    "percent-encoded": lambda s: _json({"seen": quote(quote(s, safe=""), safe="")}),
    "in json in json": lambda s: _json({"log": json.dumps({"line": f"got {s}"})}),
    "streamed": lambda s: "".join(
        f"data: {json.dumps({'type': 'text', 'index': 0, 'delta': f'{s} '[at : at + 3]})}\n\n"
        for at in range(0, len(s) + 1, 3)
    ).encode(),
}


@dataclass(frozen=True)
class Plan:
    """One conversation: what is planted, where, and how it comes back."""

    kind: str
    carrier: str
    coding: str
    echo: str
    seed: int
    rng: random.Random = field(init=False, compare=False, repr=False)

    def secrets(self) -> Iterator[str]:
        """As many secrets of the kind as are wanted, all of one length."""
        rng = random.Random(self.seed)
        first = KINDS[self.kind](rng)
        yield first
        while True:
            another = KINDS[self.kind](rng)
            if len(another) == len(first):
                yield another


def spellings(secret: str) -> set[bytes]:
    """The forms in which a secret would be recognised by whoever searches for it."""
    raw = secret.encode()
    once = quote(secret, safe="")
    escaped = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    texts = {secret, once, quote(once, safe=""), *escaped, *(json.dumps(text)[1:-1] for text in escaped)}
    forms = {text.encode() for text in texts}
    for shift in range(3):  # base64 of something that holds it, whatever stands before
        packed = base64.b64encode(b"\0" * shift + raw)
        forms.add(packed[4 if shift else 0 : len(packed) // 4 * 4 - 4])
    return {form for form in forms if len(form) >= 8}


def left_in(project: Project, secret: str, *told: bytes) -> list[str]:
    """Where a secret stands in clear: in any file of the project, unpacked too, or in what was told."""
    texts = {
        str(path.relative_to(project.root)): path.read_bytes() for path in project.root.rglob("*") if path.is_file()
    }
    texts |= {f"told {number}": text for number, text in enumerate(told)}
    for name in project.layout.cassette_names():
        for interaction in project.tape(name).interactions:
            for side, message in (("request", interaction.request), ("response", interaction.response)):
                body = decoded(message.body, header(message.headers, "content-encoding")) or b""
                texts[f"{name} #{interaction.index} {side}"] = body
                texts[f"{name} #{interaction.index} {side}, joined"] = _joined(body)
                for number, word in enumerate(re.findall(rb"H4sI[A-Za-z0-9+/=]+", body)):
                    texts[f"{name} #{interaction.index} {side}, zipped {number}"] = gzip.decompress(
                        base64.b64decode(word)
                    )
    forms = spellings(secret)
    return [name for name, text in texts.items() if any(form in text for form in forms)]


def _joined(body: bytes) -> bytes:
    """What the pieces of a stream say together."""
    found = re.findall(rb'"(?:delta|arguments)": ("(?:[^"\\]|\\.)*")', body)
    return "".join(json.loads(piece) for piece in found).encode()
