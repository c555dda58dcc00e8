"""A virtual environment in which tests build, install, upgrade and uninstall the example packages."""

import json
import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE_PACKAGE, EXAMPLE_TRACK, EXAMPLE_CUP, EXAMPLE_CUP_2024 = (
    EXAMPLES / name for name in ("plugin", "track", "cup2026", "cup2024")
)
PACKAGE_NAME = "anoncup-example"


def build_wheel(project: Path, folder: Path) -> Path:
    """Build the wheel of a project into an empty folder and return its path."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=project, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def read_wheel(wheel: Path | IO[bytes]) -> dict[str, list[bytes]]:
    """Return the lines of each file; those of the list of files are sorted."""
    with ZipFile(wheel) as archive:
        lines = {name: archive.read(name).splitlines() for name in archive.namelist()}
    return {name: sorted(lines[name]) if name.endswith("/RECORD") else lines[name] for name in lines}


@dataclass(frozen=True)
class PackageEnvironment:
    """A virtual environment with this checkout's packages and others that are installed into it."""

    folder: Path

    @property
    def python_path(self) -> Path:
        return self.folder / "bin/python"

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables of a program in it: only the paths of this process."""
        return {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}

    def run(self, *arguments: str | Path, cwd: Path) -> "subprocess.CompletedProcess[str]":
        program = [self.python_path, "-P", *arguments]
        return subprocess.run(
            program, cwd=cwd, env={}, capture_output=True, encoding="utf-8", check=False, timeout=120
        )

    def run_anoncup(self, *arguments: str, cwd: Path) -> Any:
        """Run a command and return its JSON output."""
        completed = self.run("-m", "anoncup.cli", *arguments, "--json", cwd=cwd)
        assert completed.returncode == 0, completed.stdout + completed.stderr
        return json.loads(completed.stdout)

    def install(self, example: Path, wheels: Path) -> None:
        """Build a wheel from the folder and install it without a network."""
        shutil.rmtree(wheels, ignore_errors=True)
        self.run_pip("install", "--no-deps", "--no-index", build_wheel(example, wheels))

    def upgrade(self, example: Path, wheels: Path, version: str) -> None:
        """Install the same package with another version number."""
        project = example / "pyproject.toml"
        lines = project.read_text().splitlines()
        new_lines = [f'version = "{version}"' if line.startswith("version = ") else line for line in lines]
        project.write_text("\n".join(new_lines) + "\n")
        self.install(example, wheels)

    def uninstall(self) -> None:
        self.run_pip("uninstall", "-y", PACKAGE_NAME)

    def run_pip(self, *arguments: str | Path) -> None:
        pip: list[str | Path] = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            self.python_path,
            "-q",
            "--disable-pip-version-check",
        ]
        subprocess.run([*pip, *arguments], check=True, capture_output=True)


@pytest.fixture
def environment(tmp_path: Path) -> PackageEnvironment:
    return create_environment(tmp_path / "environment")


def create_environment(folder: Path) -> PackageEnvironment:
    venv.create(folder, symlinks=True)
    new_environment = PackageEnvironment(folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    site_packages = Path(pytest.__file__).parents[1]
    (packages / "beside.pth").write_text(f"import site; site.addsitedir({str(site_packages)!r})\n")
    return new_environment


@pytest.fixture
def example(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE_PACKAGE, tmp_path / "example"))
