"""The disk cache: it stays within its bounds and works without a disk."""

import os
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import IO

from app.http.disk_cache import DiskCache


def request_file(cache: DiskCache, folder: Path, name: str, content: bytes = b"12345678") -> bool:
    """Request a file. Return whether it had to be created."""
    created = []

    def make() -> IO[bytes]:
        created.append(name)
        return BytesIO(content)

    with cache.open_file(folder, name, make) as file:
        file.seek(0)
        assert file.read() == content
    return bool(created)


def age_files(folder: Path) -> None:
    for path in folder.rglob("*"):
        status = path.stat()
        os.utime(path, (status.st_atime - 60, status.st_mtime - 60))


def list_file_names(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def test_file_is_created_once(tmp_path: Path) -> None:
    cache = DiskCache(max_files=2, max_bytes=100, build_lock=Lock())
    assert [request_file(cache, tmp_path, "a") for _ in range(3)] == [True, False, False]


def test_least_recently_used_file_is_evicted(tmp_path: Path) -> None:
    cache = DiskCache(max_files=2, max_bytes=100, build_lock=Lock())
    for name in ("a", "b", "a", "c"):
        request_file(cache, tmp_path, name)
        age_files(tmp_path)
    assert list_file_names(tmp_path) == {"a", "c"}


def test_old_files_are_evicted_above_the_size_limit(tmp_path: Path) -> None:
    (tmp_path / "slug").mkdir()
    (tmp_path / "slug" / "old").write_bytes(b"12345678")
    age_files(tmp_path)
    cache = DiskCache(max_files=10, max_bytes=16, build_lock=Lock())
    request_file(cache, tmp_path, "a")
    assert list_file_names(tmp_path) == {"a", "old"}
    age_files(tmp_path)
    request_file(cache, tmp_path, "b")
    assert list_file_names(tmp_path) == {"a", "b"}


def test_file_above_the_size_limit_is_kept_alone(tmp_path: Path) -> None:
    cache = DiskCache(max_files=10, max_bytes=4, build_lock=Lock())
    request_file(cache, tmp_path, "a")
    age_files(tmp_path)
    request_file(cache, tmp_path, "b")
    assert list_file_names(tmp_path) == {"b"}


def test_unwritable_disk_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = DiskCache(max_files=2, max_bytes=100, build_lock=Lock())
    assert [request_file(cache, tmp_path / "file" / "kits", "a") for _ in range(2)] == [True, True]
