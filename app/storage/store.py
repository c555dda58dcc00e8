"""Content by its own SHA-256, in any place."""

import hashlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import IO

import structlog

from anoncup.errors import InvalidInput, NotFound, Unavailable
from app.config import get_settings
from app.storage.folder import NOT_READ, Folder
from app.storage.place import Place

log = structlog.get_logger(__name__)

PIECE = 1 << 18

in_use: list["Store"] = []
"""The store of this process, if it is not that of the settings."""


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class Store:
    """Files that never change, each named by its SHA-256.

    A store may be far away, so nothing of it belongs under a lock. Every method raises Unavailable
    (``storage_unavailable``) while the store cannot be reached.
    """

    place: Place

    def put(self, content: bytes) -> str:
        """Keep ``content`` and return its SHA-256; it is safe when this returns."""
        return self.put_file(BytesIO(content))

    def put_file(self, file: IO[bytes]) -> str:
        """Keep all of ``file``, from its start, without holding it in memory; returns its SHA-256."""
        digest = measured(file)
        if not self.place.create(name_of(digest), file) and not self.has_whole(digest):
            self.place.replace(name_of(digest), file)
            log.warning("damaged_file_replaced", digest=digest)
        return digest

    def get(self, digest: str) -> bytes:
        """All of a file; NotFound (``file_lost``) or Unavailable (``file_damaged``) if it is no more."""
        with self.open(digest) as file:
            return file.read()

    def open(self, digest: str) -> IO[bytes]:
        """A file, read to its end and found to be what its name says; whoever asks closes it. As ``get``."""
        file = self.found(digest)
        if measured(file) != digest:
            file.close()
            log.error("file_damaged", digest=digest)
            raise Unavailable("a stored file is damaged", code="file_damaged")
        file.seek(0)
        return file

    def pieces(self, digest: str) -> Iterator[bytes]:
        """A file bit by bit, for what is too large to hold; it is checked before the first. As ``get``."""
        with closing(self.open(digest)) as file:
            yield from read(file)

    def holds(self, digest: str) -> bool:
        """Whether the file is there; it is not read."""
        return self.place.holds(name_of(digest))

    def has_whole(self, digest: str) -> bool:
        """Whether the file is there and is what its name says."""
        try:
            self.open(digest).close()
        except NotFound:
            return False
        except Unavailable as problem:
            if problem.code != "file_damaged":
                raise
            return False
        return True

    def remove(self, digest: str) -> None:
        """Take a file back that nothing names."""
        self.place.remove(name_of(digest))

    def check(self) -> None:
        """Return if the store can be reached and written to."""
        self.place.check()

    def found(self, digest: str) -> IO[bytes]:
        try:
            return self.place.open(name_of(digest))
        except NotFound:
            log.error("file_lost", digest=digest)
            raise


def name_of(digest: str) -> str:
    return f"blobs/{digest[:2]}/{digest}"


def measured(file: IO[bytes]) -> str:
    """The SHA-256 of all of ``file``."""
    file.seek(0)
    found = hashlib.sha256()
    try:
        for piece in read(file):
            found.update(piece)
    except OSError as problem:
        raise Unavailable(NOT_READ, code="storage_unavailable") from problem
    return found.hexdigest()


def read(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece


def store() -> Store:
    """The one that the settings name."""
    return in_use[0] if in_use else opened(get_settings().files)


def use(place: Place) -> None:
    """Make ``place`` the store of this process, whatever the settings name."""
    in_use[:] = [Store(place)]


@lru_cache(maxsize=8)
def opened(place: str) -> Store:
    """The store in a folder, or in ``s3://bucket/prefix``."""
    scheme, separator, rest = place.partition("://")
    if not separator:
        return Store(Folder(Path(place)))
    bucket, _, prefix = rest.partition("/")
    if scheme != "s3" or not bucket:
        raise InvalidInput("ANONCUP_STORE must be a folder or s3://bucket/prefix")
    from app.storage.bucket import Bucket  # noqa: PLC0415  # 16 MB that a local folder does not need

    return Store(Bucket.named(bucket, prefix=prefix))
