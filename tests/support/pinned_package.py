"""The example track as a package that pins an older pandas and needs a compiled module."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.environments import EXAMPLE_TRACK, PackageEnvironment

COMPILED_MODULE = Path(__file__).parents[1] / "packages/hops"
PINNED_PANDAS = "2.2.3"
_ADD_TIMEOUT_S = 600
UNREACHABLE = ("error sending request", "Failed to fetch", "dns error")
_COMPILED_SHIFT = f'''

def shift(scored: ScoredPlaces) -> float:
    import hops

    assert pd.__version__ == "{PINNED_PANDAS}"
    shifts = scored.release - scored.target.original.places[scored.answer]
    return hops.mean_length(list(map(tuple, shifts.tolist()))) / hypot(SIDE_LENGTH, SIDE_LENGTH)
'''


def write_pinned_track(folder: Path) -> Path:
    """Write the source tree of the package."""
    shutil.copytree(EXAMPLE_TRACK, folder)
    project, steps = folder / "pyproject.toml", folder / "anoncup_places/steps.py"
    pinned = f'dependencies = ["anoncup[score]", "anoncup-test-hops", "pandas=={PINNED_PANDAS}"]'
    project.write_text(project.read_text().replace('dependencies = ["anoncup[score]"]', pinned))
    steps.write_text(steps.read_text() + _COMPILED_SHIFT)
    plugin = folder / "anoncup_places/__init__.py"
    plugin.write_text(plugin.read_text() + "print('a package may print')\n")
    return folder


def add_pinned_package(service: PackageEnvironment, folder: Path, data: Path) -> str:
    """Build the package and give it an environment; skip without a compiler or a registry."""
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    module = Path(shutil.copytree(COMPILED_MODULE, folder / "hops"))
    completed = _add_package(service, data, "places", write_pinned_track(folder / "pinned"), module)
    skip_without_registry(completed)
    assert "compiling the loops" in completed.stderr
    refused = _add_package(service, data, "again", EXAMPLE_TRACK)
    assert "the package anoncup-places has the track places already" in refused.stderr
    assert [path.name for path in (data / "packages").iterdir()] == ["places"]
    return completed.stdout


def _add_package(
    service: PackageEnvironment, data: Path, name: str, *requirements: Path
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [
            service.python_path,
            "-P",
            "-m",
            "anoncup.cli",
            "packages",
            "add",
            name,
            *requirements,
            "--data",
            data,
        ],
        env=service.variables,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=_ADD_TIMEOUT_S,
    )


def skip_without_registry(completed: "subprocess.CompletedProcess[str]") -> None:
    """Require that a command that installs packages succeeded; skip if it reached no registry."""
    if completed.returncode != 0 and any(text in completed.stderr for text in UNREACHABLE):
        pytest.skip(f"needs a package registry: {completed.stderr.strip()[-200:]}")
    assert completed.returncode == 0, completed.stdout + completed.stderr
