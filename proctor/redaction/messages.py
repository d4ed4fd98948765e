"""Every place of a request and of an answer in which a secret can stand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from proctor.credentials import SECRET_HEADERS, secret_spans
from proctor.credentials import Span as HeaderSpan
from proctor.encoding import decoded, encoded
from proctor.interaction import Headers, Interaction, Request, Response, header
from proctor.redaction.charsets import text_of
from proctor.redaction.digests import remeasured
from proctor.redaction.edits import Edit, applied, shifted
from proctor.redaction.fields import multipart_edits, pair_edits
from proctor.redaction.names import normal_header
from proctor.redaction.span import Span
from proctor.redaction.streams import stream_edits
from proctor.redaction.walker import Walker

_NEVER_SECRET = frozenset(
    {"content-length", "content-type", "content-encoding", "date", "host", "connection", "accept"}
)


def clean_interaction(walker: Walker, interaction: Interaction) -> Interaction:
    """The interaction with what the walker's swap puts; `redacted` is left as it is."""
    request = clean_request(walker, interaction.request)
    response = clean_response(walker, interaction.response)
    url = interaction.url
    if url.endswith(interaction.request.target):
        base = url.removesuffix(interaction.request.target)
        url = walker.text(base, "request.url") + request.target
    else:
        url = _target(walker, url, "request.url")
    return replace(interaction, request=request, response=response, url=url)


def clean_request(walker: Walker, request: Request) -> Request:
    """The request with what the walker's swap puts, its lengths and digests true."""
    headers = _headers(walker, request.headers, "request")
    target = _target(walker, request.target, "request.target")
    body = _body(walker, request.headers, request.body, "request.body")
    return replace(request, target=target, headers=remeasured(headers, request.body, body), body=body)


def clean_response(walker: Walker, response: Response) -> Response:
    """The answer with what the walker's swap puts, its lengths and digests true."""
    headers = _headers(walker, response.headers, "response")
    body = _body(walker, response.headers, response.body, "response.body")
    reason = walker.text(response.reason, "response.reason")
    return replace(response, reason=reason).rewritten(remeasured(headers, response.body, body), body)


def clean_content(walker: Walker, request: Request) -> Request:
    """The request with what the walker's swap puts in its target and body; headers as they are."""
    target = _target(walker, request.target, "request.target")
    return replace(request, target=target, body=_body(walker, request.headers, request.body, "request.body"))


def _headers(walker: Walker, headers: Headers, side: str) -> Headers:
    return tuple([(name, _header(walker, name, value, f"{side}.headers {name.lower()}")) for name, value in headers])


def _header(walker: Walker, name: str, value: str, place: str) -> str:
    low = name.lower()
    if low in _NEVER_SECRET or not value:
        return value
    spans = secret_spans(low, value)
    if low in SECRET_HEADERS:
        return _credentials(walker, spans, value, place)
    if normal_header(name) in walker.finder.rules.headers:
        return walker.named(value, f"header {name}", place)
    return walker.text(value, place)


def _credentials(walker: Walker, spans: Iterable[HeaderSpan], value: str, place: str) -> str:
    edits = []
    for span in spans:
        secret = value[span.start : span.end]
        walker.learn_password(value[: span.start], secret, place)
        new = walker.swap(Span(span.start, span.end, secret, span.kind), f"{place} {span.kind}")
        if new is not None:
            edits.append(Edit(span.start, span.end, new))
    rest = applied(value, edits).encode("utf-8", "surrogateescape")
    return walker.in_bytes(rest, place).decode("utf-8", "surrogateescape")


def _target(walker: Walker, target: str, place: str) -> str:
    path, mark, query = target.partition("?")
    if len(path) > 1:
        path = walker.text(path, place)
    if not mark:
        return path
    return f"{path}?{applied(query, pair_edits(walker, query, place, walker.finder.rules.query))}"


def _body(walker: Walker, headers: Headers, body: bytes, place: str) -> bytes:
    if not body:
        return body
    coding = header(headers, "content-encoding")
    plain = decoded(body, coding)
    if plain is None:
        return walker.in_bytes(body, place)
    clean = _content(walker, header(headers, "content-type") or "", plain, place)
    return body if clean == plain else encoded(clean, coding)


def _content(walker: Walker, content_type: str, plain: bytes, place: str) -> bytes:
    text, charset = text_of(plain, content_type)
    start = len(text) - len(text.removeprefix("\ufeff"))
    clean = applied(text, shifted(_edits(walker, content_type, text[start:], place), start))
    try:
        data = clean.encode(charset)
    except UnicodeEncodeError:  # a lone surrogate that was escaped
        data = clean.encode(charset, "replace")
    return walker.in_bytes(data, place)


def _edits(walker: Walker, content_type: str, text: str, place: str) -> list[Edit]:
    """By what the body says it is, else by how it begins."""
    media = content_type.partition(";")[0].strip().lower()
    found: list[Edit] | None = None
    if media.startswith("multipart/"):
        found = multipart_edits(walker, content_type, text, place)
    elif media == "application/x-www-form-urlencoded":
        return pair_edits(walker, text, place, walker.finder.rules.query)
    elif text.lstrip()[:1] in ("{", "[", '"'):
        found = walker.json(text, place)
    if found is None and (media == "text/event-stream" or "\n" in text.strip()):
        found = stream_edits(walker, text, place)
    return walker.edits(text, place) if found is None else found
