"""Data folders for tests: used before, and at rest."""

import shutil
from pathlib import Path

import pytest

from app.processes.embedded_servers import embedded_services


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that was used before and rests now."""
    data = tmp_path_factory.mktemp("data")
    with embedded_services(data):
        pass
    return data


@pytest.fixture
def data(made_once: Path, tmp_path: Path) -> Path:
    """A copy of it, for tests that break something."""
    return Path(shutil.copytree(made_once, tmp_path / "data"))
