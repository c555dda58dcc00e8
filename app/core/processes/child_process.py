"""Start a program that ends when the process that started it does, even by kill -9.

A ``preexec_fn`` would be shorter, but it runs Python between fork and exec, which can deadlock if the
starting process has threads. Therefore this file is also a small launcher, which runs first and then executes
the program.
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
"""Exit status when the kernel does not let root take another user id."""

MAX_LOG_BYTES = 10_000_000
"""A larger log is renamed to ``NAME.log.1`` at the next start."""

_PR_SET_PDEATHSIG = 1
_CLONE_NEWUSER = 0x10000000


def start(
    command: Sequence[str],
    *,
    log: Path | None = None,
    parent_death_signal: signal.Signals = signal.SIGTERM,
    hide_root: bool = False,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start ``command`` in its own session. It gets ``parent_death_signal`` when the calling *thread* ends.

    With ``hide_root``, the program sees root as an ordinary user. Output goes to ``log``, or is inherited.
    """
    launcher = [
        sys.executable,
        "-I",
        "-S",
        __file__,
        str(os.getpid()),
        str(int(parent_death_signal)),
        str(int(hide_root)),
    ]
    with open_log(log) if log else contextlib.nullcontext() as output:
        return subprocess.Popen(  # noqa: S603  no shell, and no caller passes on what a user typed
            [*launcher, *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output and subprocess.STDOUT,
            env=env,
            cwd=cwd,
            pass_fds=pass_fds,
            # Ctrl-C in a terminal must not reach it: the parent stops its programs in order.
            start_new_session=True,
        )


def open_log(path: Path) -> IO[bytes]:
    """Open a log for appending. One that is too large is renamed first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > MAX_LOG_BYTES:
        path.replace(path.with_name(path.name + ".1"))
    return path.open("ab")


def read_tail(path: Path) -> str:
    """Return the last 1,500 bytes of a log as text; empty if there is none."""
    if not path.exists():
        return ""
    return path.read_bytes()[-1500:].decode(errors="replace").strip()


def end_with_parent(parent_pid: int, signal_number: int) -> None:
    """Make the kernel signal this process when its parent ends; exit if the parent has ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal_number), 0, 0, 0)
    if os.getppid() != parent_pid:
        os._exit(1)  # the parent ended before the line above took effect


def _hide_root(libc: ctypes.CDLL) -> None:
    """Enter a user namespace that shows root as an ordinary user. This needs no account, chown or chmod."""
    uid, gid = os.geteuid(), os.getegid()
    visible_uid = _find_ordinary_uid()
    if libc.unshare(_CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    for file, text in (
        ("setgroups", "deny"),
        ("gid_map", f"1000 {gid} 1"),
        ("uid_map", f"{visible_uid} {uid} 1"),
    ):
        Path("/proc/self", file).write_text(text)


def _find_ordinary_uid() -> int:
    """Return the lowest user id from 1000 on that has a name, because Postgres looks up its user."""
    uids = {entry.pw_uid for entry in pwd.getpwall()} - {0}
    return min((number for number in uids if number >= 1000), default=max(uids, default=1000))


def _launch(parent_pid: int, parent_death_signal: int, hide_root: int, command: list[str]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if hide_root:
        try:
            _hide_root(libc)
        except OSError:
            sys.exit(NAMESPACE_REFUSED)
    # After entering the namespace: a change of credentials clears the parent-death signal.
    end_with_parent(parent_pid, parent_death_signal)
    os.execv(command[0], command)  # noqa: S606  a shell would stand between the two


if __name__ == "__main__":
    _launch(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
