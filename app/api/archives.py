"""Downloads of many files at once: a team's kit, an organizer's export."""

from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import IO

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from app.api.boards import known_tags
from app.errors import NotFound, Unavailable
from app.http.archives import Content, sent, tag_of, zipped
from app.http.dependencies import AppSettings, SignedIn
from app.services import competitions, exports, kits, uploads
from app.services.accounts import Principal
from app.services.kits import Kit
from app.storage.durable import write_whole
from app.transaction import transaction

router = APIRouter(prefix="/competitions/{slug}", tags=["competitions"])

making = Lock()
"""One kit is made at a time: whoever else asks for it finds it made."""


@router.get(
    "/kit.zip",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"application/zip": {}}},
        304: {"description": "the client has it already"},
    },
)
def download_kit(slug: str, request: Request, settings: AppSettings) -> Response:
    """All that a team needs: the rules, the original data, an example with its secret, the commands."""
    with transaction() as session:
        row = competitions.find(session, slug)
        if row.original_rows is None:
            raise NotFound("the competition has no original data yet", code="no_original")
        kit = Kit(competitions.published_file(row), uploads.digests(row))
    tag = tag_of(version("anoncup"), kit.file, *(text for pair in kit.original for text in pair))
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if tag in known_tags(request):
        return Response(status_code=304, headers=headers)
    file = made(kit, settings.data / "kits" / slug / f"{tag[1:-1]}.zip")
    return sent(file, name=f"{slug}-kit.zip", headers=headers)


def made(kit: Kit, place: Path) -> IO[bytes]:
    """The kit, made when it is first asked for; those before it are thrown away."""
    with suppress(FileNotFoundError):
        return place.open("rb")
    with making:
        if not place.exists():
            with zipped(kits.files(kit)) as archive:
                keep(place, archive.read())
            for other in place.parent.iterdir():
                if other.suffix == ".zip" and other != place:
                    other.unlink(missing_ok=True)
        return place.open("rb")


def keep(place: Path, content: bytes) -> None:
    try:
        write_whole(place, BytesIO(content))
    except OSError as problem:
        raise Unavailable("the kit could not be stored", code="storage_unavailable") from problem


@router.get(
    "/export.zip",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": {}}}},
)
def export(slug: str, principal: SignedIn) -> StreamingResponse:
    """All of the competition but its secrets: rules, releases, guesses, evaluations, boards, audit log."""
    archive = zipped(exported(principal, slug))
    return sent(archive, name=f"{slug}-export.zip")


def exported(principal: Principal, slug: str) -> Iterator[tuple[str, Content]]:
    """The connection is given back before the large files are packed."""
    with transaction() as session:
        held = exports.holdings(session, principal, slug)
        yield from exports.tables(session, principal, held)
    yield from exports.handed_in(held)
