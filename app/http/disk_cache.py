"""Files that take long to make and are asked for often: kept on this machine's disk, within bounds."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import IO

import structlog

from app.storage.durable import write_whole

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Shelf:
    """A folder of at most so many files and bytes; what was not asked for longest goes first.

    Nothing depends on it: what is not there is made again, and a disk that is full costs only time. Several
    processes may share the folder.
    """

    files: int
    size: int
    making: Lock

    def file(self, folder: Path, name: str, make: Callable[[], IO[bytes]]) -> IO[bytes]:
        """The file of that name, made if it is not there; one is made at a time. Whoever asks closes it."""
        place = folder / name
        with suppress(OSError):
            return taken_down(place)
        with self.making:
            with suppress(OSError):
                return taken_down(place)
            made = make()
            try:
                write_whole(place, made)
                self.clear(folder, but=place)
            except OSError as problem:
                log.warning("file_not_kept", name=name, reason=problem.strerror)
            return made

    def clear(self, folder: Path, *, but: Path) -> None:
        """Throw away what is beyond the bounds, also what a killed process left half written."""
        number = total = 0
        for place, (_, size) in sorted(kept_in(folder).items(), key=lambda each: each[1], reverse=True):
            number, total = number + 1, total + size
            if place != but and (number > self.files or total > self.size):
                place.unlink(missing_ok=True)


def taken_down(place: Path) -> IO[bytes]:
    """An open file, from now on the last that was asked for."""
    file = place.open("rb")
    os.utime(place)
    return file


def kept_in(folder: Path) -> dict[Path, tuple[float, int]]:
    """When each file was last asked for, and its size."""
    found = {}
    for place in folder.rglob("*"):
        with suppress(FileNotFoundError):  # another process has thrown it away
            if place.is_file():
                status = place.stat()
                found[place] = (status.st_mtime, status.st_size)
    return found
