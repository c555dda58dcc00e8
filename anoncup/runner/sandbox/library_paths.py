"""The paths that a sandboxed process may read: interpreter, libraries, and system files that these need."""

import os
import pkgutil
import sys
import sysconfig
from collections.abc import Collection
from functools import cache
from pathlib import Path

_SYSTEM_PATHS = (
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
_SITE_FOLDER_NAMES = ("site-packages", "dist-packages")
_SYSCONFIG_NAMES = ("stdlib", "platstdlib", "purelib", "platlib")


def list_readable(more: Collection[Path] = ()) -> list[Path]:
    """Return folders and files, without those below another one. Some may not exist."""
    return list(_remove_nested(_find_installed() | {*list_local_modules().values(), *more}))


def list_local_modules() -> dict[str, Path]:
    """Return the modules and packages in folders that are on the path, but not of an interpreter.

    They are ours and those of editable installs. The folders may also contain data, which is not readable.
    """
    return {
        module.name: Path(module.module_finder.path, module.name if module.ispkg else f"{module.name}.py")  # type: ignore[union-attr]
        for module in pkgutil.iter_modules([folder for folder in sys.path if _is_local(folder)])
    }


def _is_local(folder: str) -> bool:
    installed = _find_installed()
    path = Path(folder)
    return path.is_dir() and not installed & {path, *path.parents}


@cache
def _find_installed() -> frozenset[Path]:
    fixed_paths = [*_SYSTEM_PATHS, *map(sysconfig.get_path, _SYSCONFIG_NAMES)]
    # Other environments that a .pth file adds. Not all of sys.path: a checkout may contain data.
    site_folders = {folder for folder in map(Path, sys.path) if folder.name in _SITE_FOLDER_NAMES}
    prefixes = {Path(sys.base_prefix, "lib"), Path(sys.prefix, "lib")}
    return frozenset({*map(Path, fixed_paths), *prefixes, *site_folders, _get_numba_cache()})


def _get_numba_cache() -> Path:
    """Return the folder of numba's cache, which numba uses if it cannot write next to the modules."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or os.path.expanduser("~/.cache/numba"))


@cache
def _remove_nested(paths: frozenset[Path]) -> tuple[Path, ...]:
    """Return the resolved paths without those below another one.

    Cached because every job needs it, and the paths of libraries do not change while a process runs.
    """
    resolved = {path.resolve() for path in paths}
    return tuple(sorted(path for path in resolved if not resolved & set(path.parents)))


def find_exposing(path: Path) -> Path | None:
    """Return the readable path that contains ``path``, or None. Keys and uploads must not be in one."""
    resolved = path.resolve()
    return next(
        (readable_path for readable_path in list_readable() if resolved.is_relative_to(readable_path)), None
    )
