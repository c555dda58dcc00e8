"""Routes of the boards, as JSON and CSV."""

from fastapi import APIRouter, Request, Response
from sqlalchemy.orm import Session

from anoncup import schemas
from app.api.documentation.bodies import build_model_example, build_raw_response
from app.api.documentation.responses import BOARD_ERRORS, build_error_responses
from app.db.transaction import transaction
from app.http import board_cache
from app.http.authentication import OptionalPrincipal, RequestCredential
from app.services.boards import anonymization, attack_timeline, board_history, matrix, reidentification, total
from app.services.contests import visibility
from app.services.contests.visibility import BoardAccess

router = APIRouter(
    prefix="/competitions/{slug}/boards", tags=["boards"], responses=build_error_responses(*BOARD_ERRORS)
)

JSON, CSV = "application/json", "text/csv; charset=utf-8"
_TOTAL_CSV_RESPONSES = build_raw_response(
    "text/csv", total.render_csv(build_model_example(schemas.TotalBoard))
) | build_error_responses("no_rounds")


@router.get("/anonymization", response_model=schemas.Board)
async def anonymization_board(slug: str, credential: RequestCredential, request: Request) -> Response:
    """Return every team's best accepted submission, or its best final once they are frozen, best first."""
    return await board_cache.build_board_response(
        request, credential, slug, anonymization.build_board, media_type=JSON
    )


@router.get(
    "/anonymization.csv",
    response_class=Response,
    responses=build_raw_response("text/csv", anonymization.render_csv(build_model_example(schemas.Board))),
)
async def anonymization_csv(slug: str, credential: RequestCredential, request: Request) -> Response:
    """Return the same board as a CSV file for spreadsheets."""
    return await board_cache.build_board_response(
        request, credential, slug, _render_anonymization_csv, media_type=CSV
    )


def _render_anonymization_csv(session: Session, access: BoardAccess) -> str:
    return anonymization.render_csv(anonymization.build_board(session, access))


@router.get("/history", response_model=schemas.History)
async def anonymization_history(slug: str, credential: RequestCredential, request: Request) -> Response:
    """Return each team's best submission over time, as the board showed it at each moment."""
    return await board_cache.build_board_response(
        request, credential, slug, board_history.build_board_history, media_type=JSON
    )


@router.get("/reidentification", response_model=schemas.AttackersBoard)
async def reidentification_board(slug: str, credential: RequestCredential, request: Request) -> Response:
    """Return the number of records that each team identified, highest first."""
    return await board_cache.build_board_response(
        request, credential, slug, reidentification.build_board, media_type=JSON
    )


@router.get(
    "/reidentification.csv",
    response_class=Response,
    responses=build_raw_response(
        "text/csv", reidentification.render_csv(build_model_example(schemas.AttackersBoard))
    ),
)
async def reidentification_csv(slug: str, credential: RequestCredential, request: Request) -> Response:
    """Return the same board as a CSV file for spreadsheets."""
    return await board_cache.build_board_response(
        request, credential, slug, _render_reidentification_csv, media_type=CSV
    )


def _render_reidentification_csv(session: Session, access: BoardAccess) -> str:
    return reidentification.render_csv(reidentification.build_board(session, access))


@router.get("/total", response_model=schemas.TotalBoard, responses=build_error_responses("no_rounds"))
async def release_total(slug: str, credential: RequestCredential, request: Request) -> Response:
    """Return the scores of the release boards of all rounds and their total, best first."""
    return await board_cache.build_board_response(
        request, credential, slug, total.build_release_total, media_type=JSON
    )


@router.get("/total.csv", response_class=Response, responses=_TOTAL_CSV_RESPONSES)
async def release_total_csv(slug: str, credential: RequestCredential, request: Request) -> Response:
    """Return the same board as a CSV file for spreadsheets."""
    return await board_cache.build_board_response(
        request, credential, slug, total.render_release_csv, media_type=CSV
    )


@router.get("/attack-total", response_model=schemas.TotalBoard, responses=build_error_responses("no_rounds"))
async def attack_total(slug: str, credential: RequestCredential, request: Request) -> Response:
    """Return the scores of the attacks in all rounds and their total, highest first."""
    return await board_cache.build_board_response(
        request, credential, slug, total.build_attack_total, media_type=JSON
    )


@router.get("/attack-total.csv", response_class=Response, responses=_TOTAL_CSV_RESPONSES)
async def attack_total_csv(slug: str, credential: RequestCredential, request: Request) -> Response:
    """Return the same board as a CSV file for spreadsheets."""
    return await board_cache.build_board_response(
        request, credential, slug, total.render_attack_csv, media_type=CSV
    )


@router.get("/matrix", response_model=schemas.Matrix)
async def matrix_board(slug: str, credential: RequestCredential, request: Request) -> Response:
    """Return the best trial of every attacker on every target."""
    return await board_cache.build_board_response(
        request, credential, slug, matrix.build_matrix, media_type=JSON
    )


@router.get(
    "/matrix.csv",
    response_class=Response,
    responses=build_raw_response("text/csv", matrix.render_csv(build_model_example(schemas.Matrix))),
)
async def matrix_csv(slug: str, credential: RequestCredential, request: Request) -> Response:
    """Return the rates of the same matrix as a CSV file for spreadsheets."""
    return await board_cache.build_board_response(
        request, credential, slug, _render_matrix_csv, media_type=CSV
    )


def _render_matrix_csv(session: Session, access: BoardAccess) -> str:
    return matrix.render_csv(matrix.build_matrix(session, access))


@router.get(
    "/attacks", response_model=schemas.AttackHistory, responses=build_error_responses("not_revealed_yet")
)
def attacks(slug: str, principal: OptionalPrincipal, request: Request) -> Response:
    """Return each team's best result on each target over time, once the secrets are revealed.

    The history no longer changes. It is not cached, because it is several times larger than a board.
    """
    with transaction() as session:
        attack_history = attack_timeline.build_timeline(
            session, visibility.authorize_boards(session, principal, slug)
        )
    return board_cache.build_uncached_response(
        request, attack_history.model_dump_json().encode(), media_type=JSON
    )
