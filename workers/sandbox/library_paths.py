"""The paths that a sandboxed process may read: interpreter, libraries, and what these need of the system."""

import os
import sys
import sysconfig
from functools import cache
from pathlib import Path

SYSTEM = (
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/dev/urandom",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system/cpu",
)
SITES = ("site-packages", "dist-packages")
INSTALLED = ("stdlib", "platstdlib", "purelib", "platlib")


def readable() -> list[Path]:
    """Folders and files, without those that are below another; some may not exist."""
    return list(outermost(installed() | packages()))


@cache
def installed() -> frozenset[Path]:
    known = [*SYSTEM, *map(sysconfig.get_path, INSTALLED)]
    # Other environments, which a .pth file adds. Not the whole path: a checkout may have data in it.
    added = {folder for folder in map(Path, sys.path) if folder.name in SITES}
    prefixes = {Path(sys.base_prefix, "lib"), Path(sys.prefix, "lib")}
    return frozenset({*map(Path, known), *prefixes, *added, compiled_loops()})


def compiled_loops() -> Path:
    """Return where numba keeps what it compiles, if it may not write beside the modules."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or os.path.expanduser("~/.cache/numba"))


@cache
def outermost(known: frozenset[Path]) -> tuple[Path, ...]:
    """Kept, since each job asks: where libraries lie does not change under a process that runs."""
    whole = {path.resolve() for path in known}
    return tuple(sorted(path for path in whole if not whole & set(path.parents)))


def find_exposing(path: Path) -> Path | None:
    """Return the readable path that contains ``path``, or None: keys and uploads must not lie in one."""
    resolved = path.resolve()
    return next((each for each in readable() if resolved.is_relative_to(each)), None)


def packages() -> set[Path]:
    """The folders of the packages that are imported: ours, and plug-ins that are installed where they lie."""
    whole = [module for name, module in list(sys.modules.items()) if "." not in name]
    return {Path(folder) for module in whole for folder in getattr(module, "__path__", ())}
