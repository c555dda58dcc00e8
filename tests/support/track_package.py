"""A track of the tests' own, as a package brings it to this process and to those that it starts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from anoncup.plugins import TRACKS
from anoncup.tracks.model import Track
from tests.support.plugin_installation import install
from workers import child_manager


@contextmanager
def installed(track: Track, module: str, folder: Path) -> Iterator[None]:
    """``module`` has it in its ``PLUGIN``, and imports nothing that imports all tracks."""
    install(folder, track.name, f"from {module} import PLUGIN")
    child_manager.keeper.discard()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TRACKS, track.name, track)
        patch.setenv("PYTHONPATH", str(folder))
        yield
    child_manager.keeper.discard()
