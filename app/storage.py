"""Public files by their SHA-256: written once, never changed."""

import hashlib
import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from app.errors import NotFound, Unavailable


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def put(root: Path, content: bytes) -> str:
    """Keep ``content`` and return its SHA-256; it is on the disk when this returns."""
    digest = digest_of(content)
    path = path_of(root, digest)
    if not path.exists():
        try:
            write_whole(path, content)
        except OSError as problem:
            raise Unavailable("the file could not be stored", code="storage_unavailable") from problem
    return digest


def get(root: Path, digest: str) -> bytes:
    try:
        return path_of(root, digest).read_bytes()
    except FileNotFoundError:
        raise NotFound("the file is not in the store", code="file_lost") from None
    except OSError as problem:
        raise Unavailable("the file could not be read", code="storage_unavailable") from problem


def path_of(root: Path, digest: str) -> Path:
    return root / "blobs" / digest[:2] / digest


def write_whole(path: Path, content: bytes) -> None:
    """All of it under its name or nothing: written aside, flushed, renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).rename(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """A rename survives a power cut only once its folder is flushed too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
