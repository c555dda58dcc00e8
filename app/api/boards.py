"""Routes of the boards, as JSON and CSV."""

from collections.abc import Callable
from typing import TypeVar

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel
from sqlalchemy.orm import Session

from anoncup import schemas
from app.api.openapi import NOT_MODIFIED, CsvResponse
from app.http import board_cache
from app.http.authentication import RequestCredential
from app.http.board_cache import BoardBuilder
from app.services.boards import anonymization, board_history, matrix, reidentification, total
from app.services.contests.visibility import BoardAccess

router = APIRouter(prefix="/competitions/{slug}/boards", tags=["boards"], responses=NOT_MODIFIED)

JSON, CSV = "application/json", "text/csv; charset=utf-8"
BoardT = TypeVar("BoardT", bound=BaseModel)


def _add_board(
    path: str,
    name: str,
    *,
    description: str,
    build: BoardBuilder[BoardT],
    model: type[BoardT],
    render_csv: Callable[[BoardT], str],
) -> None:
    """Add the routes of a board, as JSON and as a CSV file."""

    async def send_json(slug: str, credential: RequestCredential, request: Request) -> Response:
        return await board_cache.build_board_response(request, credential, slug, build, media_type=JSON)

    def build_csv(session: Session, access: BoardAccess) -> str:
        return render_csv(build(session, access))

    async def send_csv(slug: str, credential: RequestCredential, request: Request) -> Response:
        return await board_cache.build_board_response(request, credential, slug, build_csv, media_type=CSV)

    router.get(path, name=name, description=description, response_model=model)(send_json)
    router.get(
        f"{path}.csv",
        name=f"{name.removesuffix('_board')}_csv",
        description=f"{description} This is a CSV file for spreadsheets.",
        response_class=CsvResponse,
    )(send_csv)


_add_board(
    "/anonymization",
    "anonymization_board",
    description="Return every team's best accepted submission, or its best final once they are frozen, "
    "best first.",
    build=anonymization.build_board,
    model=schemas.Board,
    render_csv=anonymization.render_csv,
)
_add_board(
    "/reidentification",
    "reidentification_board",
    description="Return the number of records that each team identified, highest first.",
    build=reidentification.build_board,
    model=schemas.AttackersBoard,
    render_csv=reidentification.render_csv,
)
_add_board(
    "/total",
    "release_total",
    description="Return the scores of the release boards of all rounds and their total, best first.",
    build=total.build_release_total,
    model=schemas.TotalBoard,
    render_csv=total.render_csv,
)
_add_board(
    "/attack-total",
    "attack_total",
    description="Return the scores of the attacks in all rounds and their total, highest first.",
    build=total.build_attack_total,
    model=schemas.TotalBoard,
    render_csv=total.render_csv,
)
_add_board(
    "/matrix",
    "matrix_board",
    description="Return the best trial of every attacker on every target.",
    build=matrix.build_matrix,
    model=schemas.Matrix,
    render_csv=matrix.render_csv,
)
_add_board(
    "/history",
    "history_board",
    description="Return each team's best submission over time, as the board showed it at each moment.",
    build=board_history.build_history,
    model=schemas.History,
    render_csv=board_history.render_csv,
)
