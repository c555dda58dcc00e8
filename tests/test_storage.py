"""Files by their hash: whole or not at all, and said when the disk fails."""

import threading
from io import BytesIO
from pathlib import Path

import pytest
from sqlalchemy import func, select

from app.config import Settings
from app.db.models import Submission
from app.errors import InvalidInput, NotFound, Unavailable
from app.storage import digest_of, opened
from app.transaction import transaction
from tests.arena import Arena
from tests.stored import file_of


def test_what_is_put_is_got(tmp_path: Path) -> None:
    store = opened(str(tmp_path))
    digest = store.put(b"content")
    assert digest == digest_of(b"content")
    assert store.get(digest) == b"content"
    assert b"".join(store.pieces(digest)) == b"content"
    assert store.holds(digest)


def test_an_open_file_is_put_from_its_start(tmp_path: Path) -> None:
    store = opened(str(tmp_path))
    file = BytesIO(b"line\n" * 100_000)
    file.seek(7)
    assert store.get(store.put_file(file)) == file.getvalue()


def test_the_same_content_is_kept_once_even_by_many_at_once(tmp_path: Path) -> None:
    threads = [threading.Thread(target=opened(str(tmp_path)).put, args=(b"same" * 10_000,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    files = [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]
    assert [path.read_bytes() for path in files] == [b"same" * 10_000]


def test_a_file_that_is_not_there_is_said_to_be_lost(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        opened(str(tmp_path)).get(digest_of(b"never put"))
    assert caught.value.code == "file_lost"


def test_a_damaged_file_is_never_served_and_is_mended_when_it_is_put_again(tmp_path: Path) -> None:
    store = opened(str(tmp_path))
    digest = store.put(b"content")
    file_of(tmp_path, digest).write_bytes(b"c0ntent")
    for read in (store.get, store.open, lambda one: next(store.pieces(one))):
        with pytest.raises(Unavailable) as caught:
            read(digest)
        assert caught.value.code == "file_damaged"
    store.put(b"content")
    assert store.get(digest) == b"content"


def test_a_place_of_another_kind_is_refused() -> None:
    for name in ("gs://bucket", "s3://", "s3:///prefix", "file:///tmp"):
        with pytest.raises(InvalidInput):
            opened(name)


def test_a_file_in_a_folder_is_for_its_group_too_and_for_nobody_else(tmp_path: Path) -> None:
    digest = opened(str(tmp_path)).put(b"content")
    assert (tmp_path / "blobs" / digest[:2] / digest).stat().st_mode & 0o777 == 0o640


def test_a_disk_that_fails_in_the_middle_leaves_no_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(Unavailable):
        opened(str(tmp_path)).put(b"content")
    assert [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()] == []


def test_an_upload_on_a_full_disk_is_answered_503_and_nothing_is_stored(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    arena.team("red")
    with monkeypatch.context() as broken:
        broken.setattr("os.fsync", full)
        answer = arena.submit("red", seed=77)
    assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")
    with transaction() as session:
        assert session.scalars(select(func.count()).select_from(Submission)).one() == 0
    assert arena.submit("red", seed=77).status_code == 202


def test_an_upload_without_a_sealing_key_is_answered_503_and_nothing_is_stored(
    arena: Arena, settings: Settings
) -> None:
    from app.config import get_settings

    arena.team("red")
    keyless = settings.model_copy(update={"sealing_key_file": None})
    arena.client.app.dependency_overrides[get_settings] = lambda: keyless  # type: ignore[attr-defined]
    answer = arena.submit("red", seed=78)
    assert (answer.status_code, answer.json()["code"]) == (503, "sealing_unavailable")
    with transaction() as session:
        assert session.scalars(select(func.count()).select_from(Submission)).one() == 0
