"""What a full disk does beside the statement that meets it."""

import shutil
from pathlib import Path

import psycopg
from sqlalchemy.exc import OperationalError

from app.cli.web_server import MEMORY, made_for_counts
from app.db.failures import explain

REFUSED = "connection failed: FATAL:  could not write init file: No space left on device"


def refused_for(reason: str) -> OperationalError:
    return OperationalError("SELECT 1", {}, psycopg.OperationalError(reason))


def test_a_connection_that_postgres_refuses_for_a_full_disk_is_named_so() -> None:
    assert explain(refused_for(REFUSED)).code == "database_full"


def test_a_connection_that_is_refused_for_another_reason_is_no_full_disk() -> None:
    assert explain(refused_for("connection failed: Connection refused")).code == "database_unavailable"


def test_requests_are_counted_in_memory_since_a_full_disk_under_a_mapped_file_ends_the_process(
    tmp_path: Path,
) -> None:
    folder = made_for_counts(tmp_path, 1)
    shutil.rmtree(folder)
    assert folder.parent == MEMORY


def test_counts_that_a_kill_has_left_go_at_the_next_start(tmp_path: Path) -> None:
    left = made_for_counts(tmp_path, 1)
    shutil.rmtree(made_for_counts(tmp_path, 1))
    assert not left.exists()
