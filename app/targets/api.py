"""Routes of targets: list and download them, read the manifest and, at the end, the revealed secrets."""

from collections.abc import Iterator
from uuid import UUID

from fastapi import APIRouter, Response

from anoncup import schemas
from anoncup.errors import NotFound
from app.core.db.transaction import transaction
from app.core.http.archives import Content, ZipResponse, build_download, build_zip
from app.core.http.file_names import key_by_file_name
from app.core.http.openapi import CsvResponse
from app.core.identity.authentication import CurrentPrincipal, OptionalPrincipal
from app.core.spreadsheet import render_csv
from app.core.storage import compute_digest, get_store
from app.targets import targets

router = APIRouter(tags=["targets"])


@router.get("/competitions/{slug}/targets")
def list_targets(slug: str, principal: CurrentPrincipal) -> list[schemas.Target]:
    """List the targets, from the start of the second phase on. Replaced targets accept no more guesses."""
    with transaction() as session:
        return targets.list_visible(session, principal, slug)


@router.get("/competitions/{slug}/targets.zip", response_class=ZipResponse)
def download_targets(slug: str, principal: CurrentPrincipal) -> ZipResponse:
    """Return all targets that your team may attack in folders, with `SHA256SUMS` and `commitments.csv`.

    `MANIFEST` lists the targets of all teams. Its digest is public.
    """
    with transaction() as session:
        manifest = targets.load_manifest(session, principal, slug)
        visible_targets = targets.list_visible(session, principal, slug)
    attackable_targets = [target for target in visible_targets if not (target.own or target.withdrawn)]
    files = _iter_archive_files(attackable_targets, targets.render_checksums(manifest))
    return build_download(build_zip(files), name=f"{slug}-targets.zip")


@router.get("/targets/{target_id}/data/{file}", response_class=CsvResponse)
def download_target(target_id: UUID, file: str, principal: CurrentPrincipal) -> Response:
    """Return a file of a target, as the service wrote it."""
    with transaction() as session:
        files = key_by_file_name(targets.find_visible(session, principal, target_id).files or {})
    if file not in files:
        raise NotFound("a target consists of {names}", code="no_such_file", names=tuple(files))
    return CsvResponse(get_store().get(files[file]))


@router.get("/competitions/{slug}/manifest")
def get_manifest(slug: str, principal: OptionalPrincipal) -> schemas.Manifest:
    """Return the digests of all targets and the commitments of their secrets, once they are published."""
    with transaction() as session:
        entries = targets.load_manifest(session, principal, slug)
    checksums = targets.render_checksums(entries)
    return schemas.Manifest(sha256=compute_digest(checksums.encode()), targets=entries)


@router.get("/competitions/{slug}/reveal")
def get_reveal(slug: str, principal: OptionalPrincipal) -> list[schemas.RevealedTarget]:
    """Return every target with its team and the salt of its commitment, once the competition has closed."""
    with transaction() as session:
        rows = targets.list_revealed(session, principal, slug)
    return [
        schemas.RevealedTarget.from_row(
            row,
            **targets.list_public_fields(row),
            team=row.submission.team.name,
            salt=row.opening.salt.hex(),
            secret_sha256=row.opening.secret,
        )
        for row in rows
        if row.opening is not None  # for the type checker: the reveal waits until all have one
    ]


@router.get("/targets/{target_id}/secret", response_class=CsvResponse)
def get_secret(target_id: UUID, _: OptionalPrincipal) -> Response:
    """Return the revealed secret of a target, with the header `original_row`."""
    with transaction() as session:
        digest = targets.find_revealed_secret(session, target_id)
    return CsvResponse(get_store().get(digest))


def _iter_archive_files(
    attackable_targets: list[schemas.Target], manifest: str
) -> Iterator[tuple[str, Content]]:
    commitments = [(target.name, target.team or "", target.commitment) for target in attackable_targets]
    yield "MANIFEST", manifest.encode()
    yield "SHA256SUMS", targets.render_checksums(attackable_targets).encode()
    yield "commitments.csv", render_csv(["target", "team", "commitment"], commitments).encode()
    for target in attackable_targets:
        for name, digest in target.files.items():
            yield f"{target.name}/{name}", get_store().read_chunks(digest)
