"""Dropping root: the sandboxed process runs as an unprivileged user without capabilities."""

import ctypes
import os
import stat
import sys
from functools import cache
from pathlib import Path

from workers.sandbox import library_paths
from workers.sandbox.kernel import SandboxRefused

USER = 60999
"""User and group of the process. Above the ranges of accounts, below that of systemd's dynamic users; in
every container's range."""

CAP_DAC_READ_SEARCH, CAP_KILL, CAP_SETGID, CAP_SETUID = 2, 5, 6, 7
CAPABILITY_VERSION_3 = 0x20080522
PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_SET_KEEPCAPS, PR_SET_NO_NEW_PRIVS = 1, 2, 8, 38

LIBC = ctypes.CDLL(None, use_errno=True)


def is_root() -> bool:
    return os.geteuid() == 0


def drop(folder: Path, *, files_are_restricted: bool) -> None:
    """Become an unprivileged user if this process is root, and give up all capabilities.

    ``folder`` is given to that user. With ``files_are_restricted``, by Landlock, the process keeps the
    capability to read libraries in another user's home directory. Without Landlock, root stays root if only
    root can read the libraries.
    """
    switches = has_capabilities() and (files_are_restricted or libraries_are_public())
    needs_capability = is_root() and (files_are_restricted or not libraries_are_public())
    if is_root() and switches:
        become_unprivileged(folder)
    set_capabilities(permitted() & 1 << CAP_DAC_READ_SEARCH if needs_capability else 0)
    if LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise SandboxRefused("no_new_privs")


def become_unprivileged(folder: Path) -> None:
    """Change the user and group and give up supplementary groups.

    Nothing changes in a user namespace that does not know the user.
    """
    try:
        os.chown(folder, USER, USER)
        os.setgroups([])
    except OSError:
        return
    parent, signal = os.getppid(), ctypes.c_int()
    LIBC.prctl(PR_GET_PDEATHSIG, ctypes.byref(signal), 0, 0, 0)
    LIBC.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)
    try:
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
    except OSError as problem:
        raise SandboxRefused(f"setuid: {problem}") from None
    # The kernel drops the signal at the parent's death when the user changes.
    LIBC.prctl(PR_SET_PDEATHSIG, signal.value, 0, 0, 0)
    if signal.value and os.getppid() != parent:
        sys.exit("the parent has ended")


@cache
def can_become_unprivileged() -> bool:
    return has_capabilities() and libraries_are_public()


def has_capabilities() -> bool:
    """Whether this process may change its user, and its parent, which has the same rights, still end it."""
    wanted = 1 << CAP_KILL | 1 << CAP_SETGID | 1 << CAP_SETUID
    return permitted() & wanted == wanted


@cache
def libraries_are_public() -> bool:
    """Whether every user may read the interpreter and the libraries."""
    return all(is_public(path) for path in library_paths.readable() if path.exists())


def is_public(path: Path) -> bool:
    return os.stat(path).st_mode & stat.S_IROTH != 0 and all(
        os.stat(folder).st_mode & stat.S_IXOTH for folder in path.parents
    )


def permitted() -> int:
    """Return the lower 32 permitted capabilities."""
    data = (ctypes.c_uint32 * 6)()
    LIBC.capget((ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0), data)
    return int(data[1])


def set_capabilities(kept: int) -> None:
    data = (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0)
    if LIBC.capset((ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0), data) != 0:
        raise SandboxRefused("capset")
