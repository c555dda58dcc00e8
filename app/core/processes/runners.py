"""The runners of this process: one for this interpreter, and one for each package with its own."""

import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import structlog

from anoncup.environments import DESCRIPTION_FILE, FOLDER_VARIABLE, find_environments_folder
from anoncup.plugins import INSTALLED, find_installed_version
from anoncup.runner import sandbox
from anoncup.runner.client import Runner, RunnerOptions
from app.config import Settings

log = structlog.get_logger(__name__)

_runners: dict[str, tuple[Runner, tuple[object, ...]]] = {}
"""Runner and installed packages by environment; "" is this interpreter."""
_lock = Lock()


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The interpreter of an environment by its name, or this one if the name is empty."""

    environment: str

    @property
    def folder(self) -> Path:
        return find_environments_folder().resolve() / self.environment

    @property
    def python(self) -> str:
        return str(self.folder / "bin/python") if self.environment else sys.executable

    def identify_installation(self) -> tuple[object, ...]:
        """Return values that change when packages of the interpreter are replaced or removed."""
        if not self.environment:
            own_packages = [package for package in INSTALLED.packages if not package.environment]
            return tuple(map(find_installed_version, own_packages))
        try:
            status = (self.folder / DESCRIPTION_FILE).stat()
        except FileNotFoundError:
            return ()
        return status.st_ino, status.st_mtime_ns

    @property
    def variables(self) -> dict[str, str]:
        """Variables for libraries: the folders of compiled loops and of environments; a package has none."""
        if not self.environment:
            return {FOLDER_VARIABLE: str(self.folder)}
        return {
            "NUMBA_CACHE_DIR": str(self.folder / "loops"),
            FOLDER_VARIABLE: str(self.folder / "no-packages"),
        }


def get_runner(settings: Settings, environment: str) -> Runner:
    """Return the runner of an environment; one with packages that were replaced since its start is ended."""
    interpreter = Interpreter(environment)
    installation = interpreter.identify_installation()
    with _lock:
        runner, known_installation = _runners.get(environment, (None, ()))
        if runner is not None and known_installation == installation:
            return runner
        options = RunnerOptions(
            interpreter.python,
            sandbox.choose(settings.sandbox),
            jobs_per_child=settings.jobs_per_child,
            idle_s=settings.runner_idle_s,
            variables=interpreter.variables,
        )
        new_runner = Runner(options)
        _runners[environment] = new_runner, installation
    if runner is not None:
        runner.end()  # waits if it is just being started, so nobody may wait for it
    return new_runner


def is_outdated(environment: str) -> bool:
    """Return whether packages were replaced or removed since the runner of an environment has started."""
    with _lock:
        _, known_installation = _runners.get(environment, (None, None))
    return known_installation != Interpreter(environment).identify_installation()


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
