"""Why a real service gave no answer, in plain words, with the fix. Pure."""

from __future__ import annotations

import re
import ssl
from typing import NamedTuple

import aiohttp
from yarl import URL

from proctor.proxy.way import Way

_EXPIRED, _NOT_YET = 10, 9
_UNKNOWN_ISSUER = frozenset({2, 18, 19, 20, 21})
_OTHER_NAME = frozenset({62, 64})
"""OpenSSL's X509_V_ERR_ codes."""


class Failure(NamedTuple):
    """An error for the agent and the summary; `status` is what the agent's client sees."""

    code: str
    message: str
    fix: str
    status: int = 502

    def as_dict(self) -> dict[str, str]:
        """See `ProctorError.as_dict`."""
        return {"code": self.code, "message": self.message, "fix": self.fix}


class Oversize(ValueError):
    """A body that is needed whole, and is too large for that; the text says what for."""


class TooLong(TimeoutError):
    """A tool call took longer than the session's guard lets it; the service itself might have had more time."""


class Refused(ValueError):
    """An answer that is none of the service's, or none at all; the text says what came."""


class ProxyRefused(Refused):
    """The proxy's own refusal, in place of the service's answer."""


def failure(way: Way, cause: BaseException) -> Failure:
    """What asking came to."""
    origin = URL(way.url, encoded=True).origin()
    service = f'service "{way.name}" at {origin}'
    table = f"[services.{way.name}]"
    if isinstance(cause, Oversize):
        fix = f"call it with --mode {way.name}=live and without `rewrite`: then it passes in pieces"
        return Failure("body_too_large", f"{service}: {cause}", fix)
    certificate = _certificate(cause)
    if certificate is not None:
        told, fix = _distrusted(certificate, table)
        return Failure("upstream_tls", f"{service} is not trusted: {told}", fix)
    if way.proxy is not None:
        found = _of_proxy(way, way.proxy.url, cause)
        if found is not None:
            told, fix = found
            status = 504 if isinstance(cause, TimeoutError) else 502
            return Failure("upstream_proxy", f"{told} ({service} lies behind it)", fix, status)
    if isinstance(cause, aiohttp.ConnectionTimeoutError):
        told = f"{service} took no connection in {_seconds(way.connect_seconds)}"
        return Failure("upstream_timeout", told, _longer(table), 504)
    if isinstance(cause, TimeoutError):
        what = "sent nothing" if isinstance(cause, aiohttp.ServerTimeoutError) else "took no more of the request"
        told = f"{service} {what} for {_seconds(way.read_seconds)}"
        return Failure("upstream_timeout", told, _longer(table), 504)
    if isinstance(cause, ssl.SSLError | aiohttp.ClientConnectorSSLError):
        return Failure("upstream_tls", f"{service} refused TLS: {_tls_reason(cause)}", _tls_fix(cause, table))
    if isinstance(cause, aiohttp.ClientResponseError | Refused):
        told, fix = _no_http(cause)
        return Failure("upstream_malformed", f"{service} answered what is no HTTP answer: {told}", fix)
    through = f" (by way of the proxy {way.proxy.url})" if way.proxy else ""
    return Failure(
        "upstream_unreachable", f"{service} did not answer: {_said(cause)}{through}", _unreached(way, cause, table)
    )


def cut(way: Way, cause: BaseException | None) -> str:
    """What broke an answer off that had begun; empty where nobody said."""
    if cause is None:
        return ""
    if isinstance(cause, TimeoutError):
        return f"no byte came for {_seconds(way.read_seconds)} (timeout)"
    if isinstance(cause, aiohttp.ClientPayloadError):
        counts = re.search(r"received (\d+) of (\d+) bytes", str(cause))
        if counts:
            return f"{counts[1]} of {counts[2]} bytes came"
        chunk = re.search(r"chunk size", str(cause))
        return "a chunk of its body is malformed" if chunk else "the connection ended before the body did"
    return _said(cause)


def _of_proxy(way: Way, proxy: str, cause: BaseException) -> tuple[str, str] | None:
    """Words for what is the proxy's doing; None where the service behind it may be meant as well as any."""
    table = f"[services.{way.name}]"
    up = f"see that it runs, and that proxy in {table} has its address"
    if isinstance(cause, aiohttp.ClientProxyConnectionError):
        return f"the proxy {proxy} cannot be reached: {_said(cause)}", up
    if isinstance(cause, aiohttp.ClientConnectorDNSError) and cause.host == URL(proxy).host:
        return f"the proxy {proxy} cannot be reached: its name is unknown", up
    if isinstance(cause, aiohttp.ClientHttpProxyError):
        return _refused(way, proxy, cause.status)
    if isinstance(cause, ProxyRefused):
        return _refused(way, proxy, 407)
    if isinstance(cause, aiohttp.ClientResponseError | Refused) and _spoken_by_proxy(way, cause):
        return f"the proxy {proxy} answered what is no HTTP answer: {_no_http(cause)[0]}", up
    if isinstance(cause, aiohttp.ConnectionTimeoutError):
        return f"the proxy {proxy} gave no connection to it in {_seconds(way.connect_seconds)}", _longer(table)
    if isinstance(cause, aiohttp.ServerDisconnectedError) and not way.tunnelled:
        return f"the proxy {proxy} closed the connection without an answer", up
    return None


def _spoken_by_proxy(way: Way, cause: BaseException) -> bool:
    """Through a tunnel the service itself speaks, once the tunnel stands."""
    asked = cause.request_info.method if isinstance(cause, aiohttp.ClientResponseError) else ""
    return not way.tunnelled or asked == "CONNECT"


def _refused(way: Way, proxy: str, status: int) -> tuple[str, str]:
    if status != 407:
        return f"the proxy {proxy} refused with status {status}", "let it pass this host, or take another way"
    assert way.proxy is not None
    wrong = "another user or password" if way.proxy.userinfo else "a user and password"
    fix = f'proxy = "env:NAME" in [services.{way.name}], where NAME holds http://USER:PASSWORD@HOST:PORT'
    return f"the proxy {proxy} wants {wrong} (407)", fix


def _certificate(cause: BaseException) -> ssl.SSLCertVerificationError | None:
    if isinstance(cause, aiohttp.ClientConnectorCertificateError):
        cause = cause.certificate_error
    return cause if isinstance(cause, ssl.SSLCertVerificationError) else None


def _distrusted(error: ssl.SSLCertVerificationError, table: str) -> tuple[str, str]:
    """Why a certificate is not believed, and what makes it so: never by looking away."""
    code = error.verify_code
    if code == _EXPIRED:
        return "its certificate has expired", "have it renewed (or set this machine's clock right)"
    if code == _NOT_YET:
        return "its certificate is not valid yet", "set this machine's clock right"
    if code in _OTHER_NAME:
        told = error.verify_message.replace("certificate is not valid for", "it is not for").rstrip(".")
        return f"its certificate is another host's: {told}", f"in {table}, url must have a name of the certificate"
    if code in _UNKNOWN_ISSUER:
        who = (
            "its certificate is signed by itself" if code == 18 else "nobody who is trusted here signed its certificate"
        )
        return who, f'name the CA (or a self-signed certificate itself): ca = "FILE.pem" in {table}'
    return error.verify_message, f'the certificates to believe are named by ca = "FILE.pem" in {table}'


def _tls_reason(cause: BaseException) -> str:
    inner = cause.certificate_error if isinstance(cause, aiohttp.ClientConnectorCertificateError) else cause
    inner = inner.os_error if isinstance(inner, aiohttp.ClientConnectorError) else inner
    reason = getattr(inner, "reason", None)
    return str(reason or inner).replace("_", " ").lower()


def _tls_fix(cause: BaseException, table: str) -> str:
    reason = _tls_reason(cause)
    if "certificate" in reason or "unknown ca" in reason:
        return _show(table)
    return f"see that url in {table} has the right scheme and port: what answers there may speak no TLS"


def _show(table: str) -> str:
    return f'if it wants a client certificate: client_cert = "FILE.pem" and client_key = "FILE.pem" in {table}'


def _no_http(cause: BaseException) -> tuple[str, str]:
    """The parser's words without the picture that it draws, and what they mean."""
    text = cause.message if isinstance(cause, aiohttp.ClientResponseError) else str(cause)
    limits = (r"(?s)Got more than (\d+) bytes", r"Too many headers()")
    if any(re.match(limit, text) for limit in limits):
        told = "a line of its head is longer than 64 KiB" if text.startswith("Got") else "it has over 1024 headers"
        return told, "no client reads such a head; have the service send less"
    if re.match(r"(?:Content-Length|Transfer-Encoding) can't be present with", text):
        told = "it has both Content-Length and Transfer-Encoding, so that nobody can be sure where it ends"
        return told, "have the service, or what stands before it, send one of the two: HTTP forbids both"
    words, _, shown = text.partition(":\n\n")
    sample = re.match(r"\s*b(['\"])(.{1,60})", shown)
    told = " ".join(words.split())
    told = f"{told} ({sample[2].rstrip(sample[1])})" if sample else told
    return told, "see what listens there: another protocol, or TLS where url says http"


def _unreached(way: Way, cause: BaseException, table: str) -> str:
    fix = f"see that it runs and that {table} has its address"
    fix += ", and that the proxy lets it through" if way.proxy else ""
    if way.url.startswith("https:") and isinstance(cause, aiohttp.ServerDisconnectedError | ConnectionError):
        return f"{fix}; {_show(table)}"
    return fix


def _said(cause: BaseException) -> str:
    if isinstance(cause, aiohttp.ClientConnectorDNSError):
        return "its name is unknown"
    if isinstance(cause, aiohttp.ClientConnectorError):
        cause = cause.os_error
    if isinstance(cause, aiohttp.ServerDisconnectedError):
        return "it closed the connection" + (" in the head of its answer" if not isinstance(cause.message, str) else "")
    if isinstance(cause, ConnectionRefusedError):
        return "nobody listens there"
    if isinstance(cause, ConnectionResetError):
        return "it broke the connection"
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return str(cause) or type(cause).__name__


def _longer(table: str) -> str:
    return f"see that it runs; if it is that slow: timeout = SECONDS in {table}"


def _seconds(seconds: float) -> str:
    return f"{seconds:g} s"
