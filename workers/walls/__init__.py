"""What the scoring child may still do once it is to read strangers' files: compute, and answer.

Two walls, neither of which needs privileges or can be taken down again: Landlock for files and ports, and
seccomp for what may be asked of the kernel. Where Landlock is missing, bubblewrap stands in for it.
"""

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import structlog

from workers.walls import bubble, landlock, reach, scratch, seccomp
from workers.walls.kernel import WallRefused

__all__ = ["WallRefused", "Walls", "advice", "announce", "command", "found", "reach", "stand", "wanted"]

log = structlog.get_logger(__name__)

LANDLOCK, BUBBLEWRAP, SECCOMP = "landlock", "bubblewrap", "seccomp"
CAP_DAC_READ_SEARCH = 2
CAPABILITY_VERSION_3 = 0x20080522
PR_SET_NO_NEW_PRIVS = 38


@dataclass(frozen=True, slots=True)
class Walls:
    """``files``: what keeps it from files; ``calls``: what keeps it from other calls. Empty: nothing does."""

    files: str = ""
    calls: str = ""

    @property
    def whole(self) -> bool:
        return bool(self.files and self.calls)

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.files, self.calls))) or "none"


@cache
def found() -> Walls:
    """What can be built on this machine; it is asked of the kernel, and nothing is built."""
    files = LANDLOCK if landlock.version() else BUBBLEWRAP if bubble.works() else ""
    return Walls(files, SECCOMP if seccomp.works() else "")


def wanted(setting: str) -> Walls:
    """What a child is to build. It ends if it cannot: what was found once is there."""
    return Walls() if setting == "off" else found()


def command(inside: Sequence[str], chosen: Walls, *, folder: Path) -> list[str]:
    """What starts ``inside`` so that it can stand behind the ``chosen`` walls."""
    return bubble.command(inside, folder=folder) if chosen.files == BUBBLEWRAP else list(inside)


def advice() -> str:
    """Why walls do not stand, and what can be done."""
    missing = "seccomp is" if found().files else "Landlock (Linux 5.13 or newer) and bubblewrap are"
    return (
        f"no walls can stand around the scoring process: {missing} missing or forbidden. "
        "docs/hosting.md says what may forbid them; ANONCUP_WALLS=wanted does without"
    )


def announce(setting: str) -> None:
    """Say once, in the log, which walls stand."""
    standing = wanted(setting)
    (log.info if standing.whole else log.warning)(
        "walls", standing=str(standing), setting=setting, advice=None if standing.whole else advice()
    )


def stand(chosen: Walls, *, folder: Path) -> None:
    """Build the ``chosen`` walls around this process: for good, and for all that it starts.

    It keeps what it has open, may read the interpreter and the libraries, and write to ``folder``. That of
    bubblewrap stands already, since it was started.
    WallRefused: the kernel does not do it, or a thread runs already, which would stay outside.
    """
    if chosen == Walls():
        return
    if len(os.listdir("/proc/self/task")) > 1:
        raise WallRefused("another thread runs already")
    if chosen.files == LANDLOCK:
        scratch.mount(folder)  # where it may not, the folder has no end of its own
    give_up_privileges()
    if chosen.files == LANDLOCK:
        landlock.restrict(reach.readable(), written=folder)
    if chosen.calls == SECCOMP:
        seccomp.restrict()


def give_up_privileges() -> None:
    """Of root's, keep what reads a library in somebody's home; nothing that is started gets any."""
    libc = ctypes.CDLL(None, use_errno=True)
    header, held = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    libc.capget(header, held)
    # Of those that are permitted; in a namespace of users, everybody has them.
    kept = held[1] & 1 << CAP_DAC_READ_SEARCH if os.geteuid() == 0 else 0
    if libc.capset(header, (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0)) != 0:
        raise WallRefused("capset")
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise WallRefused("no_new_privs")
