"""The example package in an environment of its own: built, installed, upgraded, taken away."""

import json
import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE, TRACK = EXAMPLES / "plugin", EXAMPLES / "track"
NAME = "anoncup-example"


@dataclass(frozen=True)
class Environment:
    """anoncup's own packages as they are here, and what is installed besides."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin/python"

    @property
    def variables(self) -> dict[str, str]:
        """Of a program that runs there: nothing of this process's but where programs are."""
        return {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}

    def run(self, *words: str | Path, cwd: Path) -> "subprocess.CompletedProcess[str]":
        program = [self.python, "-P", *words]
        return subprocess.run(
            program, cwd=cwd, env={}, capture_output=True, encoding="utf-8", check=False, timeout=120
        )

    def anoncup(self, *words: str, cwd: Path) -> Any:
        """What a command answers in JSON."""
        done = self.run("-m", "anoncup.cli", *words, "--json", cwd=cwd)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def install(self, example: Path, wheels: Path) -> None:
        """Built from its folder, and installed as an organizer would, without a network."""
        shutil.rmtree(wheels, ignore_errors=True)
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)]
        subprocess.run(build, cwd=example, check=True, capture_output=True)
        self.pip("install", "--no-deps", "--no-index", *wheels.glob("*.whl"))

    def upgrade(self, example: Path, wheels: Path, version: str) -> None:
        """To the same package under another number."""
        project = example / "pyproject.toml"
        lines = project.read_text().splitlines()
        told = [f'version = "{version}"' if line.startswith("version = ") else line for line in lines]
        project.write_text("\n".join(told) + "\n")
        self.install(example, wheels)

    def uninstall(self) -> None:
        self.pip("uninstall", "-y", NAME)

    def pip(self, *words: str | Path) -> None:
        pip: list[str | Path] = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            self.python,
            "-q",
            "--disable-pip-version-check",
        ]
        subprocess.run([*pip, *words], check=True, capture_output=True)


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    folder = tmp_path / "environment"
    venv.create(folder, symlinks=True)
    made = Environment(folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    ours = Path(pytest.__file__).parents[1]
    (packages / "beside.pth").write_text(f"import site; site.addsitedir({str(ours)!r})\n")
    return made


@pytest.fixture
def example(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "example"))
