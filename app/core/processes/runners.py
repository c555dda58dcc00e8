"""The runners of this process: one for this interpreter, and one for each package with its own."""

import sys
from pathlib import Path
from threading import Lock
from typing import Any

import structlog

from anoncup.environments import DESCRIPTION_FILE, FOLDER_VARIABLE, find_environments_folder
from anoncup.plugins import INSTALLED, Package, find_installed_version
from anoncup.runner import sandbox
from anoncup.runner.client import Runner, RunnerOptions
from anoncup.runner.sandbox import Sandbox
from app.config import Settings

log = structlog.get_logger(__name__)

_runners: dict[str, tuple[Runner, tuple[object, ...]]] = {}
"""Runner and installed packages by environment; "" is this interpreter."""
_lock = Lock()


def get_runner(settings: Settings, package: Package | None) -> Runner:
    """Return the runner of a package; one with packages that were replaced since its start is ended."""
    environment, installation = _identify_installation(package)
    with _lock:
        runner, known_installation = _runners.get(environment, (None, ()))
        if runner is not None and known_installation == installation:
            return runner
        new_runner = Runner(_build_options(settings, environment))
        _runners[environment] = new_runner, installation
    if runner is not None:
        runner.end()  # waits if it is just being started, so nobody may wait for it
    return new_runner


def is_outdated(package: Package | None) -> bool:
    """Return whether packages were replaced or removed since the runner of a package has started."""
    environment, installation = _identify_installation(package)
    with _lock:
        return environment not in _runners or _runners[environment][1] != installation


def _identify_installation(package: Package | None) -> tuple[str, tuple[object, ...]]:
    """Return the environment of a package, and values that change when packages there do."""
    if package is None or not package.environment:
        own_packages = [package for package in INSTALLED.packages if not package.environment]
        return "", tuple(map(find_installed_version, own_packages))
    try:
        status = (find_environments_folder() / package.environment / DESCRIPTION_FILE).stat()
    except FileNotFoundError:
        return package.environment, ()
    return package.environment, (status.st_ino, status.st_mtime_ns)


def _build_options(settings: Settings, environment: str) -> RunnerOptions:
    mechanisms, folder = sandbox.choose(settings.sandbox), find_environments_folder().resolve()
    limits: dict[str, Any] = {"jobs_per_child": settings.jobs_per_child, "idle_s": settings.runner_idle_s}
    if environment:
        return build_environment_options(folder / environment, mechanisms, shows_errors=False, **limits)
    return RunnerOptions(sys.executable, mechanisms, variables={FOLDER_VARIABLE: str(folder)}, **limits)


def build_environment_options(environment: Path, mechanisms: Sandbox, **options: Any) -> RunnerOptions:
    """Return options with the interpreter of an environment and its compiled loops. It sees no other one."""
    loops, no_packages = str(environment / "loops"), str(environment / "no-packages")
    variables = {"NUMBA_CACHE_DIR": loops, FOLDER_VARIABLE: no_packages}
    return RunnerOptions(str(environment / "bin/python"), mechanisms, variables=variables, **options)


def end_all() -> None:
    """End the runners of this process. A later job starts another one."""
    with _lock:
        runners = [runner for runner, _ in _runners.values()]
        _runners.clear()
    for runner in runners:
        runner.end()


def announce_sandbox(setting: str) -> None:
    """Log the sandbox at the start of a process, as a warning if it is incomplete."""
    is_complete = sandbox.choose(setting).is_complete
    advice = "ANONCUP_SANDBOX=off" if setting == sandbox.OFF else sandbox.explain_missing()
    (log.info if is_complete else log.warning)(
        "sandbox",
        standing=sandbox.describe(setting),
        setting=setting,
        advice=None if is_complete else advice,
    )
