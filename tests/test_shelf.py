"""What is kept on the disk to save time: within its bounds, and never in the way."""

import os
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import IO

from app.http.disk_cache import Shelf


def put(shelf: Shelf, folder: Path, name: str, content: bytes = b"12345678") -> bool:
    """Ask for a file; whether it had to be made."""
    made = []

    def make() -> IO[bytes]:
        made.append(name)
        return BytesIO(content)

    with shelf.file(folder, name, make) as file:
        file.seek(0)
        assert file.read() == content
    return bool(made)


def grow_old(folder: Path) -> None:
    for place in folder.rglob("*"):
        status = place.stat()
        os.utime(place, (status.st_atime - 60, status.st_mtime - 60))


def names(folder: Path) -> set[str]:
    return {place.name for place in folder.rglob("*") if place.is_file()}


def test_a_file_is_made_once(tmp_path: Path) -> None:
    shelf = Shelf(files=2, size=100, making=Lock())
    assert [put(shelf, tmp_path, "a") for _ in range(3)] == [True, False, False]


def test_beyond_the_number_of_files_the_one_not_asked_for_longest_goes(tmp_path: Path) -> None:
    shelf = Shelf(files=2, size=100, making=Lock())
    for name in ("a", "b", "a", "c"):
        put(shelf, tmp_path, name)
        grow_old(tmp_path)
    assert names(tmp_path) == {"a", "c"}


def test_beyond_the_size_too_also_what_older_versions_left_in_folders(tmp_path: Path) -> None:
    (tmp_path / "slug").mkdir()
    (tmp_path / "slug" / "old").write_bytes(b"12345678")
    grow_old(tmp_path)
    shelf = Shelf(files=10, size=16, making=Lock())
    put(shelf, tmp_path, "a")
    assert names(tmp_path) == {"a", "old"}
    grow_old(tmp_path)
    put(shelf, tmp_path, "b")
    assert names(tmp_path) == {"a", "b"}


def test_a_file_larger_than_the_shelf_is_kept_alone(tmp_path: Path) -> None:
    shelf = Shelf(files=10, size=4, making=Lock())
    put(shelf, tmp_path, "a")
    grow_old(tmp_path)
    put(shelf, tmp_path, "b")
    assert names(tmp_path) == {"b"}


def test_a_disk_that_keeps_nothing_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    shelf = Shelf(files=2, size=100, making=Lock())
    assert [put(shelf, tmp_path / "file" / "kits", "a") for _ in range(2)] == [True, True]
