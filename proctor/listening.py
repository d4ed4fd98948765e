"""Where our servers listen: addresses as URLs, who can reach them, and why one cannot be had."""

from __future__ import annotations

import errno
import ipaddress

from proctor.errors import PortInUse, UsageError


def base_url(host: str, port: int) -> str:
    """`http://HOST:PORT`, with brackets around an IPv6 address."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def local(host: str) -> bool:
    """Whether a host, by name or address, can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def cannot_listen(host: str, port: int, error: OSError) -> UsageError:
    """The error for an address that cannot be listened at."""
    if error.errno == errno.EADDRINUSE:
        told = f"port {port} on {host} is taken by another program"
        return PortInUse("port_in_use", told, "leave --port out: the system chooses")
    told = f"cannot listen on {base_url(host, port)}: {error.strerror or error}"
    return UsageError("cannot_listen", told, "--host takes an address of this machine; ports below 1024 want rights")
