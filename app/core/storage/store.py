"""Content-addressed store on top of a storage backend."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial
from io import BytesIO
from pathlib import Path
from typing import IO, Protocol

import structlog

from anoncup.errors import InvalidInput, NotFound, Unavailable
from app.config import get_settings
from app.core.storage.folder import READ_FAILED, Folder

log = structlog.get_logger(__name__)

CHUNK_BYTES = 1 << 18
_DIGEST_PATTERN = re.compile("[0-9a-f]{64}")

_store_override: list["Store"] = []
"""Holds the store of this process if it differs from that of the settings."""


class StorageBackend(Protocol):
    """Files by name. Writes are atomic, and durable when the call returns.

    Every method raises Unavailable (``storage_unavailable``) while the backend cannot be reached.
    """

    def open(self, name: str) -> IO[bytes]:
        """Return the file as a seekable stream; raise NotFound (``file_lost``) if it does not exist."""

    def contains(self, name: str) -> bool:
        """Return whether there is a file of this name."""

    def create(self, name: str, content: IO[bytes]) -> bool:
        """Write ``content`` under a new name. Return False and change nothing if the name is taken."""

    def replace(self, name: str, content: IO[bytes]) -> None:
        """Write ``content`` under the name and replace an existing file."""

    def remove(self, name: str) -> None:
        """Remove the file if it exists."""

    def list_names(self, folder: str) -> list[str]:
        """Return the names of all files below ``folder``, which ends with a slash and may be missing."""

    def check_writable(self) -> None:
        """Raise Unavailable unless the backend can be reached and written to."""


def compute_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class Store:
    """Immutable files, each named by its SHA-256.

    A store may be remote and slow, so do not call it while holding a lock. Every method raises Unavailable
    (``storage_unavailable``) while the store cannot be reached.
    """

    backend: StorageBackend

    def save(self, content: bytes) -> str:
        """Store ``content`` durably and return its SHA-256."""
        return self.save_file(BytesIO(content))

    def save_file(self, file: IO[bytes]) -> str:
        """Store all of ``file``, from its start, without reading it into memory; return its SHA-256."""
        digest = _hash_file(file)
        if not self.backend.create(_build_name(digest), file) and not self.is_intact(digest):
            self.backend.replace(_build_name(digest), file)
            log.warning("damaged_file_replaced", digest=digest)
        return digest

    def get(self, digest: str) -> bytes:
        """Return the content; raise NotFound (``file_lost``) or Unavailable (``file_damaged``)."""
        with self.open(digest) as file:
            return file.read()

    def open(self, digest: str) -> IO[bytes]:
        """Return the open file after verifying its SHA-256. The caller closes it. Raises as ``get``."""
        try:
            file = self.backend.open(_build_name(digest))
        except NotFound:
            log.error("file_lost", digest=digest)
            raise
        if _hash_file(file) != digest:
            file.close()
            log.error("file_damaged", digest=digest)
            raise Unavailable("a stored file is damaged", code="file_damaged")
        file.seek(0)
        return file

    def read_chunks(self, digest: str) -> Iterator[bytes]:
        """Yield a large file in chunks. It is verified before the first chunk. Raises as ``get``."""
        with closing(self.open(digest)) as file:
            yield from iter(partial(file.read, CHUNK_BYTES), b"")

    def contains(self, digest: str) -> bool:
        """Return whether the file exists, without reading it."""
        return self.backend.contains(_build_name(digest))

    def is_intact(self, digest: str) -> bool:
        """Return whether the file exists and has the right SHA-256."""
        try:
            self.open(digest).close()
        except NotFound:
            return False
        except Unavailable as problem:
            if problem.code != "file_damaged":
                raise
            return False
        return True

    def list_digests(self) -> list[str]:
        """Return the SHA-256 of each file."""
        names = (name.rpartition("/")[2] for name in self.backend.list_names("blobs/"))
        return [name for name in names if _DIGEST_PATTERN.fullmatch(name)]

    def check_writable(self) -> None:
        """Raise Unavailable unless the store can be reached and written to."""
        self.backend.check_writable()


def _build_name(digest: str) -> str:
    return f"blobs/{digest[:2]}/{digest}"


def _hash_file(file: IO[bytes]) -> str:
    """Return the SHA-256 of all of ``file`` in hexadecimal."""
    file.seek(0)
    sha256 = hashlib.sha256()
    try:
        for chunk in iter(partial(file.read, CHUNK_BYTES), b""):
            sha256.update(chunk)
    except OSError as problem:
        raise Unavailable(READ_FAILED, code="storage_unavailable") from problem
    return sha256.hexdigest()


def get_store() -> Store:
    """Return the store of this process."""
    return _store_override[0] if _store_override else open_store(get_settings().storage_location)


def use_backend(backend: StorageBackend) -> None:
    """Use the backend for this process instead of the one in the settings."""
    _store_override[:] = [Store(backend)]


@lru_cache(maxsize=8)
def open_store(location: str) -> Store:
    """Return the store at a location: a folder, or ``s3://bucket/prefix``."""
    scheme, separator, rest = location.partition("://")
    if not separator:
        return Store(Folder(Path(location)))
    bucket, _, prefix = rest.partition("/")
    if scheme != "s3" or not bucket:
        raise InvalidInput("ANONCUP_STORE must be a folder or s3://bucket/prefix")
    from app.core.storage.bucket import Bucket  # noqa: PLC0415  # uses 16 MB that a local folder does not need

    return Store(Bucket.connect(bucket, prefix=prefix))
