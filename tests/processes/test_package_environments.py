"""The library is installed into environments from the wheel that the service was installed from."""

import subprocess
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

import uv

from app.processes.package_environments import find_library
from tests.support.environments import build_wheel

ROOT = Path(__file__).parents[2]


def read_files(wheel: Path) -> dict[str, bytes]:
    with ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


def test_wheel_is_packed_again_from_its_installed_files(tmp_path: Path) -> None:
    built = build_wheel(ROOT, tmp_path / "built")
    ZipFile(built).extractall(tmp_path / "installed")
    (metadata,) = (tmp_path / "installed").glob("*.dist-info")
    (tmp_path / "packed").mkdir()
    (wheel,) = find_library(Distribution.at(metadata), tmp_path / "packed")
    assert read_files(Path(wheel.removesuffix("[score]"))) == read_files(built)
    install = [uv.find_uv_bin(), "pip", "install", "-q", "--offline", "--no-deps", "--target"]
    subprocess.run([*install, tmp_path / "target", wheel], check=True, capture_output=True)
    assert (tmp_path / "target/anoncup/plugins.py").read_bytes() == (ROOT / "anoncup/plugins.py").read_bytes()


def test_checkout_is_installed_editable(tmp_path: Path) -> None:
    assert find_library(distribution("anoncup"), tmp_path) == ("--editable", f"{ROOT}[score]")
