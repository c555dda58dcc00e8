"""What a walled process may still read: the interpreter, the libraries, and what they ask the system for."""

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
INSTALLED = ("stdlib", "platstdlib", "purelib", "platlib")


def readable() -> list[Path]:
    """Folders and files, without those that are below another; some may not exist."""
    return list(outermost(installed() | packages()))


@cache
def installed() -> frozenset[Path]:
    known = [*SYSTEM, *map(sysconfig.get_path, INSTALLED)]
    return frozenset({*map(Path, known), Path(sys.base_prefix, "lib"), Path(sys.prefix, "lib")})


@cache
def outermost(known: frozenset[Path]) -> tuple[Path, ...]:
    """Kept, since each job asks: where libraries lie does not change under a process that runs."""
    whole = {path.resolve() for path in known}
    return tuple(sorted(path for path in whole if not whole & set(path.parents)))


def exposing(kept: Path) -> Path | None:
    """Of what may be read, that in which ``kept`` lies, as no key and no release must."""
    found = kept.resolve()
    return next((path for path in readable() if found.is_relative_to(path)), None)


def packages() -> set[Path]:
    """The folders of the packages that are imported: ours, and plug-ins that are installed where they lie."""
    whole = [module for name, module in list(sys.modules.items()) if "." not in name]
    return {Path(folder) for module in whole for folder in getattr(module, "__path__", ())}
