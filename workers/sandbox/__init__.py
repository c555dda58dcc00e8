"""The sandbox of processes that read files of strangers: they may compute, and answer through their pipe.

It has two parts, and neither can be removed again: Landlock restricts files, ports and signals, and seccomp
restricts system calls. A process of root also becomes an unprivileged user.
"""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import structlog

from workers.sandbox import landlock, library_paths, privileges, scratch, seccomp
from workers.sandbox.kernel import SandboxRefused

__all__ = [
    "Sandbox",
    "SandboxRefused",
    "announce",
    "available",
    "choose",
    "enter",
    "explain_missing",
    "library_paths",
    "standing",
]

log = structlog.get_logger(__name__)

LANDLOCK, SECCOMP = "landlock", "seccomp"
REQUIRED, OFF = "required", "off"


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The mechanisms in use: ``files`` restricts access to files, ``calls`` restricts system calls.

    ``drops_root``: a process of root becomes an unprivileged user, where it can.
    """

    files: str = ""
    calls: str = ""
    drops_root: bool = True

    @property
    def is_complete(self) -> bool:
        return bool(self.files and self.calls)

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.files, self.calls))) or "none"


@cache
def available() -> Sandbox:
    """Return what this machine supports. Asks the kernel and changes nothing."""
    return Sandbox(LANDLOCK if landlock.version() else "", SECCOMP if seccomp.works() else "")


def choose(setting: str) -> Sandbox:
    """Return the sandbox for a child process under ``ANONCUP_SANDBOX``."""
    return Sandbox(drops_root=False) if setting == OFF else available()


def explain_missing() -> str:
    """Return why the sandbox is incomplete and what to do."""
    missing = "seccomp is" if available().files else "Landlock (Linux 5.13 or newer) is"
    return (
        f"the processes that read uploads cannot be sandboxed: {missing} missing or forbidden. "
        "docs/hosting.md says what may forbid it; ANONCUP_SANDBOX=wanted continues without"
    )


def standing(setting: str) -> str:
    """Describe the sandbox of this process's children, and of root's their user if Landlock is missing."""
    chosen = choose(setting)
    if chosen.files or not privileges.is_root():
        return str(chosen)
    drops_root = chosen.drops_root and privileges.can_become_unprivileged()
    return f"{chosen}, {'as an unprivileged user' if drops_root else 'as root'}"


def announce(setting: str) -> None:
    """Log the sandbox at the start of a process; a warning if it is incomplete."""
    complete = choose(setting).is_complete
    (log.info if complete else log.warning)(
        "sandbox",
        standing=standing(setting),
        setting=setting,
        advice=None if complete else "ANONCUP_SANDBOX=off" if setting == OFF else explain_missing(),
    )


def enter(chosen: Sandbox, *, folder: Path) -> None:
    """Enter the sandbox with this process, for good.

    Open files stay open. The process may read the interpreter and libraries, and write plain files in
    ``folder``. Raises SandboxRefused if the kernel refuses, or if another thread runs, which would stay
    outside.
    """
    if not (chosen.files or chosen.calls or chosen.drops_root):
        return
    if len(os.listdir("/proc/self/task")) > 1:
        raise SandboxRefused("another thread is running")
    if chosen.files:
        scratch.mount(folder)  # without the right to mount, the folder's size is not limited
    privileges.drop(folder, files_are_restricted=bool(chosen.files))
    if chosen.files:
        landlock.restrict(library_paths.readable(), writable=folder)
    if chosen.calls:
        seccomp.restrict()
