"""Data folders of a service that has run before and is stopped."""

import shutil
from pathlib import Path

import pytest

from app.operations.embedded_servers import run_embedded_services


@pytest.fixture(scope="module")
def used_data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data folder of a service that has run and is stopped."""
    data = tmp_path_factory.mktemp("data")
    with run_embedded_services(data):
        pass
    return data


@pytest.fixture
def data(used_data_folder: Path, tmp_path: Path) -> Path:
    """Return a copy of ``used_data_folder``, for tests that damage it."""
    return Path(shutil.copytree(used_data_folder, tmp_path / "data"))
