"""Targets: list them, download them, check them against the manifest, see their secrets at the end."""

import hashlib
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse

from anoncup import schemas
from anoncup.errors import NotFound
from app.api.documentation import examples
from app.api.documentation.bodies import ZIP, raw
from app.api.documentation.responses import READ, TEAM, refusing
from app.db.models import Target
from app.db.transaction import transaction
from app.http.archives import Content, sent, zipped
from app.http.authentication import MaybeSignedIn, SignedIn
from app.services.attacks import targets
from app.storage import store

router = APIRouter(tags=["targets"])


@router.get("/competitions/{slug}/targets", responses=refusing(TEAM, "no_targets_yet"))
def list_targets(slug: str, principal: SignedIn) -> list[schemas.Target]:
    """What may be attacked, from the start of the second phase on."""
    with transaction() as session:
        return [target_out(each) for each in targets.listed(session, principal, slug)]


@router.get(
    "/competitions/{slug}/targets.zip",
    response_class=StreamingResponse,
    responses=raw(ZIP) | refusing(TEAM, "no_targets_yet", READ),
)
def download_targets(slug: str, principal: SignedIn) -> StreamingResponse:
    """All targets that your team may attack, a folder each, with their `SHA256SUMS` and `commitments.csv`.

    `MANIFEST` lists those of all teams; its digest is public.
    """
    with transaction() as session:
        _, everything = targets.in_manifest(session, principal, slug)
        found = targets.of_others(session, principal, slug)
    return sent(zipped(files_of(found, targets.sums(everything))), name=f"{slug}-targets.zip")


@router.get(
    "/targets/{target_id}/data/{file}", response_class=Response, responses=raw("text/csv", examples.TABLE)
)
def download_target(target_id: UUID, file: str, principal: SignedIn) -> Response:
    """One file of a target, as the service wrote it."""
    with transaction() as session:
        known = named(targets.visible(session, principal, target_id))
    if file not in known:
        raise NotFound("a target consists of {names}", code="no_such_file", names=tuple(known))
    return Response(store().get(known[file]), media_type="text/csv")


@router.get("/competitions/{slug}/manifest", responses=refusing("no_targets_yet"))
def get_manifest(slug: str, principal: MaybeSignedIn) -> schemas.Manifest:
    """Digests of all targets and commitments of their secrets, public from their publication on."""
    with transaction() as session:
        found = targets.with_teams(session, principal, slug)
    listed = [schemas.ManifestEntry(**entry(target), team=team) for target, team in found]
    sums = targets.sums([target for target, _ in found])
    return schemas.Manifest(sha256=hashlib.sha256(sums.encode()).hexdigest(), targets=listed)


@router.get("/competitions/{slug}/reveal", responses=refusing("no_targets_yet not_revealed_yet"))
def get_reveal(slug: str, principal: MaybeSignedIn) -> list[schemas.Revealed]:
    """Every target with its team and the salt of its commitment, once the competition has closed."""
    with transaction() as session:
        found = targets.revealed(session, principal, slug)
    return [
        schemas.Revealed(
            **entry(each),
            team=each.submission.team.name,
            submission_id=each.submission_id,
            salt=each.opening.salt.hex(),
            secret_sha256=each.opening.secret,
        )
        for each in found
        if each.opening is not None  # and none is: the reveal waits for all of them
    ]


@router.get(
    "/targets/{target_id}/secret",
    response_class=Response,
    responses=raw("text/csv", examples.SECRET) | refusing("not_revealed_yet", READ),
)
def get_secret(target_id: UUID, principal: MaybeSignedIn) -> Response:
    """The revealed secret of a target, headed `original_row`."""
    with transaction() as session:
        digest = targets.revealed_secret(session, principal, target_id)
    return Response(store().get(digest), media_type="text/csv")


def target_out(each: targets.Shown) -> schemas.Target:
    return schemas.Target(
        id=each.target.id,
        **entry(each.target),
        own=each.own,
        withdrawn=each.withdrawn,
        team=each.team,
        guesses_left=each.guesses_left,
        guesses_left_by_question=each.left,
    )


def entry(target: Target) -> dict[str, Any]:
    return {
        "name": target.name,
        "rows": target.rows,
        "files": named(target),
        "commitment": target.submission.secret.commitment,
    }


def named(target: Target) -> dict[str, str]:
    """SHA-256 of each file by its file name."""
    return {f"{name}.csv": digest for name, digest in (target.files or {}).items()}


def files_of(found: list[targets.Shown], manifest: str) -> Iterator[tuple[str, Content]]:
    released = [each.target for each in found]
    yield "MANIFEST", manifest.encode()
    yield "SHA256SUMS", targets.sums(released).encode()
    yield "commitments.csv", targets.commitments(found).encode()
    for target in released:
        for name, digest in named(target).items():
            yield f"{target.name}/{name}", store().pieces(digest)
