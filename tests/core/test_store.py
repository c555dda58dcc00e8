"""The store of files by hash, in a folder and in a bucket: completeness, checks on reading, and errors."""

import stat
from collections.abc import Callable
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from uuid import uuid4

import pytest

from anoncup.errors import InvalidInput, NotFound, Unavailable
from app.config import Settings
from app.core.db.models import Submission
from app.core.storage import Store, bucket, compute_digest, open_store
from app.submissions import uploads
from tests.support.accounts import count_rows
from tests.support.arena import Arena
from tests.support.s3_server import BUCKET, S3Server


@pytest.fixture(params=["folder", pytest.param("bucket", marks=pytest.mark.full)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """An empty store of each kind."""
    if request.param == "folder":
        return open_store(str(tmp_path))
    request.getfixturevalue("s3")
    return open_store(f"s3://{BUCKET}/{uuid4()}")


def damage_file(store: Store, digest: str, content: bytes = b"harmed") -> None:
    store.backend.replace(f"blobs/{digest[:2]}/{digest}", BytesIO(content))


def catch_error_code(call: Callable[[], object]) -> str:
    """Return the code of the error that the call raises."""
    with pytest.raises((NotFound, Unavailable)) as excinfo:
        call()
    return excinfo.value.code


LARGE_CONTENT = b"0123456789abcdef" * (1 << 20)


@pytest.mark.parametrize("content", [b"", b"content", LARGE_CONTENT], ids=["empty", "small", "large"])
def test_saved_content_can_be_read(store: Store, content: bytes) -> None:
    digest = store.save(content)
    assert digest == compute_digest(content)
    assert store.get(digest) == content
    assert b"".join(store.read_chunks(digest)) == content
    assert store.contains(digest)


def test_missing_file_is_reported_as_lost(store: Store) -> None:
    store.save(b"another")
    assert catch_error_code(lambda: store.get(compute_digest(b"never put"))) == "file_lost"
    assert catch_error_code(lambda: next(store.read_chunks(compute_digest(b"never put")))) == "file_lost"
    assert not store.contains(compute_digest(b"never put"))


@pytest.mark.parametrize("damage", [b"", b"c0ntent", b"content and more"])
def test_damaged_file_is_not_served_and_can_be_replaced(store: Store, damage: bytes) -> None:
    digest = store.save(b"content")
    damage_file(store, digest, damage)
    assert catch_error_code(lambda: store.get(digest)) == "file_damaged"
    assert catch_error_code(lambda: store.open(digest)) == "file_damaged"
    assert catch_error_code(lambda: next(store.read_chunks(digest))) == "file_damaged"
    store.save(b"content")
    assert store.get(digest) == b"content"


def test_unsupported_location_is_refused() -> None:
    for name in ("gs://bucket", "s3://", "s3:///prefix", "file:///tmp"):
        with pytest.raises(InvalidInput):
            open_store(name)


def test_files_are_readable_by_owner_and_group_only(tmp_path: Path) -> None:
    digest = open_store(str(tmp_path)).save(b"content")
    assert (tmp_path / "blobs" / digest[:2] / digest).stat().st_mode & 0o777 == 0o640


def test_new_folders_have_the_permissions_of_the_store(tmp_path: Path) -> None:
    tmp_path.chmod(0o2770)
    digest = open_store(str(tmp_path)).save(b"content")
    for folder in (tmp_path / "blobs", tmp_path / "blobs" / digest[:2]):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o2770


def test_failed_write_leaves_no_partial_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_disk_full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", raise_disk_full)
    assert catch_error_code(lambda: open_store(str(tmp_path)).save(b"content")) == "storage_unavailable"
    assert [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()] == []


def test_store_at_a_file_path_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    store = open_store(str(tmp_path / "file"))
    for call in list_operations(store):
        assert catch_error_code(call) == "storage_unavailable"


def list_operations(store: Store) -> list[Callable[[], object]]:
    """Return a call of every operation of a store."""
    digest = compute_digest(b"content")
    return [
        lambda: store.get(digest),
        lambda: store.contains(digest),
        lambda: store.save(b"content"),
        lambda: store.backend.remove(f"blobs/{digest[:2]}/{digest}"),
        store.check_writable,
    ]


@pytest.mark.full
def test_missing_bucket_is_not_mistaken_for_lost_files(s3: S3Server) -> None:
    store = open_store("s3://another/prefix")
    for call in (
        lambda: store.get(compute_digest(b"content")),
        lambda: store.save(b"content"),
        store.check_writable,
    ):
        assert catch_error_code(call) == "storage_unavailable"


@pytest.mark.parametrize("name", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_invalid_credentials_make_the_store_unavailable(
    s3: S3Server, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "wrong")
    for call in list_operations(open_store(f"s3://{BUCKET}/{uuid4()}")):
        assert catch_error_code(call) == "storage_unavailable"


@pytest.mark.full
def test_hanging_bucket_times_out(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server accepts connections but never answers. Without a time limit this test would not end."""
    monkeypatch.setitem(bucket.CLIENT_OPTIONS, "read_timeout", timedelta(seconds=1))
    store = open_store(f"s3://{BUCKET}/{uuid4()}")
    digest = store.save(b"content")
    s3.hang()
    try:
        assert catch_error_code(lambda: store.get(digest)) == "storage_unavailable"
        assert catch_error_code(lambda: store.save(b"more")) == "storage_unavailable"
    finally:
        s3.resume()
    assert store.get(digest) == b"content"


def test_upload_without_a_sealing_key_gets_503_and_stores_nothing(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena.get_team_token("red")
    keyless = settings.model_copy(update={"sealing_key_file": None})
    monkeypatch.setattr(uploads, "get_settings", lambda: keyless)
    response = arena.submit("red", seed=78)
    assert (response.status_code, response.json()["code"]) == (503, "sealing_unavailable")
    assert count_rows(Submission) == 0


def test_only_names_below_the_folder_are_listed(store: Store) -> None:
    assert store.backend.list_names("waiting/") == []
    for name in ("waiting/b/2", "waiting/a/1", "waitings/c", "blobs/aa/x"):
        assert store.backend.create(name, BytesIO(b"content"))
    assert store.backend.list_names("waiting/") == ["waiting/a/1", "waiting/b/2"]
