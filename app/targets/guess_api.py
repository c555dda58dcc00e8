"""Routes of guesses: submit, check and list them."""

from datetime import datetime
from uuid import UUID

from fastapi import APIRouter, Request, status

from anoncup import schemas
from anoncup.plugins import TRACKS
from anoncup.tracks.files import GUESS_FILE
from app.core.db.models import Guess, State
from app.core.db.transaction import transaction
from app.core.http.openapi import JsonObject, build_file_schemas, build_multipart_body
from app.core.http.paging import RequestedPage
from app.core.identity.authentication import CurrentPrincipal, IdempotencyKey
from app.submissions.receiving import receive_dry_run, receive_upload
from app.targets import guesses
from app.targets.guesses import GuessUpload

router = APIRouter(tags=["guesses"])

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


@router.post(
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


@router.post(
    "/targets/{target_id}/guesses/check",
    openapi_extra=build_multipart_body(_PARTS, required=["guess"]),
)
async def check_guess(request: Request, target_id: UUID, principal: CurrentPrincipal) -> schemas.CheckedGuess:
    """Check whether a guess would be accepted. If not, list all problems.

    The file is read exactly as that of a guess. Nothing is stored, and neither a guess nor an attempt is
    counted. The response does not tell how many rows are right. Checks are refused once the phase has ended.
    """
    checked = await receive_dry_run(request, principal, GuessUpload(target_id))
    warnings = [schemas.Notice.create(remark.code, remark.message) for remark in checked.remarks]
    return schemas.CheckedGuess(question=checked.question, answered=checked.answered, warnings=warnings)


@router.get("/competitions/{slug}/guesses")
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


@router.get("/guesses/{guess_id}")
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
