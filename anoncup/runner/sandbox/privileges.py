"""Give up root: the sandboxed process runs as an unprivileged user without capabilities."""

import ctypes
import os
import stat
import sys
from functools import cache
from pathlib import Path

from anoncup.runner.sandbox import library_paths
from anoncup.runner.sandbox.kernel import SandboxError, call_libc

SANDBOX_UIDS = range(60578, 61184)
"""User and group ids, of which each process has another: above the range of accounts, below that of systemd's
dynamic users, and within every container's range. The kernel counts threads by user."""

# From <linux/capability.h> and <linux/prctl.h>.
CAP_DAC_READ_SEARCH, CAP_KILL, CAP_SETGID, CAP_SETUID = 2, 5, 6, 7
_CAPABILITY_VERSION_3 = 0x20080522
PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_SET_KEEPCAPS, PR_SET_NO_NEW_PRIVS = 1, 2, 8, 38
PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 47, 2

_LIBC = ctypes.CDLL(None, use_errno=True)


def is_root() -> bool:
    return os.geteuid() == 0


def choose_uid() -> int:
    return SANDBOX_UIDS[os.getpid() % len(SANDBOX_UIDS)]


def drop(*, restricts_files: bool, program_uid: int | None = None) -> None:
    """Become an unprivileged user if this process is root, and give up all capabilities.

    If Landlock ``restricts_files``, the process keeps the capability to read libraries in another user's home
    directory, with ``program_uid`` also when it starts a program. Without Landlock, root stays root if only
    root can read the libraries.
    """
    needs_capability = restricts_files or (is_root() and not are_libraries_public())
    if is_root() and may_switch_user(restricts_files=restricts_files):
        _become_unprivileged(program_uid or choose_uid())
    kept_capabilities = 1 << CAP_DAC_READ_SEARCH if needs_capability else 0
    capabilities = _get_permitted_capabilities() & kept_capabilities
    _set_capabilities(capabilities, inheritable=capabilities if program_uid else 0)
    if capabilities and program_uid:
        call_libc("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_READ_SEARCH, 0, 0)
    if _LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise SandboxError("no_new_privs")


def _become_unprivileged(uid: int) -> None:
    """Change user and group, and give up supplementary groups.

    In a user namespace that does not map the user, nothing changes.
    """
    try:
        os.setgroups([])
    except OSError:
        return
    parent, signal = os.getppid(), ctypes.c_int()
    _LIBC.prctl(PR_GET_PDEATHSIG, ctypes.byref(signal), 0, 0, 0)
    _LIBC.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)
    try:
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    except OSError as problem:
        raise SandboxError(f"setuid: {problem}") from None
    # The kernel clears the parent-death signal when the user changes.
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.value, 0, 0, 0)
    if signal.value and os.getppid() != parent:
        sys.exit("the parent has ended")


def may_switch_user(*, restricts_files: bool) -> bool:
    """Return whether this process may become a user who can read libraries and whom its parent can kill."""
    return _has_capabilities() and (restricts_files or are_libraries_public())


@cache
def can_become_unprivileged() -> bool:
    return may_switch_user(restricts_files=False)


def _has_capabilities() -> bool:
    """Return whether this process, and so its parent, has what changing users and killing them needs."""
    needed = 1 << CAP_KILL | 1 << CAP_SETGID | 1 << CAP_SETUID
    return _get_permitted_capabilities() & needed == needed


@cache
def are_libraries_public() -> bool:
    """Return whether every user may read the interpreter and the libraries."""
    return all(_is_public(path) for path in library_paths.list_readable() if path.exists())


def _is_public(path: Path) -> bool:
    return os.stat(path).st_mode & stat.S_IROTH != 0 and all(
        os.stat(folder).st_mode & stat.S_IXOTH for folder in path.parents
    )


def _get_permitted_capabilities() -> int:
    """Return the lower 32 permitted capabilities."""
    data = (ctypes.c_uint32 * 6)()
    _LIBC.capget((ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0), data)
    return int(data[1])


def _set_capabilities(capabilities: int, *, inheritable: int) -> None:
    data = (ctypes.c_uint32 * 6)(capabilities, capabilities, inheritable, 0, 0, 0)
    if _LIBC.capset((ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0), data) != 0:
        raise SandboxError("capset")
