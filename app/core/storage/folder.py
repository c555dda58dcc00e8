"""Storage backend for a local folder.

obstore's local store is not used, because it does not call fsync on files or folders (strace shows open,
write and link). A power cut could thus lose files for which a team already has a receipt.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

import structlog

from anoncup.errors import NotFound, Unavailable
from anoncup.messages import N_
from app.core.durable_files import write_atomically

log = structlog.get_logger(__name__)

READ_FAILED = N_("the file could not be read")
WRITE_FAILED = N_("the file could not be stored")
REMOVE_FAILED = N_("the file could not be removed")

_TEST_BYTES = 1 << 20
"""Size of the file of a write test. A few bytes may fit on a full disk."""


@dataclass(frozen=True, slots=True)
class Folder:
    """Files below ``root``, which is created with the first file.

    Web, workers and clock may run as different users of one group: folders get the permissions of ``root``.
    """

    root: Path

    def open(self, name: str) -> IO[bytes]:
        with _translate_errors(READ_FAILED):
            return (self.root / name).open("rb")

    def contains(self, name: str) -> bool:
        with _translate_errors(READ_FAILED):
            try:
                (self.root / name).stat()
            except FileNotFoundError:
                return False
            return True

    def create(self, name: str, content: IO[bytes]) -> bool:
        if self.contains(name):
            return False
        self.replace(name, content)
        return True

    def replace(self, name: str, content: IO[bytes]) -> None:
        with _translate_errors(WRITE_FAILED):
            self._create_folder((self.root / name).parent)
            write_atomically(self.root / name, content, mode=0o640)

    def _create_folder(self, folder: Path) -> None:
        if folder == self.root:
            folder.mkdir(parents=True, exist_ok=True)
        elif not folder.exists():
            self._create_folder(folder.parent)
            with suppress(FileExistsError):  # another process was faster
                folder.mkdir()
                folder.chmod(stat.S_IMODE(self.root.stat().st_mode))

    def remove(self, name: str) -> None:
        with _translate_errors(REMOVE_FAILED):
            (self.root / name).unlink(missing_ok=True)

    def list_names(self, folder: str) -> list[str]:
        with _translate_errors(READ_FAILED):
            paths = [path for path in (self.root / folder).rglob("*") if path.is_file()]
        return sorted(path.relative_to(self.root).as_posix() for path in paths)

    def check_writable(self) -> None:
        with _translate_errors(WRITE_FAILED):
            self.root.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=self.root, prefix=".check-") as file:
                file.write(bytes(_TEST_BYTES))
                file.flush()
            for folder in self.root.glob("blobs/*/"):  # another user may have restored them
                if not os.access(folder, os.W_OK | os.X_OK, effective_ids=True):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


@contextmanager
def _translate_errors(message: str) -> Iterator[None]:
    """Convert errors of the disk to domain errors. The path appears in the log only."""
    try:
        yield
    except FileNotFoundError:
        raise NotFound("the file is not in the store", code="file_lost") from None
    except OSError as problem:
        log.warning("storage_unavailable", reason=str(problem))
        raise Unavailable(message, code="storage_unavailable") from problem
