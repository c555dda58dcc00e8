"""Calls to the kernel that the C library has no name for."""

import ctypes
import os
import platform

ARCHITECTURES = ("x86_64", "aarch64")
"""Those whose numbers of calls are written down."""


class SandboxRefused(Exception):  # the name is what happened
    """The kernel refuses a part of the sandbox."""


def call(number: int, *arguments: int | ctypes.Array[ctypes.c_char] | None) -> int:
    """What the kernel answers. OSError as it says."""
    libc = ctypes.CDLL(None, use_errno=True)
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    answer = libc.syscall(ctypes.c_long(number), *words)
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(answer)


def architecture() -> str | None:
    """One of ``ARCHITECTURES``, or None on others and for a program of 32 bits."""
    here = platform.machine()
    return here if here in ARCHITECTURES and ctypes.sizeof(ctypes.c_void_p) == 8 else None
