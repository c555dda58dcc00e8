"""The boards of a competition as its pages show them; None if they are not open to the reader."""

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel

from anoncup.schemas import AttackersBoard, Board, History, Matrix, TotalBoard
from app.http.authentication import RequestCredential
from app.http.board_cache import BoardBuilder, load_open_board
from app.services.boards import anonymization, board_history, matrix, reidentification, total

_ModelT = TypeVar("_ModelT", bound=BaseModel)


def _make_loader(
    build: BoardBuilder[_ModelT], model: type[_ModelT]
) -> Callable[[Request, str, RequestCredential], Awaitable[_ModelT | None]]:
    """Return a dependency that loads a board as the reader sees it."""

    async def load(request: Request, slug: str, credential: RequestCredential) -> _ModelT | None:
        return await load_open_board(request, credential, slug, build, model)

    return load


_load_board = _make_loader(anonymization.build_board, Board)
_load_attackers_board = _make_loader(reidentification.build_board, AttackersBoard)
_load_matrix = _make_loader(matrix.build_matrix, Matrix)
_load_history = _make_loader(board_history.build_history, History)
_load_release_total = _make_loader(total.build_release_total, TotalBoard)
_load_attack_total = _make_loader(total.build_attack_total, TotalBoard)

OpenBoard = Annotated[Board | None, Depends(_load_board)]
OpenAttackersBoard = Annotated[AttackersBoard | None, Depends(_load_attackers_board)]
OpenMatrix = Annotated[Matrix | None, Depends(_load_matrix)]
OpenHistory = Annotated[History | None, Depends(_load_history)]
OpenReleaseTotal = Annotated[TotalBoard | None, Depends(_load_release_total)]
OpenAttackTotal = Annotated[TotalBoard | None, Depends(_load_attack_total)]
