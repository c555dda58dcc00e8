"""A local folder. Not obstore's: that one flushes neither a file nor its folder, and a power cut would take
what a receipt has promised (strace shows open, write, link and no fsync)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

import structlog

from anoncup.errors import NotFound, Unavailable
from anoncup.messages import N_
from app.storage.durable import write_whole

log = structlog.get_logger(__name__)

NOT_READ = N_("the file could not be read")
NOT_STORED = N_("the file could not be stored")
NOT_REMOVED = N_("the file could not be removed")


@dataclass(frozen=True, slots=True)
class Folder:
    """Files below ``root``, which is made when the first comes."""

    root: Path

    def open(self, name: str) -> IO[bytes]:
        with told_as(NOT_READ):
            return (self.root / name).open("rb")

    def holds(self, name: str) -> bool:
        with told_as(NOT_READ):
            try:
                (self.root / name).stat()
            except FileNotFoundError:
                return False
            return True

    def create(self, name: str, content: IO[bytes]) -> bool:
        if self.holds(name):
            return False
        self.replace(name, content)
        return True

    def replace(self, name: str, content: IO[bytes]) -> None:
        with told_as(NOT_STORED):
            # Web, workers and clock may be different users, who share the folder by its group.
            write_whole(self.root / name, content, mode=0o640)

    def remove(self, name: str) -> None:
        with told_as(NOT_REMOVED):
            (self.root / name).unlink(missing_ok=True)

    def names(self, folder: str) -> list[str]:
        with told_as(NOT_READ):
            files = [one for one in (self.root / folder).rglob("*") if one.is_file()]
        return sorted(one.relative_to(self.root).as_posix() for one in files)

    def check(self) -> None:
        with told_as(NOT_STORED):
            self.root.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=self.root, prefix=".check-") as file:
                file.write(b"anoncup")
                file.flush()


@contextmanager
def told_as(failure: str) -> Iterator[None]:
    """Errors of the disk in the words of the service; the path is for the log only."""
    try:
        yield
    except FileNotFoundError:
        raise NotFound("the file is not in the store", code="file_lost") from None
    except OSError as problem:
        log.warning("storage_unavailable", reason=str(problem))
        raise Unavailable(failure, code="storage_unavailable") from problem
