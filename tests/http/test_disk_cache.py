"""The disk cache: it stays within its bounds and works without a disk."""

import os
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import IO

from app.http.disk_cache import DiskCache


def request_file(shelf: DiskCache, folder: Path, name: str, content: bytes = b"12345678") -> bool:
    """Request a file. Return whether it had to be created."""
    created = []

    def make() -> IO[bytes]:
        created.append(name)
        return BytesIO(content)

    with shelf.open_file(folder, name, make) as file:
        file.seek(0)
        assert file.read() == content
    return bool(created)


def age_files(folder: Path) -> None:
    for path in folder.rglob("*"):
        status = path.stat()
        os.utime(path, (status.st_atime - 60, status.st_mtime - 60))


def list_file_names(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def test_a_file_is_made_once(tmp_path: Path) -> None:
    shelf = DiskCache(max_files=2, max_bytes=100, build_lock=Lock())
    assert [request_file(shelf, tmp_path, "a") for _ in range(3)] == [True, False, False]


def test_beyond_the_number_of_files_the_one_not_asked_for_longest_goes(tmp_path: Path) -> None:
    shelf = DiskCache(max_files=2, max_bytes=100, build_lock=Lock())
    for name in ("a", "b", "a", "c"):
        request_file(shelf, tmp_path, name)
        age_files(tmp_path)
    assert list_file_names(tmp_path) == {"a", "c"}


def test_beyond_the_size_too_also_what_older_versions_left_in_folders(tmp_path: Path) -> None:
    (tmp_path / "slug").mkdir()
    (tmp_path / "slug" / "old").write_bytes(b"12345678")
    age_files(tmp_path)
    shelf = DiskCache(max_files=10, max_bytes=16, build_lock=Lock())
    request_file(shelf, tmp_path, "a")
    assert list_file_names(tmp_path) == {"a", "old"}
    age_files(tmp_path)
    request_file(shelf, tmp_path, "b")
    assert list_file_names(tmp_path) == {"a", "b"}


def test_a_file_larger_than_the_shelf_is_kept_alone(tmp_path: Path) -> None:
    shelf = DiskCache(max_files=10, max_bytes=4, build_lock=Lock())
    request_file(shelf, tmp_path, "a")
    age_files(tmp_path)
    request_file(shelf, tmp_path, "b")
    assert list_file_names(tmp_path) == {"b"}


def test_a_disk_that_keeps_nothing_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    shelf = DiskCache(max_files=2, max_bytes=100, build_lock=Lock())
    assert [request_file(shelf, tmp_path / "file" / "kits", "a") for _ in range(2)] == [True, True]
