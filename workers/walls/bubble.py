"""Bubblewrap, where Landlock is missing: a process that finds only its own files, network and processes.

It stands from the start, so a child gets a copy of the compiled loops, and the cache itself is filled before.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from workers.walls import reach

APART = (
    "--die-with-parent",
    "--new-session",
    "--unshare-user-try",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--cap-drop",
    "ALL",
)
COPIED = "kernels"
"""In the child's folder: the copy of the compiled loops."""


@cache
def works() -> bool:
    """Whether it is installed, and something lets us: a process is started in it."""
    if shutil.which("bwrap") is None:
        return False
    inside = [sys.executable, "-I", "-S", "-c", ""]
    started = subprocess.run([*around(), *inside], capture_output=True, check=False)  # noqa: S603  # our own
    return started.returncode == 0


def command(inside: Sequence[str], *, folder: Path) -> list[str]:
    """What runs ``inside`` where it finds only ``folder`` to write to."""
    copied = copy_of_loops(folder)
    own = ["--bind", str(folder), str(folder)]
    if copied is not None:
        own += ["--bind", str(folder / COPIED), str(copied)]
    return [*around(*own), *inside]


def around(*own: str) -> list[str]:
    found = [*reach.SYSTEM, *map(str, [*reach.readable(), *interpreter()])]
    read = [word for path in found for word in ("--ro-bind-try", path, path)]
    sealed = ["--remount-ro", "/dev", "--remount-ro", "/"]
    return [
        shutil.which("bwrap") or "bwrap",
        *APART,
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        *read,
        *own,
        *sealed,
        "--",
    ]


def interpreter() -> set[Path]:
    """The program itself, by all its names, and what tells it where its libraries are."""
    program = Path(sys.executable)
    return {program.parent, program.resolve(), Path(sys.base_prefix, "bin"), Path(sys.prefix, "pyvenv.cfg")}


def copy_of_loops(folder: Path) -> Path | None:
    """Where the compiled loops lie, with a copy of them in ``folder``; None if they lie nowhere."""
    found = loops()
    if found is not None:
        shutil.copytree(found, folder / COPIED)
    return found


@cache
def loops() -> Path | None:
    """Where numba keeps them, after they have been compiled, once, outside."""
    program = "from app.scoring import kernels; kernels.load()"
    subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, check=False)  # noqa: S603
    named = os.environ.get("NUMBA_CACHE_DIR")
    package = find_spec("app.scoring.kernels")
    beside = package and package.origin and Path(package.origin).parent / "__pycache__"
    kept = Path(named) if named else beside
    return kept if kept and kept.is_dir() else None
