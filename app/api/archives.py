"""Downloads of many files at once: a team's kit, an organizer's export."""

from collections.abc import Iterator
from dataclasses import astuple
from importlib.metadata import version
from threading import Lock

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from anoncup.errors import NotFound
from app.api.documentation.bodies import ZIP, raw
from app.api.documentation.responses import ORGANIZER, READ, refusing
from app.db.transaction import transaction
from app.http.archives import Content, sent, tag_of, zipped
from app.http.authentication import AppSettings, MaybeSignedIn, SignedIn, lasting_address
from app.http.board_cache import known_tags
from app.http.disk_cache import Shelf
from app.services.accounts.accounts import Principal
from app.services.contests import competitions
from app.services.organizing import exports
from app.services.originals import kits
from app.services.originals.kit_words import Service
from app.services.originals.kits import Kit
from app.services.submissions import uploads

router = APIRouter(prefix="/competitions/{slug}", tags=["competitions"])

KITS = Shelf(files=64, size=512 << 20, making=Lock())


@router.get(
    "/kit.zip",
    response_class=StreamingResponse,
    responses=raw(ZIP) | {304: {"description": "the client has it already"}} | refusing("no_original", READ),
)
def download_kit(slug: str, request: Request, principal: MaybeSignedIn, settings: AppSettings) -> Response:
    """All that a team needs: the rules, the original data, an example with its secret, the commands."""
    with transaction() as session:
        row = competitions.find(session, principal, slug).row
        if row.original_rows is None:
            raise NotFound("the competition has no original data yet", code="no_original")
        kit = Kit(
            competitions.published_file(row),
            uploads.digests(row),
            Service(lasting_address(request), settings.source, version("anoncup")),
        )
    tag = tag_of(*astuple(kit.service), kit.file, *(text for pair in kit.original for text in pair))
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if tag in known_tags(request):
        return Response(status_code=304, headers=headers)
    file = KITS.file(settings.data / "kits", f"{tag[1:-1]}.zip", lambda: zipped(kits.files(kit)))
    return sent(file, name=f"{slug}-kit.zip", headers=headers)


@router.get("/export.zip", response_class=StreamingResponse, responses=raw(ZIP) | refusing(ORGANIZER, READ))
def export(slug: str, principal: SignedIn) -> StreamingResponse:
    """Everything except the secrets: rules, releases, guesses, evaluations, boards, audit log."""
    archive = zipped(exported(principal, slug))
    return sent(archive, name=f"{slug}-export.zip")


def exported(principal: Principal, slug: str) -> Iterator[tuple[str, Content]]:
    """The connection is given back before the large files are packed."""
    with transaction() as session:
        held = exports.holdings(session, principal, slug)
        yield from exports.tables(session, principal, held)
    yield from exports.handed_in(held)
