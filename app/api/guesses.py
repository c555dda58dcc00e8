"""Guesses: hand one in, list one's own."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, status

from anoncup import schemas
from anoncup.plugins import TRACKS
from anoncup.tracks.files import GUESS
from app.api.documentation import examples
from app.api.documentation.bodies import Json, files_said, multipart
from app.api.documentation.responses import CHECK, TEAM, UPLOAD, refusing
from app.db.models import Guess, State
from app.db.transaction import transaction
from app.http import uploads
from app.http.authentication import IdempotencyKey, SignedIn
from app.http.paging import AskedPage, place_of
from app.http.uploads import A_GUESS, dry_run, take_in
from app.services.attacks import guesses
from app.services.attacks.guesses import Entrance

router = APIRouter(tags=["guesses"])

FILES = ((GUESS, one.file.said) for track in TRACKS.values() for one in track.questions.values())
QUESTION = "which of the questions asked it answers; default: the first"
PARTS: dict[str, Json] = {**files_said(FILES), "question": {"type": "string", "description": QUESTION}}


def entrance(target_id: UUID, principal: SignedIn, idempotency_key: IdempotencyKey = None) -> Entrance:
    with transaction() as session:
        return guesses.entrance(session, principal, target_id, key=idempotency_key)


@router.post(
    "/targets/{target_id}/guesses",
    status_code=status.HTTP_202_ACCEPTED,
    openapi_extra=multipart(PARTS, {"guess": examples.GUESS}, needed=["guess"]),
    responses=refusing(
        UPLOAD,
        "changed_meanwhile own_target phase_closed phase_paused too_late target_withdrawn unknown_question",
    ),
)
async def create_guess(
    request: Request, principal: SignedIn, at: Annotated[Entrance, Depends(entrance)]
) -> schemas.GuessReceipt:
    """Answer a question about a target, such as which row of the original each of its rows came from.

    A partial guess is fine. What counts for a deadline is when the request entered, which the receipt shows.
    """
    return receipt(await take_in(request, principal, at, A_GUESS))


def entrance_of_check(target_id: UUID, principal: SignedIn) -> tuple[Entrance, UUID]:
    with transaction() as session:
        return guesses.enter_check(session, principal, target_id)


@router.post(
    "/targets/{target_id}/guesses/check",
    openapi_extra=multipart(PARTS, {"guess": examples.GUESS}, needed=["guess"]),
    responses=refusing(CHECK, "own_target target_withdrawn unknown_question"),
)
async def check_guess(
    request: Request, entered: Annotated[tuple[Entrance, UUID], Depends(entrance_of_check)]
) -> schemas.CheckedGuess:
    """Say whether a guess would be accepted, and list every fault if not.

    The file is read exactly as that of a guess. Nothing is stored, and neither a guess nor an attempt is
    counted. It says nothing of how many rows are right.
    """
    at, team_id = entered
    checked = await dry_run(request, at, team_id, uploads.check_guess)
    warnings = [schemas.Said.of(remark.code, remark.message) for remark in checked.remarks]
    return schemas.CheckedGuess(question=checked.question, answered=checked.answered, warnings=warnings)


@router.get("/competitions/{slug}/guesses", responses=refusing(TEAM))
def list_guesses(slug: str, principal: SignedIn, page: AskedPage) -> list[schemas.Guess]:
    """Your team's guesses, newest first; with their scores where the competition shows them."""
    after = place_of(page.cursor, datetime.fromisoformat, UUID)
    with transaction() as session:
        found, horizon = guesses.of_team(session, principal, slug, after=after, limit=page.wanted)
        return [guess_out(each, horizon) for each in page.cut(found, place)]


def place(made: Guess) -> tuple[datetime, UUID]:
    return made.received_at, made.id


def receipt(made: Guess) -> schemas.GuessReceipt:
    return schemas.GuessReceipt(
        id=made.id,
        target_id=made.target_id,
        question=made.question,
        status=State.QUEUED,
        received_at=made.received_at,
        answered=made.answered,
        guesses_left=made.guesses_left,
    )


def guess_out(made: Guess, horizon: datetime | None) -> schemas.Guess:
    outcome = guesses.told(made, horizon)
    return schemas.Guess(
        **receipt(made).model_dump(exclude={"status"}),
        status=made.state,
        target=made.target.name,
        rows=made.target.rows,
        correct=outcome.counted if outcome else None,
        rate=outcome.value if outcome else None,
        outcome=outcome,
        **schemas.failed(made.failure),
    )
