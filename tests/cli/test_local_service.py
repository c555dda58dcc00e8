"""The service that ``anoncup serve`` runs on one machine."""

import os
import tempfile
from contextlib import nullcontext
from pathlib import Path

import pytest

from anoncup.errors import Unavailable
from app.cli import local_service
from app.processes import child_folders
from app.processes.embedded_servers import EmbeddedServices
from app.processes.supervisor import Supervisor
from tests.support.service_processes import find_free_port


@pytest.mark.parametrize(("is_writable", "folder"), [(True, None), (False, "/data/loops")])
def test_compiled_loops_are_in_the_data_folder_if_the_code_belongs_to_another_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_writable: bool, folder: str | None
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(os, "access", lambda *_: is_writable)  # root may write everywhere
    services = EmbeddedServices("postgresql+psycopg://", "redis://")
    environments = local_service.build_environments(services, Path("/data"))
    assert environments.shared.get("NUMBA_CACHE_DIR") == folder


def test_failed_start_removes_the_folders_of_killed_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left_folder = Path(tempfile.mkdtemp(prefix=child_folders.PREFIX))

    def fail(*_: object, **__: object) -> None:
        raise Unavailable("the web server has ended")

    services = EmbeddedServices("postgresql+psycopg://", "redis://")
    monkeypatch.setattr(local_service, "find_configured_services", lambda: services)
    monkeypatch.setattr(local_service, "run", lambda *_, **__: None)
    monkeypatch.setattr(local_service, "supervise", lambda *_, **__: nullcontext(Supervisor()))
    monkeypatch.setattr(local_service, "wait_until_healthy", fail)
    service = local_service.run_service("127.0.0.1", find_free_port(), tmp_path / "data")
    with pytest.raises(Unavailable, match="has ended"), service:
        pass
    assert not left_folder.exists()
