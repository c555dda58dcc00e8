"""Landlock restricts access to files, ports and other processes (Linux 5.13 or newer).

Rights that an older kernel does not know are left to seccomp, which denies the calls that need them.
https://docs.kernel.org/userspace-api/landlock.html
"""

import ctypes
import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from anoncup.runner.sandbox.kernel import SandboxError, syscall

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on all processors
_CREATE_RULESET_VERSION = 1
_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14

_READ_RIGHTS = READ_FILE | READ_DIR
_SINGLE_FILE_RIGHTS = EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE

_FILE_RIGHT_COUNTS = {1: 13, 2: 14, 3: 15, 5: 16}
"""Number of file rights since each ABI version. All are restricted."""
_NET_RIGHTS = {4: 0b11}
_SCOPES = {6: 0b11}
"""Bits by ABI version: binding and connecting TCP ports, and the scopes of signals and abstract sockets."""


@cache
def get_abi_version() -> int:
    """Return Landlock's ABI version on this machine; 0 if it is missing or forbidden."""
    try:
        return syscall(CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION)
    except OSError:
        return 0


def make_ruleset(
    readable: Iterable[Path],
    *,
    runnable: Iterable[Path] = (),
    writable: Iterable[Path] = (),
    listable: Iterable[Path] = (),
) -> int:
    """Return the descriptor of a ruleset under which a process only reads below ``readable``.

    It may also read and start programs below ``runnable``, change files below ``writable``, and read names of
    files below ``listable``. Raises SandboxError if the kernel refuses.
    """
    grants = (
        (readable, _READ_RIGHTS),
        (runnable, _READ_RIGHTS | EXECUTE),
        (writable, ~EXECUTE),
        (listable, READ_DIR),
    )
    try:
        ruleset = _create_ruleset(get_abi_version())
        for path, rights in ((path, rights) for paths, rights in grants for path in paths):
            with suppress(FileNotFoundError):  # some paths do not exist on every machine
                _grant(ruleset, path, rights)
        _grant(ruleset, Path("/dev/null"), READ_FILE | WRITE_FILE)
    except OSError as problem:
        raise SandboxError(f"landlock: {problem}") from None
    return ruleset


def restrict(ruleset: int) -> None:
    """Apply the ruleset to this process; raise SandboxError if the kernel refuses."""
    try:
        syscall(RESTRICT_SELF, ruleset, 0)
    except OSError as problem:
        raise SandboxError(f"landlock: {problem}") from None


def _create_ruleset(abi_version: int) -> int:
    """Create a ruleset that restricts everything this ABI version can, and return its file descriptor."""
    attributes = struct.pack(
        "=QQQ",
        get_handled_rights(abi_version),
        _select_for_version(_NET_RIGHTS, abi_version),
        _select_for_version(_SCOPES, abi_version),
    )
    size = 24 if abi_version >= 6 else 16 if abi_version >= 4 else 8
    return syscall(CREATE_RULESET, ctypes.create_string_buffer(attributes, len(attributes)), size, 0)


def get_handled_rights(abi_version: int) -> int:
    return (1 << _select_for_version(_FILE_RIGHT_COUNTS, abi_version)) - 1


def _select_for_version(values: dict[int, int], abi_version: int) -> int:
    """Return the value of the newest version up to ``abi_version``, or 0."""
    return max((value for min_version, value in values.items() if min_version <= abi_version), default=0)


def _grant(ruleset: int, path: Path, rights: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        allowed_access = rights & get_handled_rights(get_abi_version())
        rule = struct.pack(
            "=Qi", allowed_access if path.is_dir() else allowed_access & _SINGLE_FILE_RIGHTS, descriptor
        )
        syscall(ADD_RULE, ruleset, _PATH_BENEATH, ctypes.create_string_buffer(rule, len(rule)), 0)
    finally:
        os.close(descriptor)
