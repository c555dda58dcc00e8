"""Environments of packages: made by uv, with the library of this service and what the package requires."""

import fcntl
import json
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import Distribution, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

import uv

from anoncup.environments import DESCRIPTION_FILE
from anoncup.errors import InvalidInput, NotFound
from anoncup.plugins import INSTALLED, Package, discover_environments
from anoncup.runner import sandbox
from anoncup.runner.calls import DescribedInterpreter, DescribeJob
from anoncup.runner.client import Runner, RunnerUnavailable
from anoncup.runner.protocol import JobLimits, RunnerError
from app.core import wheels
from app.core.processes import child_process
from app.core.processes.runners import build_environment_options

_START_LIMIT_S, _COMPILATION_LIMIT_S = 120.0, 1800.0
_CHECK_LIMITS = JobLimits(memory_mb=4096, cpu_s=20)
_TEMPORARY_PREFIX = ".new-"
_LIBRARY, _EXTRA = "anoncup", "[score]"
_NAME_PATTERN = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?")


def find_packages(folder: Path) -> tuple[Package, ...]:
    """Return the packages in the environments below a folder."""
    return discover_environments(folder).packages


def find_failure(package: Package, folder: Path) -> str:
    """Import a package in its own interpreter and the sandbox; return why it cannot be used, or ""."""
    if package.broken or not package.environment:
        return package.broken
    try:
        description = _describe(folder.resolve() / package.environment)
    except InvalidInput as problem:
        return str(problem)
    failures = {plugin["name"]: plugin["broken"] for plugin in description["plugins"]}
    return failures.get(package.name, "it is not installed there")


def _run_uv(*arguments: str) -> None:
    """Run uv, which prints its progress and its errors. What it has started ends with it."""
    process = child_process.start(
        [uv.find_uv_bin(), *arguments],
        env=os.environ | {"UV_SYSTEM_CERTS": "1"},
        parent_death_signal=signal.SIGKILL,
    )
    try:
        if process.wait() != 0:
            raise InvalidInput("uv could not make the environment; its messages are above")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _report(step: str) -> None:
    print(step, file=sys.stderr, flush=True)


def add(folder: Path, name: str, requirements: Sequence[str], *, python: str = "") -> list[Package]:
    """Make an environment and return its packages. An older one of the same name is replaced at the end.

    Raises InvalidInput if it cannot be made, if none of its packages can be used, or if another package has
    one of their tracks. If it fails or is interrupted, everything is as before.
    """
    _check_name(name)
    folder.mkdir(parents=True, exist_ok=True)
    with _open_temporary_folder(folder) as parent:
        environment = parent / name
        _install(environment, requirements, python=python or sys.executable)
        _report("reading what the packages add")
        (environment / DESCRIPTION_FILE).write_text(json.dumps(_describe(environment)), "utf-8")
        packages = [package for package in find_packages(parent) if package.environment == name]
        _require_usable(packages)
        _require_new_tracks(packages, folder)
        with _replace(folder / name, environment, replaced=parent / "replaced"):
            # The compiled loops belong to the paths of the modules, which are the final ones now.
            _report("compiling the loops of the library, which takes a minute or more")
            _describe(folder.resolve() / name, preloads=True)
    return packages


@contextmanager
def _open_temporary_folder(folder: Path) -> Iterator[Path]:
    """Make a folder that is removed at the end, or by the next call if this process is killed.

    One process at a time has one; the others wait for it.
    """
    lock = os.open(folder, os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for orphan in folder.glob(f"{_TEMPORARY_PREFIX}*"):
            shutil.rmtree(orphan, ignore_errors=True)
        with tempfile.TemporaryDirectory(
            prefix=_TEMPORARY_PREFIX, dir=folder.resolve(), ignore_cleanup_errors=True
        ) as path:
            yield Path(path)
    finally:
        os.close(lock)


def _require_usable(packages: Sequence[Package]) -> None:
    if all(package.broken for package in packages):
        reasons = "; ".join(f"{package.name}: {package.broken}" for package in packages)
        raise InvalidInput(
            "nothing in this environment can be used: {reason}", reason=reasons or "no package adds a track"
        )


def _require_new_tracks(packages: Sequence[Package], folder: Path) -> None:
    """Raise InvalidInput if a package of another environment or of this interpreter has one of the tracks."""
    environments = {package.environment for package in packages}
    own_packages = [package for package in INSTALLED.packages if not package.environment]
    other_packages = [
        package
        for package in [*own_packages, *find_packages(folder)]
        if package.environment not in environments
    ]
    providers = {part: package for package in other_packages for part in package.parts}
    for part in (part for package in packages for part in package.parts if part in providers):
        raise InvalidInput(
            "the package {package} has the track {track} already",
            package=providers[part].name,
            track=part.removeprefix("tracks."),
        )


def remove(folder: Path, name: str) -> None:
    _check_name(name)
    if not (folder / name / DESCRIPTION_FILE).is_file():
        raise NotFound("there is no environment {name}", name=name)
    with _open_temporary_folder(folder) as parent:  # so that it is removed at once
        (folder / name).rename(parent / name)


def _check_name(name: str) -> None:
    if not _NAME_PATTERN.fullmatch(name):
        raise InvalidInput("a name is small letters and digits, with inner hyphens, dots and underscores")


@contextmanager
def _replace(path: Path, new: Path, *, replaced: Path) -> Iterator[None]:
    """Put a new environment in the place of an older one, which returns if the block fails."""
    if path.exists():
        path.rename(replaced)
    new.rename(path)
    try:
        yield
    except BaseException:
        path.rename(new)
        if replaced.exists():
            replaced.rename(path)
        raise


def _install(environment: Path, requirements: Sequence[str], *, python: str) -> None:
    library = find_library(distribution(_LIBRARY), environment.parent)
    _report("making the environment")
    _run_uv("venv", "--quiet", "--relocatable", "--python", python, str(environment))
    # Together, so that the library's version cannot be changed by a requirement.
    _report("installing the packages")
    _run_uv("pip", "install", "--python", str(environment / "bin/python"), *library, "--", *requirements)


def find_library(installed: Distribution, folder: Path) -> tuple[str, ...]:
    """Return uv's arguments for the library: its checkout, or a wheel packed again into ``folder``."""
    source = json.loads(installed.read_text("direct_url.json") or "{}")
    if source.get("dir_info", {}).get("editable"):
        return "--editable", unquote(urlsplit(source["url"]).path) + _EXTRA
    wheel = wheels.pack(installed)
    (folder / wheel.file).write_bytes(wheel.content)
    return (str(folder / wheel.file) + _EXTRA,)


def _describe(environment: Path, *, preloads: bool = False) -> DescribedInterpreter:
    """Return the description of the packages, with paths relative to the environment where they are in it.

    If it ``preloads``, the interpreter first compiles the library's loops, confined like all later ones.
    """
    options = build_environment_options(
        environment,
        sandbox.get_available(),
        start_limit_s=_COMPILATION_LIMIT_S if preloads else _START_LIMIT_S,
        preloads=preloads,
    )
    runner = Runner(options)
    try:
        description = runner.run(DescribeJob(), _CHECK_LIMITS)
    except RunnerUnavailable as problem:
        raise InvalidInput("{problem}", problem=str(problem)) from None
    except RunnerError:
        raise InvalidInput("the interpreter ended when a package was imported") from None
    finally:
        runner.end()
    description["catalogues"] = [
        [domain, os.path.relpath(path, environment) if Path(path).is_relative_to(environment) else path]
        for domain, path in description["catalogues"]
    ]
    return description
