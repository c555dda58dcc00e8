"""Read and write backup archives: tar files with a manifest of the size and SHA-256 of each member.

The last two members are the manifest and its SHA-256. The whole archive is verified before any content is
used, so a truncated or changed one is refused.
"""

import gzip
import hashlib
import io
import json
import os
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar

from anoncup.errors import Conflict, InvalidInput
from app.durable_files import open_atomically
from app.storage import compute_digest

_FORMAT_VERSION = 1
_MANIFEST_NAME = "manifest.json"
_MANIFEST_DIGEST = "manifest.sha256"
CHUNK_BYTES = 1 << 20
_COMPRESSION_LEVEL = 3
"""Gzip level. It compresses releases to 39 % at 63 MB/s; level 9, the default, to 34 % at 5 MB/s."""
ParsedT = TypeVar("ParsedT")
_MEMBER_NAME_PATTERN = re.compile(r"(tables|blobs|keys)/[A-Za-z0-9_.-]{1,128}")


@dataclass(slots=True)
class ArchiveWriter:
    """An archive that is being written."""

    tar: tarfile.TarFile
    files: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, name: str, file: IO[bytes]) -> str:
        """Add the whole file, whatever its current position, and return the SHA-256 of its content."""
        member = tarfile.TarInfo(name)
        member.size = file.seek(0, os.SEEK_END)
        file.seek(0)
        reader = HashingReader(file)
        self.tar.addfile(member, reader)
        self.files[name] = {"size": member.size, "sha256": reader.digest.hexdigest()}
        return reader.digest.hexdigest()

    def finish(self, kind: str, properties: Mapping[str, Any]) -> None:
        manifest = {"format": _FORMAT_VERSION, "kind": kind, **properties, "files": self.files}
        content = json.dumps(manifest, indent=1, ensure_ascii=False).encode()
        for name, member in ((_MANIFEST_NAME, content), (_MANIFEST_DIGEST, compute_digest(content).encode())):
            self.add(name, io.BytesIO(member))


class HashingReader:
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        chunk = self.file.read(size)
        self.digest.update(chunk)
        return chunk


@contextmanager
def create_archive(path: Path, *, replace: bool = False) -> Iterator[ArchiveWriter]:
    """Create an archive at ``path`` that only its owner can read. After an error, ``path`` is unchanged.

    Raise Conflict if the path exists, unless ``replace`` is set and it is a file. This is checked at the
    start and again at the end.
    """
    _require_path_free(path, replace=replace)
    with open_atomically(path) as file:
        with _create_tar(file, compress=path.suffix in {".gz", ".tgz"}) as tar:
            yield ArchiveWriter(tar)
        _require_path_free(path, replace=replace)


def _create_tar(file: IO[bytes], *, compress: bool) -> tarfile.TarFile:
    if compress:
        return tarfile.open(fileobj=file, mode="w:gz", compresslevel=_COMPRESSION_LEVEL)
    return tarfile.open(fileobj=file, mode="w")


def _require_path_free(path: Path, *, replace: bool) -> None:
    if path.exists() and not (replace and path.is_file()):
        raise Conflict(
            "{path} exists already; --replace overwrites it" if path.is_file() else "{path} exists already",
            path=str(path),
        )


@dataclass(frozen=True, slots=True)
class Archive:
    """A verified archive. Its file stays open, so that later reads return what was verified."""

    file: IO[bytes]
    manifest: Mapping[str, Any]

    def iter_folder(self, folder: str) -> Iterator[tuple[str, IO[bytes]]]:
        """Yield the name and content of each file in the folder, in the order of the archive."""
        with _open_tar(self.file) as tar:
            for name, content in _iter_members(tar):
                if name.startswith(f"{folder}/"):
                    yield name.removeprefix(f"{folder}/"), content


@contextmanager
def open_archive(path: Path, *, kind: str) -> Iterator[Archive]:
    """Open an archive after verifying all of it; raise InvalidInput if it differs from its manifest."""
    with path.open("rb") as file:
        manifest = verify(file)
        if manifest.get("format") != _FORMAT_VERSION:
            raise build_damage_error(
                f"its format is {manifest.get('format')}, and this version reads {_FORMAT_VERSION}"
            )
        if manifest.get("kind") != kind:
            raise build_damage_error(f"it is a copy of {manifest.get('kind')}, not of {kind}")
        yield Archive(file, manifest)


def verify(file: IO[bytes]) -> dict[str, Any]:
    """Verify that the archive has exactly the members that its manifest lists, and return the manifest."""
    members: dict[str, dict[str, Any]] = {}
    trailer: dict[str, bytes] = {}
    with _open_tar(file) as tar:
        for name, content in _iter_members(tar):
            if name in members or not (
                name in {_MANIFEST_NAME, _MANIFEST_DIGEST} or _MEMBER_NAME_PATTERN.fullmatch(name)
            ):
                raise build_damage_error(f"{name!r} does not belong there")
            if name in {_MANIFEST_NAME, _MANIFEST_DIGEST}:
                trailer[name] = content.read()
            members[name] = _compute_size_and_digest(content)
    if (
        trailer.keys() != {_MANIFEST_NAME, _MANIFEST_DIGEST}
        or compute_digest(trailer[_MANIFEST_NAME]).encode() != trailer[_MANIFEST_DIGEST]
    ):
        raise build_damage_error("its end is missing, or its manifest was changed")
    manifest: dict[str, Any] = json.loads(trailer[_MANIFEST_NAME])
    del members[_MANIFEST_NAME], members[_MANIFEST_DIGEST]
    if members != manifest.get("files"):
        differing = sorted(name for name in members if members[name] != manifest.get("files", {}).get(name))
        raise build_damage_error(
            f"it has other contents than its manifest says ({', '.join(differing[:3]) or 'some missing'})"
        )
    return manifest


def _compute_size_and_digest(content: IO[bytes]) -> dict[str, Any]:
    reader = HashingReader(content)
    size = sum(map(len, iter(lambda: reader.read(CHUNK_BYTES), b"")))
    return {"size": size, "sha256": reader.digest.hexdigest()}


@contextmanager
def _open_tar(file: IO[bytes]) -> Iterator[tarfile.TarFile]:
    file.seek(0)
    try:
        with tarfile.open(fileobj=file, mode="r:*") as tar:
            yield tar
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error, UnicodeDecodeError) as problem:
        raise build_damage_error(f"it cannot be read to its end ({problem})") from problem


def _iter_members(tar: tarfile.TarFile) -> Iterator[tuple[str, IO[bytes]]]:
    for member in tar:
        content = tar.extractfile(member) if member.isreg() else None
        if content is None:
            raise build_damage_error(f"{member.name!r} is no plain file")
        yield member.name, content


def build_damage_error(reason: str) -> InvalidInput:
    return InvalidInput(
        "the archive is refused: {reason}; nothing was written", code="archive_damaged", reason=reason
    )


def parse_manifest(manifest: Mapping[str, Any], parse: Callable[[Mapping[str, Any]], ParsedT]) -> ParsedT:
    """Return ``parse(manifest)``; raise InvalidInput if the manifest lacks an entry or is malformed."""
    try:
        return parse(manifest)
    except (KeyError, TypeError, ValueError) as problem:
        raise build_damage_error(f"its manifest lacks {problem}") from problem
