"""Routes of targets and guesses, of the manifest and, at the end, of the revealed secrets."""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from fastapi import APIRouter, Request, Response, status

from anoncup import schemas
from anoncup.errors import NotFound
from anoncup.plugins import TRACKS
from anoncup.tracks.files import GUESS_FILE
from app.core.db.models import Guess, State
from app.core.db.transaction import transaction
from app.core.http.archives import Content, ZipResponse, build_download, build_zip
from app.core.http.bodies import key_by_file_name
from app.core.http.openapi import CsvResponse, JsonObject, build_file_schemas, build_multipart_body
from app.core.http.paging import RequestedPage
from app.core.identity.authentication import CurrentPrincipal, IdempotencyKey, OptionalPrincipal
from app.core.spreadsheet import render_csv
from app.core.storage import compute_digest, get_store
from app.submissions.receiving import receive_dry_run, receive_upload
from app.targets import guesses, targets
from app.targets.guesses import GuessUpload

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
    yield "commitments.csv", render_csv(["target", "team", "commitment"], commitments)
    for target in attackable_targets:
        for name, digest in target.files.items():
            yield f"{target.name}/{name}", get_store().read_chunks(digest)


guess_router = APIRouter(tags=["guesses"])

_GUESS_FILES = (
    (GUESS_FILE, question.file.format_description)
    for track in TRACKS.values()
    for question in track.questions.values()
)
_QUESTION_HELP = "name of the question that the guess answers; by default the first question"
_PARTS: dict[str, JsonObject] = {
    **build_file_schemas(_GUESS_FILES),
    "question": {"type": "string", "description": _QUESTION_HELP},
}


@guess_router.post(
    "/targets/{target_id}/guesses",
    status_code=status.HTTP_202_ACCEPTED,
    openapi_extra=build_multipart_body(_PARTS, required=["guess"]),
)
async def create_guess(
    request: Request, target_id: UUID, principal: CurrentPrincipal, idempotency_key: IdempotencyKey = None
) -> schemas.GuessReceipt:
    """Answer a question about a target, such as which row of the original each of its rows came from.

    A guess may be partial. For a deadline, the time at which the request arrives counts. The receipt shows
    this time.
    """
    guess = await receive_upload(request, principal, GuessUpload(target_id, key=idempotency_key))
    return schemas.GuessReceipt.from_row(guess, status=State.QUEUED)


@guess_router.post(
    "/targets/{target_id}/guesses/check",
    openapi_extra=build_multipart_body(_PARTS, required=["guess"]),
)
async def check_guess(request: Request, target_id: UUID, principal: CurrentPrincipal) -> schemas.CheckedGuess:
    """Check whether a guess would be accepted. If not, list all problems.

    The file is read exactly as that of a guess. Nothing is stored, and neither a guess nor an attempt is
    counted. The response does not tell how many rows are right. Checks are refused once the phase has ended.
    """
    upload = GuessUpload(target_id)
    guess = await receive_dry_run(request, principal, upload)
    warnings = [schemas.Notice.create(remark.code, remark.message) for remark in guess.remarks]
    return schemas.CheckedGuess(question=upload.question, answered=guess.answered, warnings=warnings)


@guess_router.get("/competitions/{slug}/guesses")
def list_guesses(slug: str, principal: CurrentPrincipal, page: RequestedPage) -> list[schemas.Guess]:
    """List your team's guesses, newest first, with their scores if the competition shows them."""
    with transaction() as session:
        rows, horizon = guesses.list_for_team(
            session, principal, slug, cursor=page.position, limit=page.fetch_limit
        )
        return [
            _serialize_guess(row, horizon)
            for row in page.take_page(rows, lambda last: (last.received_at, last.id))
        ]


@guess_router.get("/guesses/{guess_id}")
def get_guess(guess_id: UUID, principal: CurrentPrincipal) -> schemas.Guess:
    """Return a guess of your team, with its score if the competition shows it."""
    with transaction() as session:
        return _serialize_guess(*guesses.find_own(session, principal, guess_id))


def _serialize_guess(guess: Guess, horizon: datetime | None) -> schemas.Guess:
    outcome, refusal = guesses.get_visible_result(guess, horizon), guess.parsed_refusal
    return schemas.Guess.from_row(
        guess,
        status=guess.state,
        target=guess.target.name,
        rows=guess.target.rows,
        correct=outcome.correct_count if outcome else None,
        rate=outcome.value if outcome else None,
        outcome=outcome,
        errors=[problem.describe() for problem in refusal.problems] if refusal else [],
        total=refusal.total if refusal else 0,
        **schemas.build_failure_fields(guess.failure),
    )
