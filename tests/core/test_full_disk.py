"""Effects of a full disk outside of database statements."""

import shutil
from pathlib import Path

import psycopg
from sqlalchemy.exc import OperationalError

from app.core.db.transaction import convert_error
from app.operations.web_server import SHARED_MEMORY_FOLDER, create_metrics_folder

DISK_FULL_MESSAGE = "connection failed: FATAL:  could not write init file: No space left on device"


def build_error(reason: str) -> OperationalError:
    return OperationalError("SELECT 1", {}, psycopg.OperationalError(reason))


def test_full_disk_at_connection_is_reported() -> None:
    assert convert_error(build_error(DISK_FULL_MESSAGE)).code == "database_full"


def test_other_connection_errors_are_not_a_full_disk() -> None:
    assert convert_error(build_error("connection failed: Connection refused")).code == "database_unavailable"


def test_request_metrics_are_in_shared_memory(
    tmp_path: Path,
) -> None:
    folder = create_metrics_folder(tmp_path, 1)
    shutil.rmtree(folder)
    assert folder.parent == SHARED_MEMORY_FOLDER


def test_stale_metrics_are_removed_at_the_next_start(tmp_path: Path) -> None:
    leftover = create_metrics_folder(tmp_path, 1)
    shutil.rmtree(create_metrics_folder(tmp_path, 1))
    assert not leftover.exists()
