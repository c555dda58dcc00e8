"""Landlock: what a process may still reach of files, ports and other processes (Linux 5.13 or newer).

Rights that a kernel does not know yet are left to seccomp, which denies the calls that need them.
https://docs.kernel.org/userspace-api/landlock.html
"""

import ctypes
import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from workers.sandbox.kernel import SandboxRefused, call

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on all processors
VERSION_ASKED = 1
PATH_BENEATH = 1

WRITE_FILE, READ_FILE, READ_DIR = 1 << 1, 1 << 2, 1 << 3
REMOVE_FILE, MAKE_FILE, TRUNCATE = 1 << 5, 1 << 8, 1 << 14

READ = READ_FILE | READ_DIR
OWN = READ | WRITE_FILE | REMOVE_FILE | MAKE_FILE | TRUNCATE
"""In its own folder: plain files side by side, so that whoever clears up has no tree to walk."""
OF_A_FILE = READ_FILE | WRITE_FILE | TRUNCATE

FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
"""From that version on, how many rights there are. All are governed; running a program is granted nowhere."""
NET_RIGHTS = {4: 0b11}
SCOPES = {6: 0b11}
"""Ports of TCP to be bound or reached; signals, and sockets without a file."""


@cache
def version() -> int:
    """Of Landlock on this machine; 0 if there is none, or something does not let us ask."""
    try:
        return call(CREATE_RULESET, None, 0, VERSION_ASKED)
    except OSError:
        return 0


def restrict(readable: Iterable[Path], *, writable: Path) -> None:
    """Of files, leave this process what is below ``readable``, and plain files in ``writable``.

    SandboxRefused: the kernel does not do it.
    """
    try:
        ruleset = created(version())
        for path in readable:
            with suppress(FileNotFoundError):  # not on this machine
                grant(ruleset, path, READ)
        grant(ruleset, writable, OWN)
        grant(ruleset, Path("/dev/null"), READ_FILE | WRITE_FILE)
        call(RESTRICT_SELF, ruleset, 0)
        os.close(ruleset)
    except OSError as problem:
        raise SandboxRefused(f"landlock: {problem}") from None


def created(known: int) -> int:
    """A ruleset that governs all that this version of Landlock can."""
    attributes = struct.pack("=QQQ", governed(known), newest(NET_RIGHTS, known), newest(SCOPES, known))
    size = 24 if known >= 6 else 16 if known >= 4 else 8
    return call(CREATE_RULESET, ctypes.create_string_buffer(attributes, len(attributes)), size, 0)


def governed(known: int) -> int:
    return (1 << newest(FILE_RIGHTS, known)) - 1


def newest(values: dict[int, int], known: int) -> int:
    """The value of the newest version that is not newer than this one; 0 without one."""
    return max((value for since, value in values.items() if since <= known), default=0)


def grant(ruleset: int, path: Path, rights: int) -> None:
    opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        granted = rights & governed(version())
        rule = struct.pack("=Qi", granted if path.is_dir() else granted & OF_A_FILE, opened)
        call(ADD_RULE, ruleset, PATH_BENEATH, ctypes.create_string_buffer(rule, len(rule)), 0)
    finally:
        os.close(opened)
