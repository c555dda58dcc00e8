"""Reproducible zip archives: the same files give the same bytes."""

import zipfile
from collections.abc import Iterable, Iterator
from functools import partial
from tempfile import TemporaryFile
from typing import IO

from fastapi.responses import StreamingResponse

from anoncup.errors import Unavailable

_CHUNK_BYTES = 1 << 16
_READABLE_FILE_MODE = 0o100644 << 16
"""Mode of a plain file that everybody may read, in the external attributes of a zip entry."""

Content = bytes | Iterable[bytes]
"""The bytes of a file, whole or in chunks."""


class ZipResponse(StreamingResponse):
    media_type = "application/zip"


def build_zip(files: Iterable[tuple[str, Content]]) -> IO[bytes]:
    """Return a zip of the files in the given order, positioned at its start. The caller closes it."""
    archive = TemporaryFile()  # noqa: SIM115  # the caller reads it
    try:
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zip_file:
            for name, content in files:
                _add_file(zip_file, name, content)
        archive.seek(0)
    except OSError as problem:
        archive.close()
        raise Unavailable("the archive could not be packed", code="storage_unavailable") from problem
    except BaseException:
        archive.close()
        raise
    return archive


def _add_file(zip_file: zipfile.ZipFile, name: str, content: Content) -> None:
    """Add a file without the date, owner and operating system that a zip would otherwise contain."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3  # Unix
    entry.external_attr = _READABLE_FILE_MODE
    if isinstance(content, bytes):
        zip_file.writestr(entry, content)
        return
    with zip_file.open(entry, "w", force_zip64=True) as member:
        for chunk in content:
            member.write(chunk)


def build_download(file: IO[bytes], *, name: str) -> ZipResponse:
    """Return a response that sends the archive as a download and closes it afterwards."""
    size = file.seek(0, 2)
    file.seek(0)

    def body() -> Iterator[bytes]:
        with file:
            yield from iter(partial(file.read, _CHUNK_BYTES), b"")

    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Content-Length": str(size)}
    return ZipResponse(body(), headers=headers)
