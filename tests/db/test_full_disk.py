"""Effects of a full disk outside of database statements."""

import shutil
from pathlib import Path

import psycopg
from sqlalchemy.exc import OperationalError

from app.cli.web_server import SHARED_MEMORY, create_metrics_folder
from app.db.failures import explain

DISK_FULL_MESSAGE = "connection failed: FATAL:  could not write init file: No space left on device"


def build_error(reason: str) -> OperationalError:
    return OperationalError("SELECT 1", {}, psycopg.OperationalError(reason))


def test_a_connection_that_postgres_refuses_for_a_full_disk_is_named_so() -> None:
    assert explain(build_error(DISK_FULL_MESSAGE)).code == "database_full"


def test_a_connection_that_is_refused_for_another_reason_is_no_full_disk() -> None:
    assert explain(build_error("connection failed: Connection refused")).code == "database_unavailable"


def test_requests_are_counted_in_memory_since_a_full_disk_under_a_mapped_file_ends_the_process(
    tmp_path: Path,
) -> None:
    folder = create_metrics_folder(tmp_path, 1)
    shutil.rmtree(folder)
    assert folder.parent == SHARED_MEMORY


def test_counts_that_a_kill_has_left_go_at_the_next_start(tmp_path: Path) -> None:
    leftover = create_metrics_folder(tmp_path, 1)
    shutil.rmtree(create_metrics_folder(tmp_path, 1))
    assert not leftover.exists()
