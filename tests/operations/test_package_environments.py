"""The library is installed into environments from the wheel that the service was installed from."""

import os
import signal
import subprocess
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
import uv

from app.operations.package_environments import find_library
from tests.support.environments import build_wheel, read_wheel
from tests.support.pinned_package import skip_without_registry
from tests.support.wait import TIMEOUT_S, is_running, poll_until

ROOT = Path(__file__).parents[2]


def test_wheel_is_packed_again_from_its_installed_files(tmp_path: Path) -> None:
    built = build_wheel(ROOT, tmp_path / "built")
    ZipFile(built).extractall(tmp_path / "installed")
    (metadata,) = (tmp_path / "installed").glob("*.dist-info")
    (tmp_path / "packed").mkdir()
    (wheel,) = find_library(Distribution.at(metadata), tmp_path / "packed")
    assert read_wheel(Path(wheel.removesuffix("[score]"))) == read_wheel(built)
    install = [uv.find_uv_bin(), "pip", "install", "-q", "--offline", "--no-deps", "--target"]
    subprocess.run([*install, tmp_path / "target", wheel], check=True, capture_output=True)
    assert (tmp_path / "target/anoncup/plugins.py").read_bytes() == (ROOT / "anoncup/plugins.py").read_bytes()


def test_checkout_is_installed_editable(tmp_path: Path) -> None:
    assert find_library(distribution("anoncup"), tmp_path) == ("--editable", f"{ROOT}[score]")


BLOCKED_PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "blocked"
dynamic = ["version"]
"""
BLOCKED_BACKEND = """
import os, time
from pathlib import Path
def get_requires_for_build_wheel(settings=None):
    Path(__file__).with_name("started").write_text(str(os.getpid()))
    time.sleep(600)
"""


def interrupt_build(data: Path, number: signal.Signals) -> tuple[int, str, int]:
    """Send a signal while uv builds the package; return status, messages, and the process of the build."""
    started = data / "blocked/started"
    started.unlink(missing_ok=True)
    command = [sys.executable, "-P", "-m", "anoncup.cli", "packages", "add", "blocked", "./blocked"]
    process = subprocess.Popen(
        [*command, "--data", str(data)], cwd=data, stderr=subprocess.PIPE, encoding="utf-8"
    )
    assert poll_until(lambda: process.poll() is not None or bool(started.exists() and started.read_text()))
    if process.poll() is None:
        process.send_signal(number)
    _, messages = process.communicate(timeout=TIMEOUT_S)
    if not started.exists():
        skip_without_registry(subprocess.CompletedProcess((), process.returncode, "", messages))
    return process.returncode, messages, int(started.read_text())


@pytest.mark.full
def test_interrupted_addition_leaves_everything_as_before(tmp_path: Path) -> None:
    for name, text in {"pyproject.toml": BLOCKED_PROJECT, "backend.py": BLOCKED_BACKEND}.items():
        (tmp_path / "blocked").mkdir(exist_ok=True)
        (tmp_path / "blocked" / name).write_text(text)
    earlier = tmp_path / "packages/blocked/package.json"
    earlier.parent.mkdir(parents=True)
    earlier.write_text("{}")
    status, _, build_pid = interrupt_build(tmp_path, signal.SIGKILL)
    os.kill(build_pid, signal.SIGKILL)  # uv ended with its parent, without ending its own child
    assert status == -signal.SIGKILL
    status, messages, build_pid = interrupt_build(tmp_path, signal.SIGTERM)
    assert (status, "everything is as before" in messages) == (130, True)
    assert poll_until(lambda: not is_running(build_pid))
    assert list((tmp_path / "packages").rglob("*")) == [earlier.parent, earlier]
