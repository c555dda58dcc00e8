"""The sandbox of processes that read untrusted files. They may only compute and write their result.

It has two parts that a process cannot undo: Landlock restricts files, ports and signals, and seccomp
restricts system calls. A process that runs as root also becomes an unprivileged user.
"""

import os
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anoncup.runner.sandbox import landlock, library_paths, privileges, seccomp
from anoncup.runner.sandbox.kernel import SandboxError

__all__ = [
    "Sandbox",
    "SandboxError",
    "choose",
    "describe",
    "enter",
    "explain_missing",
    "get_available",
    "library_paths",
    "make_ruleset",
]

LANDLOCK, SECCOMP = "landlock", "seccomp"
REQUIRED, OFF = "required", "off"


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The names of the mechanisms that restrict access to files and system calls; empty if there is none.

    With ``drops_root``, a process that runs as root becomes an unprivileged user if it can.
    """

    file_mechanism: str = ""
    call_mechanism: str = ""
    drops_root: bool = True

    @property
    def is_complete(self) -> bool:
        return bool(self.file_mechanism and self.call_mechanism)

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.file_mechanism, self.call_mechanism))) or "none"


@cache
def get_available() -> Sandbox:
    """Return the mechanisms that this machine supports."""
    return Sandbox(LANDLOCK if landlock.get_abi_version() else "", SECCOMP if seccomp.is_available() else "")


def choose(setting: str) -> Sandbox:
    """Return the sandbox for a child process under ``ANONCUP_SANDBOX``."""
    return Sandbox(drops_root=False) if setting == OFF else get_available()


def explain_missing() -> str:
    """Return why the sandbox is incomplete and what to do."""
    missing = "seccomp is" if get_available().file_mechanism else "Landlock (Linux 5.13 or newer) is"
    return (
        f"the processes that read uploads cannot be sandboxed: {missing} missing or forbidden. "
        "docs/hosting.md says what may forbid it; ANONCUP_SANDBOX=wanted continues without"
    )


def describe(setting: str) -> str:
    """Describe the sandbox of this process's children.

    For a process that runs as root without Landlock, the text also names the children's user.
    """
    mechanisms = choose(setting)
    if mechanisms.file_mechanism or not privileges.is_root():
        return str(mechanisms)
    drops_root = mechanisms.drops_root and privileges.can_become_unprivileged()
    return f"{mechanisms}, {'as an unprivileged user' if drops_root else 'as root'}"


def make_ruleset(mechanisms: Sandbox, readable: Collection[Path] = ()) -> int | None:
    """Return the descriptor of the rules for files, with which processes forked from this one enter.

    ``readable`` are other paths than those of libraries. Making the rules takes longer than everything else,
    so they are made once.
    """
    if not mechanisms.file_mechanism:
        return None
    return landlock.make_ruleset(library_paths.list_readable(readable))


def enter(mechanisms: Sandbox, ruleset: int | None) -> None:
    """Enter the sandbox with this process. It cannot leave it again.

    Open files stay open. The process may read the interpreter and libraries, and write nothing. Raises
    SandboxError if the kernel refuses, or if another thread runs, which would stay outside.
    """
    if not (mechanisms.file_mechanism or mechanisms.call_mechanism or mechanisms.drops_root):
        return
    if len(os.listdir("/proc/self/task")) > 1:
        raise SandboxError("another thread is running")
    privileges.drop(restricts_files=ruleset is not None)
    if ruleset is not None:
        landlock.restrict(ruleset)
    if mechanisms.call_mechanism:
        seccomp.restrict()
