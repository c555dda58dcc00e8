"""Call functions of packages that have an environment of their own (``anoncup.runner.calls``)."""

import pickle
from functools import lru_cache
from typing import Any

from anoncup.competition.required_packages import find_package_change
from anoncup.errors import PackageChangeError
from anoncup.plugins import INSTALLED
from anoncup.runner.calls import READ_SETTINGS, CallJob, OpaqueSettings, find_kind
from anoncup.tracks.descriptions import RemoteFunction, use_caller
from app.config import get_settings
from app.core.processes import parsing


def enable() -> None:
    """Let this process call functions of packages."""
    use_caller(_call)


def _call(function: RemoteFunction, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a function of a track in the track's environment and return the result."""
    content = pickle.dumps((arguments, keywords))
    result = _run_cached(function, content)
    return OpaqueSettings(function.path, content) if find_kind(function.path) == READ_SETTINGS else result


@lru_cache(maxsize=512)
def _run_cached(function: RemoteFunction, content: bytes) -> Any:
    """Run a call. A competition file asks for the same things again and again."""
    packages = [package for package in INSTALLED.packages if package.environment == function.environment]
    try:
        job = CallJob(path=function.path, arguments=content)
        return parsing.run_sandboxed(job, get_settings(), packages[0])
    except Exception:
        if change := next(filter(None, map(find_package_change, packages)), None):
            raise PackageChangeError(change) from None  # if one has changed, that is the reason
        raise
