"""The service that ``anoncup serve`` runs on one machine."""

import os
from pathlib import Path

import pytest

from app.operations import local_service
from app.operations.embedded_servers import EmbeddedServices


@pytest.mark.parametrize(("is_writable", "folder"), [(True, None), (False, "/data/loops")])
def test_compiled_loops_are_in_the_data_folder_if_the_code_belongs_to_another_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_writable: bool, folder: str | None
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(os, "access", lambda *_: is_writable)  # root may write everywhere
    services = EmbeddedServices("postgresql+psycopg://", "redis://")
    environments = local_service.build_environments(services, Path("/data"))
    assert environments.shared.get("NUMBA_CACHE_DIR") == folder
