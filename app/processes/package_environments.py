"""Environments of packages: made by uv, with the library of this service and what the package requires."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit
from zipfile import ZipFile

import uv

from anoncup.environments import DESCRIPTION_FILE, FOLDER_VARIABLE
from anoncup.errors import InvalidInput, NotFound
from anoncup.plugins import Package, discover_environments

_LIBRARY, _EXTRA = "anoncup", "[score]"
_NAME_PATTERN = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?")
_NOT_IN_WHEELS = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
"""Files that an installer adds to the metadata of a wheel, or writes anew."""
_DESCRIBE = (
    "import json; from anoncup.plugins import describe_interpreter; print(json.dumps(describe_interpreter()))"
)
_COMPILE_LOOPS = "from anoncup.geometry import kernels; kernels.warm_scoring(); kernels.warm_bounds()"


def find_packages(folder: Path) -> tuple[Package, ...]:
    """Return the packages in the environments below a folder."""
    return discover_environments(folder).packages


def add(folder: Path, name: str, requirements: Sequence[str], *, python: str = "") -> list[Package]:
    """Make an environment and return its packages. An older one of the same name is replaced at the end.

    Raises InvalidInput if it cannot be made, or if none of its packages can be used.
    """
    _check_name(name)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder, ignore_cleanup_errors=True) as parent:
        environment = Path(parent, name).resolve()
        _install(environment, requirements, python=python or sys.executable)
        description = _describe(environment)
        (environment / DESCRIPTION_FILE).write_text(json.dumps(description), "utf-8")
        packages = [package for package in find_packages(Path(parent)) if package.environment == name]
        if all(package.broken for package in packages):
            reasons = "; ".join(f"{package.name}: {package.broken}" for package in packages)
            raise InvalidInput(
                "nothing in this environment can be used: {reason}",
                reason=reasons or "no package adds a track",
            )
        _replace(folder / name, environment, removed=Path(parent, "removed"))
    # The compiled loops belong to the paths of the modules, which are the final ones now.
    _run_python(folder / name, _COMPILE_LOOPS)
    return packages


def remove(folder: Path, name: str) -> None:
    _check_name(name)
    if not (folder / name / DESCRIPTION_FILE).is_file():
        raise NotFound("there is no environment {name}", name=name)
    shutil.rmtree(folder / name)


def _check_name(name: str) -> None:
    if not _NAME_PATTERN.fullmatch(name):
        raise InvalidInput("a name is small letters and digits, with inner hyphens, dots and underscores")


def _replace(path: Path, new: Path, *, removed: Path) -> None:
    if path.exists():
        path.rename(removed)
    new.rename(path)


def _install(environment: Path, requirements: Sequence[str], *, python: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        library = find_library(distribution(_LIBRARY), Path(folder))
        _run_uv("venv", "--relocatable", "--python", python, str(environment))
        # Together, so that the library's version cannot be changed by a requirement.
        interpreter = str(environment / "bin/python")
        _run_uv("pip", "install", "--python", interpreter, *library, "--", *requirements)


def find_library(installed: Distribution, folder: Path) -> tuple[str, ...]:
    """Return uv's arguments for the library: its checkout, or a wheel packed again into ``folder``."""
    source = json.loads(installed.read_text("direct_url.json") or "{}")
    if source.get("dir_info", {}).get("editable"):
        return "--editable", unquote(urlsplit(source["url"]).path) + _EXTRA
    wheel = folder / f"{_LIBRARY}-{installed.version}-py3-none-any.whl"
    files = [
        file
        for file in installed.files or ()
        if ".." not in file.parts and file.suffix != ".pyc" and file.name not in _NOT_IN_WHEELS
    ]
    (record,) = {f"{file.parts[0]}/RECORD" for file in files if file.parts[0].endswith(".dist-info")}
    with ZipFile(wheel, "w") as archive:
        for file in files:
            archive.write(str(file.locate()), str(file))
        archive.writestr(record, "".join(f"{file},,\n" for file in [*files, record]))
    return (str(wheel) + _EXTRA,)


def _describe(environment: Path) -> dict[str, object]:
    """Return the description of the packages, with paths relative to the environment where they are in it."""
    description: dict[str, object] = json.loads(_run_python(environment, _DESCRIBE))
    catalogues = description["catalogues"]
    if isinstance(catalogues, list):
        description["catalogues"] = [
            [domain, os.path.relpath(path, environment) if Path(path).is_relative_to(environment) else path]
            for domain, path in catalogues
        ]
    return description


def _run_uv(*arguments: str) -> None:
    _run([uv.find_uv_bin(), "--quiet", *arguments], os.environ | {"UV_SYSTEM_CERTS": "1"})


def _run_python(environment: Path, code: str) -> str:
    variables = {
        "NUMBA_CACHE_DIR": str(environment.resolve() / "loops"),
        FOLDER_VARIABLE: str(environment.resolve() / "no-packages"),
    }
    return _run([str(environment.resolve() / "bin/python"), "-P", "-X", "utf8", "-c", code], variables)


def _run(command: Sequence[str], variables: "os._Environ[str] | dict[str, str]") -> str:
    completed = subprocess.run(  # noqa: S603  # an operator's command, without a shell
        command, env=dict(variables), capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    if completed.returncode != 0:
        raise InvalidInput("{problem}", problem=completed.stderr.strip()[-2000:])
    return completed.stdout
