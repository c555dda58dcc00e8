"""A test track, installed as a package for this process and its children."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from anoncup.plugins import TRACKS
from anoncup.tracks.model import Track
from tests.support.plugin_installation import install_package
from workers import child_manager


@contextmanager
def install_track(track: Track, module: str, folder: Path) -> Iterator[None]:
    """Install the track of the ``PLUGIN`` in ``module``, whose imports must not load all tracks."""
    install_package(folder, track.name, f"from {module} import PLUGIN")
    child_manager.manager.discard()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TRACKS, track.name, track)
        patch.setenv("PYTHONPATH", str(folder))
        yield
    child_manager.manager.discard()
