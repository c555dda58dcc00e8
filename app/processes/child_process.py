"""Start a program that ends when the process that started it does, even by kill -9.

A ``preexec_fn`` would be shorter, but it runs Python between fork and exec: it can deadlock when the
starting process has threads. So this file is also a small launcher, run on its own before the program.
"""

import contextlib
import ctypes
import os
import pwd
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

NAMESPACE_REFUSED = 87
"""Exit status when the kernel does not let root put on another user's number."""

LARGEST_LOG = 10_000_000
"""A log of more bytes is set aside as ``NAME.log.1`` at the next start."""

_PR_SET_PDEATHSIG = 1
_CLONE_NEWUSER = 0x10000000


def start(
    command: Sequence[str],
    *,
    log: Path | None = None,
    end_with: signal.Signals = signal.SIGTERM,
    unroot: bool = False,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start ``command`` in a session of its own; it gets ``end_with`` when the calling *thread* ends.

    ``unroot`` shows root to the program as an ordinary user. Output goes to ``log``, or is inherited.
    """
    launcher = [sys.executable, "-I", "-S", __file__, str(os.getpid()), str(int(end_with)), str(int(unroot))]
    with opened_log(log) if log else contextlib.nullcontext() as output:
        return subprocess.Popen(  # noqa: S603  no shell, and no caller passes on what a user typed
            [*launcher, *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output and subprocess.STDOUT,
            env=env,
            cwd=cwd,
            pass_fds=pass_fds,
            # Else Ctrl-C in a terminal would reach it at once; the starter stops its programs in order.
            start_new_session=True,
        )


def opened_log(path: Path) -> IO[bytes]:
    """The log, to append to."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > LARGEST_LOG:
        path.replace(path.with_name(path.name + ".1"))
    return path.open("ab")


def tail(path: Path, *, size: int = 1500) -> str:
    """The last ``size`` bytes of a log."""
    if not path.exists():
        return ""
    return path.read_bytes()[-size:].decode(errors="replace").strip()


def end_with_parent(parent: int, end_with: int) -> None:
    """Have this process sent ``end_with`` when its ``parent`` ends; exit if it has."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(end_with), 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)  # the parent ended before the line above took effect


def _put_on_other_user(libc: ctypes.CDLL) -> None:
    """Show this same user as an ordinary one, in a user namespace: no account, no chown, no chmod."""
    user, group = os.geteuid(), os.getegid()
    shown = _ordinary_user()
    if libc.unshare(_CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    for file, text in (
        ("setgroups", "deny"),
        ("gid_map", f"1000 {group} 1"),
        ("uid_map", f"{shown} {user} 1"),
    ):
        Path("/proc/self", file).write_text(text)


def _ordinary_user() -> int:
    """The lowest number from 1000 that has a name: Postgres wants to look its user up."""
    known = {entry.pw_uid for entry in pwd.getpwall()} - {0}
    return min((number for number in known if number >= 1000), default=max(known, default=1000))


def _launch(parent: int, end_with: int, unroot: int, command: list[str]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if unroot:
        try:
            _put_on_other_user(libc)
        except OSError:
            sys.exit(NAMESPACE_REFUSED)
    # After the namespace: a change of credentials clears it.
    end_with_parent(parent, end_with)
    os.execv(command[0], command)  # noqa: S606  a shell would stand between the two


if __name__ == "__main__":
    _launch(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
