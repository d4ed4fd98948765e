"""Where a proxy listens, how agents address it, and who may use it as a forward proxy. No I/O."""

from __future__ import annotations

import binascii
import hmac
from base64 import b64decode
from dataclasses import dataclass

from proctor.listening import base_url, local


@dataclass(frozen=True)
class Addressing:
    """The addresses of one listening proxy. `path_token` is empty where only this machine can reach it."""

    host: str
    port: int
    advertised: str = ""
    """What agents' addresses begin with, where that is not `url`: of a container's host, or a mapped port."""
    path_token: str = ""

    @property
    def url(self) -> str:
        """The address on this machine; of a host that stands for every interface, the loopback one."""
        local = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(self.host, self.host)  # noqa: S104
        return base_url(local, self.port)

    @property
    def agents_url(self) -> str:
        """What every agent's address begins with."""
        return self.advertised or self.url

    @property
    def own_urls(self) -> tuple[str, ...]:
        """Every address that is known to be this proxy's; the one that agents are told comes first."""
        names = (self.host, "localhost", "127.0.0.1", "::1")
        return tuple(dict.fromkeys((self.agents_url, self.url, *(base_url(name, self.port) for name in names if name))))

    def origin_form(self, target: str, local_host: str) -> str | None:
        """The path and query of an absolute-form target that names this proxy; None for any other.

        `local_host` is the address at which the client reached us: clients send even that by way of their proxy.
        """
        names = (self.host, "localhost", "127.0.0.1", "::1", local_host)
        for own in (*(base_url(name, self.port) for name in names), self.advertised):
            if own and target.startswith(own + "/"):
                return target[len(own) :]
        return None

    def may_proxy(self, peer: str | None, credentials: str) -> bool:
        """Whether a client may send what is addressed to others: by the path token, or from this machine.

        `credentials` is the value of `Proxy-Authorization`: Basic, any user name, the path token as password.
        """
        if not self.path_token or (peer is not None and local(peer)):
            return True
        _, password = _basic(credentials)
        return hmac.compare_digest(password, self.path_token.encode())


def proxy_user(credentials: str) -> str:
    """Who a value of `Proxy-Authorization` says is asking; empty where it says nothing that can be read.

    The proxy variables of a session's agent name the session there.
    """
    user, _ = _basic(credentials)
    return user.decode("utf-8", "replace")


def _basic(credentials: str) -> tuple[bytes, bytes]:
    """User and password of a Basic credential; both empty where it is none."""
    scheme, _, packed = credentials.partition(" ")
    if scheme.lower() != "basic":
        return b"", b""
    try:
        user, _, password = b64decode(packed.strip(), validate=True).partition(b":")
    except (binascii.Error, ValueError):
        return b"", b""
    return user, password
