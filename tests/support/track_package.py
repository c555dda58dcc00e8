"""Packages of plug-ins and tracks, installed for this process and its children."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from anoncup.plugins import TRACKS
from anoncup.tracks.model import AnyTrack
from app.core.processes import runners


@contextmanager
def install_track(track: AnyTrack, module: str, folder: Path) -> Iterator[None]:
    """Install the track of the ``PLUGIN`` in ``module``, whose imports must not load all tracks."""
    install_package(folder, track.name, f"from {module} import PLUGIN")
    runners.end_all()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TRACKS, track.name, track)
        patch.setenv("PYTHONPATH", str(folder))
        yield
    runners.end_all()


def install_package(folder: Path, package: str, code: str, *, version: str = "1.0") -> None:
    """Write a package of one module and its metadata, as an installer does."""
    metadata_folder = folder / f"{package}-{version}.dist-info"
    metadata_folder.mkdir(exist_ok=True)
    (folder / f"{package}.py").write_text(code)
    (metadata_folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    (metadata_folder / "entry_points.txt").write_text(f"[anoncup.plugins]\n{package} = {package}:PLUGIN\n")
