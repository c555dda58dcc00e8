"""Zip archives: the same files are the same bytes, and large ones wait on the disk, not in memory."""

import hashlib
import zipfile
from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import IO

from fastapi.responses import StreamingResponse

from anoncup.errors import Unavailable

IN_MEMORY, PIECE = 16 << 20, 1 << 16
"""Bytes: of an archive until it goes to the disk, and of what is read of it at a time."""
READABLE = 0o100644 << 16
"""A plain file that everybody may read, where a zip keeps the modes of Unix."""

Content = bytes | Iterable[bytes]
"""Of a file, as a whole or one piece after the other."""
Archive = SpooledTemporaryFile[bytes]


def zipped(files: Iterable[tuple[str, Content]]) -> Archive:
    """The files, in the order given, as a zip to be read from its start. Whoever asks closes it."""
    archive: Archive = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  # the caller reads it
    try:
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in files:
                add(packed, name, content)
        archive.seek(0)
    except OSError as problem:
        archive.close()
        raise Unavailable("the archive could not be packed", code="storage_unavailable") from problem
    except BaseException:
        archive.close()
        raise
    return archive


def add(packed: zipfile.ZipFile, name: str, content: Content) -> None:
    """Without the date, the owner and the system that a zip would otherwise tell."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system, entry.external_attr = 3, READABLE
    if isinstance(content, bytes):
        packed.writestr(entry, content)
        return
    with packed.open(entry, "w", force_zip64=True) as place:
        for piece in content:
            place.write(piece)


def pieces_of(file: IO[bytes] | Archive) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece


def tag_of(*parts: str) -> str:
    """An ETag that changes with any of the parts."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode()
        digest.update(len(content).to_bytes(8) + content)
    return '"' + digest.hexdigest()[:32] + '"'


def sent(file: IO[bytes] | Archive, *, name: str, headers: dict[str, str] | None = None) -> StreamingResponse:
    """The archive as a download, closed once it is sent."""
    size = file.seek(0, 2)
    file.seek(0)

    def body() -> Iterator[bytes]:
        with file:
            yield from pieces_of(file)

    head = {"Content-Disposition": f'attachment; filename="{name}"', "Content-Length": str(size)}
    return StreamingResponse(body(), media_type="application/zip", headers=head | (headers or {}))
