"""Staged files are available for at least a day and removed after two."""

from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from structlog.testing import capture_logs

from app.core.storage import get_store, staging
from app.core.storage.store import compute_digest
from workers import clock


def stage_days_ago(days: int, content: bytes) -> str:
    """Stage a file as if it had been saved some days ago. Return its key."""
    key = f"{datetime.now(UTC).date() - timedelta(days=days)}/{compute_digest(content)}"
    get_store().backend.create(f"{staging.FOLDER}/{key}", BytesIO(content))
    return key


def test_staged_file_is_available_until_removed() -> None:
    key = staging.save(b"id,sex\n1,f\n")
    assert staging.save(b"id,sex\n1,f\n") == key
    assert staging.load(key) == b"id,sex\n1,f\n"
    staging.remove(key)
    assert staging.load(key) is None
    staging.remove(key)


@pytest.mark.parametrize("key", ["", "../blobs/aa", "2026-01-01/../../blobs/aa", f"2026-01-01/{'0' * 64}"])
def test_invalid_key_loads_nothing(key: str) -> None:
    assert staging.load(key) is None


def test_modified_staged_file_is_not_returned() -> None:
    key = staging.save(b"original")
    get_store().backend.replace(f"{staging.FOLDER}/{key}", BytesIO(b"another"))
    assert staging.load(key) is None
    staging.remove(key)


def test_clock_removes_staged_files_after_two_days() -> None:
    contents = {days: f"of {days} days ago".encode() for days in (0, 1, 2, 40)}
    keys = {days: stage_days_ago(days, content) for days, content in contents.items()}
    unrelated_name = "waiting/notes.txt"
    get_store().backend.create(unrelated_name, BytesIO(b"of somebody else"))
    other_digest = get_store().save(b"a release")
    with capture_logs() as log_lines:
        clock.remove_stale_files()
        clock.remove_stale_files()
    assert [line["files"] for line in log_lines if line["event"] == "tidied"] == [2]
    assert {days: staging.load(key) for days, key in keys.items()} == {
        0: contents[0],
        1: contents[1],
        2: None,
        40: None,
    }
    assert get_store().backend.contains(unrelated_name)
    assert get_store().contains(other_digest)
