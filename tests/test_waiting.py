"""Files that wait for a decision are given back for a day at least, and are gone when two have passed."""

from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from structlog.testing import capture_logs

from app.storage import staging, store
from app.storage.store import digest_of
from workers import clock


def kept_days_ago(days: int, content: bytes) -> str:
    """As ``keep`` would have kept it then."""
    key = f"{datetime.now(UTC).date() - timedelta(days=days)}/{digest_of(content)}"
    store().place.create(f"{staging.FOLDER}/{key}", BytesIO(content))
    return key


def test_what_is_kept_comes_back_until_it_is_removed() -> None:
    key = staging.keep(b"id,sex\n1,f\n")
    assert staging.keep(b"id,sex\n1,f\n") == key
    assert staging.kept(key) == b"id,sex\n1,f\n"
    staging.remove(key)
    assert staging.kept(key) is None
    staging.remove(key)


@pytest.mark.parametrize("key", ["", "../blobs/aa", "2026-01-01/../../blobs/aa", f"2026-01-01/{'0' * 64}"])
def test_nothing_else_is_given_out(key: str) -> None:
    assert staging.kept(key) is None


def test_a_file_that_was_changed_is_not_given_back() -> None:
    key = staging.keep(b"original")
    store().place.replace(f"{staging.FOLDER}/{key}", BytesIO(b"another"))
    assert staging.kept(key) is None
    staging.remove(key)


def test_the_clock_takes_away_what_nobody_came_back_to() -> None:
    contents = {days: f"of {days} days ago".encode() for days in (0, 1, 2, 40)}
    keys = {days: kept_days_ago(days, content) for days, content in contents.items()}
    beside = "waiting/notes.txt"
    store().place.create(beside, BytesIO(b"of somebody else"))
    other = store().put(b"a release")
    with capture_logs() as said:
        clock.tidy()
        clock.tidy()
    assert [line["files"] for line in said if line["event"] == "tidied"] == [2]
    assert {days: staging.kept(key) for days, key in keys.items()} == {
        0: contents[0],
        1: contents[1],
        2: None,
        40: None,
    }
    assert store().place.holds(beside)
    assert store().holds(other)
