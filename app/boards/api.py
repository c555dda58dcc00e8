"""Routes of the boards, as JSON and CSV."""

from collections.abc import Callable
from typing import TypeVar

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel
from sqlalchemy.orm import Session

from anoncup import schemas
from app.boards import anonymization, history, matrix, reidentification, total
from app.competitions import visibility
from app.competitions.visibility import BoardAccess
from app.core.db.transaction import transaction
from app.core.http.etags import send_if_changed
from app.core.http.openapi import NOT_MODIFIED, CsvResponse
from app.core.identity.authentication import OptionalPrincipal
from app.core.identity.principal import Principal

router = APIRouter(prefix="/competitions/{slug}/boards", tags=["boards"])

JSON, CSV = "application/json", "text/csv; charset=utf-8"
BoardT = TypeVar("BoardT", bound=BaseModel)
_HEADERS = {"Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie"}


def _add_board(
    path: str,
    name: str,
    *,
    description: str,
    build: Callable[[Session, BoardAccess], BoardT],
    model: type[BoardT],
    render_csv: Callable[[BoardT], bytes],
) -> None:
    """Add the routes of a board, as JSON and as a CSV file."""

    def load(principal: Principal | None, slug: str) -> BoardT:
        with transaction() as session:
            return build(session, visibility.authorize_boards(session, principal, slug))

    def send_json(slug: str, principal: OptionalPrincipal, request: Request) -> Response:
        return _send(request, load(principal, slug).model_dump_json().encode(), JSON)

    def send_csv(slug: str, principal: OptionalPrincipal, request: Request) -> Response:
        return _send(request, render_csv(load(principal, slug)), CSV)

    router.get(path, name=name, description=description, response_model=model, responses=NOT_MODIFIED)(
        send_json
    )
    router.get(
        f"{path}.csv",
        name=f"{name.removesuffix('_board')}_csv",
        description=f"{description} This is a CSV file for spreadsheets.",
        response_class=CsvResponse,
        responses=NOT_MODIFIED,
    )(send_csv)


def _send(request: Request, content: bytes, media_type: str) -> Response:
    return send_if_changed(request, content, media_type=media_type, headers=_HEADERS)


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
    build=history.build_history,
    model=schemas.History,
    render_csv=history.render_csv,
)
