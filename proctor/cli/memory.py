"""How the C library keeps freed memory, for a process that stands for long."""

from __future__ import annotations

import ctypes
import sys

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_TRIM_BYTES = 2**20
_MMAP_BYTES = 2**18


def give_back_memory() -> None:
    """Let the memory of large bodies go back to the system as soon as it is free.

    glibc takes the largest block that was ever freed, up to 32 MiB, as what it should keep at hand, in the arena of
    each thread: after some large recordings a standing proxy would hold hundreds of MiB that nobody uses. To be called
    before there are threads. Elsewhere than on glibc it does nothing.
    """
    if sys.platform != "linux":
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:  # another C library, such as musl
        return
    mallopt(_M_MMAP_THRESHOLD, _MMAP_BYTES)
    mallopt(_M_TRIM_THRESHOLD, _TRIM_BYTES)
