"""One file that holds many: a tar whose manifest tells the size and the SHA-256 of each.

The manifest is the last member but one, and its own SHA-256 the last: what was cut off or changed is noticed
before anything of it is used.
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
from tempfile import NamedTemporaryFile
from typing import IO, Any, TypeVar

from anoncup.errors import Conflict, InvalidInput
from app.storage import digest_of
from app.storage.durable import sync_folder

FORMAT = 1
MANIFEST = "manifest.json"
SEAL = "manifest.sha256"
PIECE = 1 << 20
LEVEL = 3
"""Of releases it makes 63 MB in a second and 39 % of their size; the most, which is usual, 5 MB and 34 %."""
Stated = TypeVar("Stated")
NAME = re.compile(r"(tables|blobs|keys)/[A-Za-z0-9_.-]{1,128}")


@dataclass(slots=True)
class Writer:
    """An archive being written."""

    tar: tarfile.TarFile
    files: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, name: str, file: IO[bytes]) -> str:
        """Add all of ``file``, from its start; returns the SHA-256 of what was added."""
        member = tarfile.TarInfo(name)
        member.size = file.seek(0, os.SEEK_END)
        file.seek(0)
        watched = Watched(file)
        self.tar.addfile(member, watched)
        self.files[name] = {"size": member.size, "sha256": watched.digest.hexdigest()}
        return watched.digest.hexdigest()

    def finish(self, kind: str, facts: Mapping[str, Any]) -> None:
        manifest = {"format": FORMAT, "kind": kind, **facts, "files": self.files}
        content = json.dumps(manifest, indent=1, ensure_ascii=False).encode()
        for name, member in ((MANIFEST, content), (SEAL, digest_of(content).encode())):
            self.add(name, io.BytesIO(member))


class Watched:
    """A file whose bytes are digested as they are read."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        piece = self.file.read(size)
        self.digest.update(piece)
        return piece


@contextmanager
def written(path: Path, *, replace: bool = False) -> Iterator[Writer]:
    """A new archive at ``path``, for its owner's eyes only: all of it at the end, or nothing.

    Conflict if something is there, before anything is read and again at the end.
    """
    require_free(path, replace=replace)
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            with new_tar(file, zipped=path.suffix in {".gz", ".tgz"}) as tar:
                yield Writer(tar)
            file.flush()
            os.fsync(file.fileno())
            require_free(path, replace=replace)
            Path(file.name).rename(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    sync_folder(path.parent)


def new_tar(file: IO[bytes], *, zipped: bool) -> tarfile.TarFile:
    if zipped:
        return tarfile.open(fileobj=file, mode="w:gz", compresslevel=LEVEL)
    return tarfile.open(fileobj=file, mode="w")


def require_free(path: Path, *, replace: bool) -> None:
    if path.exists() and not (replace and path.is_file()):
        raise Conflict(
            "{path} exists already; --replace overwrites it" if path.is_file() else "{path} exists already",
            path=str(path),
        )


@dataclass(frozen=True, slots=True)
class Archive:
    """A checked archive; it stays open, so what is read later is what was checked."""

    file: IO[bytes]
    manifest: Mapping[str, Any]

    def members(self, folder: str) -> Iterator[tuple[str, IO[bytes]]]:
        """Name (without the folder) and content of each file in one of the folders, in their order."""
        with read_tar(self.file) as tar:
            for name, content in contents(tar):
                if name.startswith(f"{folder}/"):
                    yield name.removeprefix(f"{folder}/"), content


@contextmanager
def opened(path: Path, *, kind: str) -> Iterator[Archive]:
    """The archive, once every byte in it agrees with its manifest; else InvalidInput."""
    with path.open("rb") as file:
        manifest = checked(file)
        if manifest.get("format") != FORMAT:
            raise damaged(f"its format is {manifest.get('format')}, and this version reads {FORMAT}")
        if manifest.get("kind") != kind:
            raise damaged(f"it is a copy of {manifest.get('kind')}, not of {kind}")
        yield Archive(file, manifest)


def checked(file: IO[bytes]) -> dict[str, Any]:
    """The manifest of an archive that has exactly what the manifest says."""
    found: dict[str, dict[str, Any]] = {}
    kept: dict[str, bytes] = {}
    with read_tar(file) as tar:
        for name, content in contents(tar):
            if name in found or not (name in {MANIFEST, SEAL} or NAME.fullmatch(name)):
                raise damaged(f"{name!r} does not belong there")
            if name in {MANIFEST, SEAL}:
                kept[name] = content.read()
            found[name] = measured(content)
    if kept.keys() != {MANIFEST, SEAL} or digest_of(kept[MANIFEST]).encode() != kept[SEAL]:
        raise damaged("its end is missing, or its manifest was changed")
    manifest: dict[str, Any] = json.loads(kept[MANIFEST])
    del found[MANIFEST], found[SEAL]
    if found != manifest.get("files"):
        wrong = sorted(name for name in found if found[name] != manifest.get("files", {}).get(name))
        raise damaged(
            f"it has other contents than its manifest says ({', '.join(wrong[:3]) or 'some missing'})"
        )
    return manifest


def measured(content: IO[bytes]) -> dict[str, Any]:
    watched = Watched(content)
    size = sum(map(len, iter(lambda: watched.read(PIECE), b"")))
    return {"size": size, "sha256": watched.digest.hexdigest()}


@contextmanager
def read_tar(file: IO[bytes]) -> Iterator[tarfile.TarFile]:
    file.seek(0)
    try:
        with tarfile.open(fileobj=file, mode="r:*") as tar:
            yield tar
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error, UnicodeDecodeError) as problem:
        raise damaged(f"it cannot be read to its end ({problem})") from problem


def contents(tar: tarfile.TarFile) -> Iterator[tuple[str, IO[bytes]]]:
    for member in tar:
        content = tar.extractfile(member) if member.isreg() else None
        if content is None:
            raise damaged(f"{member.name!r} is no plain file")
        yield member.name, content


def damaged(reason: str) -> InvalidInput:
    return InvalidInput(
        "the archive is refused: {reason}; nothing was written", code="archive_damaged", reason=reason
    )


def stated(manifest: Mapping[str, Any], reading: Callable[[Mapping[str, Any]], Stated]) -> Stated:
    """What ``reading`` finds in the manifest; InvalidInput if the manifest does not have it."""
    try:
        return reading(manifest)
    except (KeyError, TypeError, ValueError) as problem:
        raise damaged(f"its manifest lacks {problem}") from problem
