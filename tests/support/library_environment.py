"""Environments with the wheel and its dependencies only: for commands of a service, or also to score."""

import shutil
import subprocess
import venv
from collections.abc import Iterable, Mapping
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from tests.support.environments import build_wheel

ROOT = Path(__file__).parents[2]
KERNELS = "anoncup/geometry/kernels"


def find_dependencies(name: str, extra: str = "") -> set[str]:
    """Return the names of the distributions that one needs, itself included."""
    visited: set[tuple[str, str]] = set()
    pending = [(name, "")] + [(name, extra)] * bool(extra)
    while pending:
        if (current := pending.pop()) in visited:
            continue
        visited.add(current)
        for line in distribution(current[0]).requires or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": current[1]}):
                pending += [(requirement.name, extra) for extra in ("", *requirement.extras)]
    return {name for name, _ in visited}


def link_distributions(names: Iterable[str], folder: Path) -> None:
    """Link the top-level files and folders of installed distributions into a folder."""
    folder.mkdir()
    for name in names:
        for file in distribution(name).files or ():
            link = folder / file.parts[0]
            if file.parts[0] not in ("..", "__pycache__") and not link.exists():
                link.symlink_to(Path(str(distribution(name).locate_file(file.parts[0]))))


def create_library_environment(folder: Path, wheel: Path, names: Iterable[str]) -> Path:
    """Create an environment with the wheel and these distributions, and return its Python."""
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    link_distributions(set(names) - {"anoncup"}, folder / "linked")
    (packages / "linked.pth").write_text(f"{folder / 'linked'}\n")
    ZipFile(wheel).extractall(packages)
    copy_compiled_loops(packages)
    return folder / "bin/python"


def copy_compiled_loops(packages: Path) -> None:
    """Copy numba's cache from the checkout. It is valid for files of the same time and size."""
    for source in (ROOT / KERNELS).glob("*.py"):
        shutil.copystat(source, packages / KERNELS / source.name)
    cache = Path(KERNELS, "__pycache__")
    unfinished_or_python = shutil.ignore_patterns("*.pyc*", "*.tmp.*")
    shutil.copytree(ROOT / cache, packages / cache, ignore=unfinished_or_python)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def light_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the commands that use a service."""
    folder = tmp_path_factory.mktemp("light")
    return create_library_environment(folder, wheel, find_dependencies("anoncup"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the extra ``score`` and the notebook's plotting packages."""
    dependencies = set().union(*map(find_dependencies, ("anoncup", "matplotlib", "jinja2")))
    dependencies |= find_dependencies("anoncup", "score")
    return create_library_environment(tmp_path_factory.mktemp("environment"), wheel, dependencies)


def run_python(
    python: Path, *arguments: str, folder: Path, env: Mapping[str, str] | None = None, typed: str = ""
) -> str:
    completed = subprocess.run(
        [python, "-P", *arguments],
        cwd=folder,
        env={"MPLBACKEND": "agg", **(env or {})},
        input=typed,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return completed.stdout
