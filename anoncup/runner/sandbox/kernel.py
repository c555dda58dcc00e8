"""Functions of the C library, and system calls that it has no function for."""

import ctypes
import os
import platform

ARCHITECTURES = ("x86_64", "aarch64")
"""Architectures whose system call numbers are known here."""


class SandboxError(Exception):
    """The kernel refused a part of the sandbox."""


_Argument = int | bytes | ctypes.Array[ctypes.c_char] | None


def call_libc(name: str, *arguments: _Argument) -> int:
    """Call a function of the C library and return its result; raise OSError if it fails."""
    libc = ctypes.CDLL(None, use_errno=True)
    c_arguments = [
        ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments
    ]
    result = getattr(libc, name)(*c_arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(result)


def syscall(number: int, *arguments: _Argument) -> int:
    """Make a system call and return its result; raise OSError if it fails."""
    return call_libc("syscall", number, *arguments)


def detect_architecture() -> str | None:
    """Return one of ``ARCHITECTURES``, or None on other machines and in a 32-bit program."""
    machine = platform.machine()
    return machine if machine in ARCHITECTURES and ctypes.sizeof(ctypes.c_void_p) == 8 else None
