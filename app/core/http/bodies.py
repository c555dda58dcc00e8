"""Bodies of requests that are files, and multipart forms, whose files are spooled to disk until the end."""

import tempfile
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fastapi import Body, Depends, Request
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from anoncup.errors import FileProblem, InvalidUpload, MalformedRequest, Unavailable
from anoncup.messages import Message
from anoncup.tables.files import build_too_large_error
from app.core.http.admission import get_admission
from app.core.http.openapi import build_request_body
from app.core.identity.authentication import CurrentPrincipal

_MAX_TEXT_BYTES = 64 * 1024
_MAX_PARTS = 8


def set_spool_folder(folder: Path) -> None:
    """Spool large files to ``folder``, unless the environment sets a temporary folder.

    The default folder may be in memory. Spooled files have no name, so a killed process leaves none behind.
    """
    if tempfile.gettempdir() in ("/tmp", "/var/tmp", "/usr/tmp"):  # noqa: S108  # the defaults
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.tempdir = str(folder)


class LimitedParser(MultiPartParser):
    """The framework's form parser with a limit on file sizes.

    The rest of a file that is too large is read and discarded, so that the client can read the response.
    """

    def __init__(self, request: Request, *, max_file_bytes: int) -> None:
        super().__init__(
            request.headers,
            request.stream(),
            max_files=_MAX_PARTS,
            max_fields=_MAX_PARTS,
            max_part_size=_MAX_TEXT_BYTES,
        )
        self.max_file_bytes = max_file_bytes
        self.part_bytes = 0
        self.oversized_field = ""

    async def parse(self) -> FormData:
        form = await super().parse()
        last_file = self._current_part.file
        if last_file is not None and all(part is not last_file for _, part in form.multi_items()):
            await last_file.close()
            await form.close()
            raise MultiPartException("The last file is cut off.")
        return form

    def on_part_begin(self) -> None:
        super().on_part_begin()
        self.part_bytes = 0

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        self.part_bytes += end - start
        if self._current_part.file is not None and self.part_bytes > self.max_file_bytes:
            self.oversized_field = self._current_part.field_name
        else:
            super().on_part_data(data, start, end)


@dataclass(frozen=True, slots=True)
class MultipartForm:
    """The files and texts of a multipart request. Large files are spooled to disk."""

    files: Mapping[str, UploadFile]
    texts: Mapping[str, str]

    @property
    def size(self) -> int:
        """Size of all files in bytes."""
        return sum(part.size or 0 for part in self.files.values())

    def read_files(self) -> dict[str, bytes]:
        """Return the content of each file. Reserve memory first."""
        return {name: _read_from_start(part) for name, part in self.files.items()}


def _read_from_start(part: UploadFile) -> bytes:
    part.file.seek(0)
    return part.file.read()


@asynccontextmanager
async def open_form(
    request: Request, *, names: Collection[str], file_mb: int
) -> AsyncIterator[MultipartForm]:
    """Receive the multipart form of an authenticated client; each file may have at most ``file_mb`` MB."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        files = tuple(sorted(names))
        message = Message("send a multipart/form-data request with the files {names}", names=files)
        raise InvalidUpload([FileProblem("request", None, None, "not_multipart", message)])
    form = await _parse_form(request, file_mb)
    try:
        yield _collect_parts(form)
    finally:
        await form.close()


async def _parse_form(request: Request, file_mb: int) -> FormData:
    parser = LimitedParser(request, max_file_bytes=file_mb * 2**20)
    try:
        form = await parser.parse()
    except MultiPartException as problem:
        raise MalformedRequest("the request cannot be read: {reason}", reason=problem.message) from None
    except UnicodeError:
        raise _build_encoding_error() from None
    except OSError as problem:
        with suppress(RuntimeError):  # the stream has been read completely
            async for _ in request.stream():
                pass
        raise Unavailable("the upload could not be kept", code="storage_unavailable") from problem
    if parser.oversized_field:
        await form.close()
        raise build_too_large_error(parser.oversized_field, file_mb)
    return form


def _build_encoding_error() -> InvalidUpload:
    message = Message("encode the names and texts of a multipart request in UTF-8")
    return InvalidUpload([FileProblem("request", None, None, "encoding", message)])


def _collect_parts(form: FormData) -> MultipartForm:
    files: dict[str, UploadFile] = {}
    texts: dict[str, str] = {}
    for name, part in form.multi_items():
        try:
            name.encode()  # a lone surrogate cannot be part of a response
        except UnicodeError:
            raise _build_encoding_error() from None
        if name in files or name in texts:
            message = Message("{name} is sent twice", name=name)
            raise InvalidUpload([FileProblem(name, None, None, "repeated_part", message)])
        if isinstance(part, UploadFile):
            files[name] = part
        else:
            texts[name] = part
    return MultipartForm(files, texts)


Toml = Annotated[bytes, Body(media_type="application/toml", description="competition.toml")]


async def _receive_file(request: Request, _: CurrentPrincipal) -> AsyncIterator[bytes]:
    """Read a large body after authentication, and yield it with the memory for parsing it reserved."""
    content = await request.body()
    async with get_admission(request).reserve_memory(len(content)):
        yield content


Csv = Annotated[bytes, Depends(_receive_file, scope="function")]
TABLE_BODY = build_request_body(
    "text/csv",
    {
        "type": "string",
        "contentMediaType": "application/octet-stream",
        "description": "the table with its header line",
    },
)


def key_by_file_name(digests: Mapping[str, Any]) -> dict[str, str]:
    """Return SHA-256 digests by the name of the CSV file."""
    return {f"{name}.csv": digest for name, digest in digests.items()}
