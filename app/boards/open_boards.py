"""The boards of a competition as its pages show them; None if they are not open to the reader."""

from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Depends
from pydantic import BaseModel
from sqlalchemy.orm import Session

from anoncup.schemas import AttackersBoard, Board, History, Matrix, TotalBoard
from app.boards import anonymization, history, matrix, reidentification, total
from app.competitions import visibility
from app.competitions.visibility import BoardAccess
from app.core.db.transaction import transaction
from app.core.identity.authentication import OptionalPrincipal

_ModelT = TypeVar("_ModelT", bound=BaseModel)


def _make_loader(
    build: Callable[[Session, BoardAccess], _ModelT],
) -> Callable[[str, OptionalPrincipal], _ModelT | None]:
    """Return a dependency that loads a board as the reader sees it."""

    def load(slug: str, principal: OptionalPrincipal) -> _ModelT | None:
        with transaction() as session:
            access = visibility.find_board_access(session, principal, slug)
            return None if access is None else build(session, access)

    return load


OpenBoard = Annotated[Board | None, Depends(_make_loader(anonymization.build_board))]
OpenAttackersBoard = Annotated[AttackersBoard | None, Depends(_make_loader(reidentification.build_board))]
OpenMatrix = Annotated[Matrix | None, Depends(_make_loader(matrix.build_matrix))]
OpenHistory = Annotated[History | None, Depends(_make_loader(history.build_history))]
OpenReleaseTotal = Annotated[TotalBoard | None, Depends(_make_loader(total.build_release_total))]
OpenAttackTotal = Annotated[TotalBoard | None, Depends(_make_loader(total.build_attack_total))]
