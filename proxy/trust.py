"""What a real service is trusted by, and which certificate it is shown: TLS contexts from the files of its table."""

from __future__ import annotations

import hashlib
import re
import ssl
from pathlib import Path
from threading import Lock

from proctor.errors import ConfigError
from proctor.service_config import ServiceConfig

_PEM = re.compile(rb"-----BEGIN [A-Z0-9 ]+-----")
_AS_PEM = "it is a file in PEM (-----BEGIN ...), relative to proctor.toml"


class Trust:
    """The TLS contexts of one proxy. Sessions share a service's for as long as its files stay as they are.

    A connection belongs to its context: with one for each session, every session would leave its connections open
    until the service or the pool's time ends them, and never use those of another.
    """

    def __init__(self, root: Path) -> None:
        """`root` is the project's folder, from which files are named."""
        self._root = root
        self._made: dict[str, tuple[bytes, ssl.SSLContext]] = {}
        """By service: a digest of the files' bytes, and the context."""
        self._lock = Lock()

    def of(self, name: str, service: ServiceConfig) -> ssl.SSLContext | bool:
        """True for what the system trusts, and no client certificate. Raises ConfigError for a file that is not right.

        The files are read at every call. May be called on any thread.
        """
        if not service.ca and not service.client_cert:
            return True
        with self._lock:
            digest = self._digest(name, service)
            made = self._made.get(name)
            if made is None or made[0] != digest:
                made = self._made[name] = digest, _context(name, service, self._root)
        return made[1]

    def _digest(self, name: str, service: ServiceConfig) -> bytes:
        digest = hashlib.sha256()
        files = {"ca": service.ca, "client_cert": service.client_cert, "client_key": service.client_key}
        for key, path in files.items():
            data = _bytes(name, key, path, self._root) if path else b""
            digest.update(b"%d:%s" % (len(data), data))
        return digest.digest()


def _context(name: str, service: ServiceConfig, root: Path) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=str(root / service.ca) if service.ca else None)
    except ssl.SSLError:
        raise _bad_file(name, "ca", service.ca, "there is no certificate in it that can be read", _AS_PEM) from None
    if service.client_cert:
        _show_certificate(context, name, service, root)
    return context


def _show_certificate(context: ssl.SSLContext, name: str, service: ServiceConfig, root: Path) -> None:
    cert = str(root / service.client_cert)
    key = str(root / service.client_key) if service.client_key else None
    try:
        context.load_cert_chain(cert, key, password=_no_password)
    except _Encrypted:
        at, path = ("client_key", service.client_key) if key else ("client_cert", service.client_cert)
        fix = "store it without one: openssl pkey -in KEY.pem -out PLAIN.pem"
        raise _bad_file(name, at, path, "its key wants a password", fix) from None
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            fix = "client_cert and client_key must belong together"
            raise _bad_file(name, "client_key", service.client_key, "it is not the certificate's key", fix) from None
        fix = f"client_cert holds the certificate, and its key unless client_key names that; {_AS_PEM}"
        told = "certificate and key cannot be read"
        raise _bad_file(name, "client_cert", service.client_cert, told, fix) from None


class _Encrypted(Exception):
    """A key that wants a password."""


def _no_password() -> str:
    raise _Encrypted  # without this, OpenSSL would ask at the terminal


def _bytes(name: str, key: str, path: str, root: Path) -> bytes:
    """The bytes of a PEM file."""
    try:
        data = (root / path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _bad_file(name, key, path, f"it cannot be read: {reason}", _AS_PEM) from None
    if not _PEM.search(data):
        fix = f"{_AS_PEM}; from DER: openssl x509 -inform der -in FILE -out FILE.pem"
        raise _bad_file(name, key, path, "it is not in PEM", fix)
    return data


def _bad_file(name: str, key: str, path: str, told: str, fix: str) -> ConfigError:
    return ConfigError(f"service_{key}_bad", f'service "{name}": {key} = "{path}": {told}', fix)
