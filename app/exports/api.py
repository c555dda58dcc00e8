"""Routes of archives: the kit for teams and the export for organizers."""

from fastapi import APIRouter, Request

from anoncup.errors import NotFound
from app.competitions import competitions
from app.core.db.transaction import transaction
from app.core.http.archives import ZipResponse, build_download, build_zip
from app.core.identity.authentication import CurrentPrincipal, OptionalPrincipal, get_service_url
from app.exports import exports, result_archive
from app.originals import kits
from app.originals.kits import Kit
from app.submissions import uploads

router = APIRouter(prefix="/competitions/{slug}", tags=["competitions"])


@router.get("/kit.zip", response_class=ZipResponse)
def download_kit(slug: str, request: Request, principal: OptionalPrincipal) -> ZipResponse:
    """Return all that a team needs: rules, original data, an example with its secret, and commands."""
    with transaction() as session:
        row = competitions.find(session, principal, slug)
        if row.original_rows is None:
            raise NotFound("the competition has no original data yet", code="no_original")
        kit = Kit(
            row.rules,
            competitions.build_published_file(row),
            uploads.list_original_digests(row),
            get_service_url(request),
        )
    return build_download(build_zip(kits.iter_files(kit)), name=f"{slug}-kit.zip")


@router.get("/export.zip", response_class=ZipResponse)
def export(slug: str, principal: CurrentPrincipal) -> ZipResponse:
    """Return everything except the secrets: rules, releases, guesses, evaluations, boards, audit log."""
    archive = build_zip(exports.iter_files(principal, slug))
    return build_download(archive, name=f"{slug}-export.zip")


@router.get("/archive.zip", response_class=ZipResponse)
def download_archive(slug: str, principal: CurrentPrincipal) -> ZipResponse:
    """Return data and results for publication, once the secrets are revealed."""
    with transaction() as session:
        archive = result_archive.load(session, principal, slug)
    return build_download(build_zip(archive.iter_files()), name=f"{slug}-archive.zip")
