"""Boards as JSON and CSV."""

from fastapi import APIRouter, Request, Response
from sqlalchemy.orm import Session

from anoncup import schemas
from app.api.documentation.bodies import example_as, raw
from app.api.documentation.responses import BOARD, refusing
from app.db.transaction import transaction
from app.http import board_cache
from app.http.authentication import MaybeSignedIn, ShownBy
from app.services.boards import anonymization, attack_timeline, board_timeline, matrix, reidentification
from app.services.contests import visibility
from app.services.contests.visibility import Sight

router = APIRouter(prefix="/competitions/{slug}/boards", tags=["boards"], responses=refusing(BOARD))

JSON, CSV = "application/json", "text/csv; charset=utf-8"


@router.get("/anonymization", response_model=schemas.Board)
async def anonymization_board(slug: str, shown: ShownBy, request: Request) -> Response:
    """Every team's best accepted submission (its best final, once they are frozen), lowest overall first."""
    return await board_cache.board(request, shown, slug, anonymization_json, media_type=JSON)


def anonymization_json(session: Session, sight: Sight) -> str:
    return anonymization.board(session, sight).model_dump_json()


@router.get(
    "/anonymization.csv",
    response_class=Response,
    responses=raw("text/csv", anonymization.as_csv(example_as(schemas.Board))),
)
async def anonymization_csv(slug: str, shown: ShownBy, request: Request) -> Response:
    """The same board for a spreadsheet."""
    return await board_cache.board(request, shown, slug, anonymization_lines, media_type=CSV)


def anonymization_lines(session: Session, sight: Sight) -> str:
    return anonymization.as_csv(anonymization.board(session, sight))


@router.get("/history", response_model=schemas.History)
async def anonymization_history(slug: str, shown: ShownBy, request: Request) -> Response:
    """How it came about: each team's best over time, as the board of each moment showed it."""
    return await board_cache.board(request, shown, slug, board_timeline.as_json, media_type=JSON)


@router.get("/reidentification", response_model=schemas.AttackersBoard)
async def reidentification_board(slug: str, shown: ShownBy, request: Request) -> Response:
    """How many records each team identified, most first."""
    return await board_cache.board(request, shown, slug, reidentification_json, media_type=JSON)


def reidentification_json(session: Session, sight: Sight) -> str:
    return reidentification.board(session, sight).model_dump_json()


@router.get(
    "/reidentification.csv",
    response_class=Response,
    responses=raw("text/csv", reidentification.as_csv(example_as(schemas.AttackersBoard))),
)
async def reidentification_csv(slug: str, shown: ShownBy, request: Request) -> Response:
    """The same board for a spreadsheet."""
    return await board_cache.board(request, shown, slug, reidentification_lines, media_type=CSV)


def reidentification_lines(session: Session, sight: Sight) -> str:
    return reidentification.as_csv(reidentification.board(session, sight))


@router.get("/matrix", response_model=schemas.Matrix)
async def matrix_board(slug: str, shown: ShownBy, request: Request) -> Response:
    """The best trial of every attacker on every target."""
    return await board_cache.board(request, shown, slug, matrix_json, media_type=JSON)


def matrix_json(session: Session, sight: Sight) -> str:
    return matrix.board(session, sight).model_dump_json()


@router.get(
    "/matrix.csv",
    response_class=Response,
    responses=raw("text/csv", matrix.as_csv(example_as(schemas.Matrix))),
)
async def matrix_csv(slug: str, shown: ShownBy, request: Request) -> Response:
    """The rates of the same matrix for a spreadsheet."""
    return await board_cache.board(request, shown, slug, matrix_lines, media_type=CSV)


def matrix_lines(session: Session, sight: Sight) -> str:
    return matrix.as_csv(matrix.board(session, sight))


@router.get("/attacks", response_model=schemas.AttackHistory, responses=refusing("not_revealed_yet"))
def attacks(slug: str, principal: MaybeSignedIn, request: Request) -> Response:
    """The matrix as it came to be, once the secrets are revealed: each team's best on each target over time.

    It changes no more, and is several times larger than a board: nothing of it is kept here.
    """
    with transaction() as session:
        found = attack_timeline.board(session, visibility.boards(session, principal, slug))
    return board_cache.tagged(request, found.model_dump_json().encode(), media_type=JSON)
