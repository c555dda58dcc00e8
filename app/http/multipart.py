"""Bodies that carry files: they go to the disk while they come, and are gone when the request is over."""

import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from anoncup.errors import InvalidUpload, Problem, Unavailable, Unreadable
from anoncup.messages import Message
from anoncup.tables.files import missing_file, too_large

TEXT_BYTES = 64 * 1024
MOST_PARTS = 8


def spool_to(folder: Path) -> None:
    """Let what does not fit into memory wait in ``folder``, unless the environment names another one.

    The usual folder may be memory itself. The files have no name there: nothing is left behind by a kill.
    """
    if tempfile.gettempdir() in ("/tmp", "/var/tmp", "/usr/tmp"):  # noqa: S108  # where nobody chose
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.tempdir = str(folder)


class Reader(MultiPartParser):
    """The framework's reader of forms.

    Of a file that is too large it keeps no more than the limit. The rest is read and thrown away, so that the
    sender gets to hear the answer.
    """

    def __init__(self, request: Request, *, file_bytes: int) -> None:
        super().__init__(
            request.headers,
            request.stream(),
            max_files=MOST_PARTS,
            max_fields=MOST_PARTS,
            max_part_size=TEXT_BYTES,
        )
        self.file_bytes = file_bytes
        self.size = 0
        self.too_large = ""

    def on_part_begin(self) -> None:
        super().on_part_begin()
        self.size = 0

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        self.size += end - start
        if self._current_part.file is not None and self.size > self.file_bytes:
            self.too_large = self._current_part.field_name
        else:
            super().on_part_data(data, start, end)


@dataclass(frozen=True, slots=True)
class Parts:
    """The files and texts of a multipart request, the files on the disk."""

    files: Mapping[str, UploadFile]
    texts: Mapping[str, str]

    @property
    def size(self) -> int:
        """Of all files, in bytes."""
        return sum(part.size or 0 for part in self.files.values())

    def file(self, name: str) -> bytes:
        """The content of a file, to be asked for when there is room for it in memory."""
        if name not in self.files:
            raise InvalidUpload([missing_file(name)])
        return self.beginning(name, -1)

    def beginning(self, name: str, size: int) -> bytes:
        self.files[name].file.seek(0)
        return self.files[name].file.read(size)


@asynccontextmanager
async def multipart(request: Request, *, names: set[str], file_mb: int) -> AsyncIterator[Parts]:
    """The parts of a multipart form whose sender is known; each file within ``file_mb``."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        files = tuple(sorted(names))
        message = Message("send a multipart/form-data request with the files {names}", names=files)
        raise InvalidUpload([Problem("request", None, None, "not_multipart", message)])
    form = await read(request, file_mb)
    try:
        yield parts_of(form)
    finally:
        await form.close()


async def read(request: Request, file_mb: int) -> FormData:
    reader = Reader(request, file_bytes=file_mb * 2**20)
    try:
        form = await reader.parse()
    except MultiPartException as problem:
        raise Unreadable("the request cannot be read: {reason}", reason=problem.message) from None
    except UnicodeError:
        raise not_utf8() from None
    except OSError as problem:
        with suppress(RuntimeError):  # it has been read to its end
            async for _ in request.stream():
                pass
        raise Unavailable("the upload could not be kept", code="storage_unavailable") from problem
    if reader.too_large:
        await form.close()
        raise too_large(reader.too_large, file_mb)
    return form


def not_utf8() -> InvalidUpload:
    message = Message("encode the names and texts of a multipart request in UTF-8")
    return InvalidUpload([Problem("request", None, None, "encoding", message)])


def parts_of(form: FormData) -> Parts:
    files: dict[str, UploadFile] = {}
    texts: dict[str, str] = {}
    for name, part in form.multi_items():
        try:
            name.encode()  # half a character can be in no answer
        except UnicodeError:
            raise not_utf8() from None
        if name in files or name in texts:
            message = Message("{name} is sent twice", name=name)
            raise InvalidUpload([Problem(name, None, None, "repeated_part", message)])
        if isinstance(part, UploadFile):
            files[name] = part
        else:
            texts[name] = part
    return Parts(files, texts)
