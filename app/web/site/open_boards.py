"""The boards of a competition as its pages show them; None if they are not open to the reader."""

from typing import Annotated

from fastapi import Depends, Request

from anoncup.schemas import AttackersBoard, Board, History, TotalBoard
from app.http.authentication import RequestCredential
from app.http.board_cache import load_open_board
from app.services.boards import anonymization, board_history, reidentification, total


async def _load_board(request: Request, slug: str, credential: RequestCredential) -> Board | None:
    return await load_open_board(request, credential, slug, anonymization.build_board, Board)


async def _load_visitors_board(request: Request, slug: str) -> Board | None:
    return await load_open_board(request, None, slug, anonymization.build_board, Board)


async def _load_attackers_board(
    request: Request, slug: str, credential: RequestCredential
) -> AttackersBoard | None:
    return await load_open_board(request, credential, slug, reidentification.build_board, AttackersBoard)


async def _load_history(request: Request, slug: str, credential: RequestCredential) -> History | None:
    return await load_open_board(request, credential, slug, board_history.build_board_history, History)


async def _load_release_total(
    request: Request, slug: str, credential: RequestCredential
) -> TotalBoard | None:
    return await load_open_board(request, credential, slug, total.build_release_total, TotalBoard)


async def _load_attack_total(request: Request, slug: str, credential: RequestCredential) -> TotalBoard | None:
    return await load_open_board(request, credential, slug, total.build_attack_total, TotalBoard)


OpenBoard = Annotated[Board | None, Depends(_load_board)]
VisitorsBoard = Annotated[Board | None, Depends(_load_visitors_board)]
"""The board as visitors see it, whoever reads the page."""
OpenAttackersBoard = Annotated[AttackersBoard | None, Depends(_load_attackers_board)]
OpenHistory = Annotated[History | None, Depends(_load_history)]
OpenReleaseTotal = Annotated[TotalBoard | None, Depends(_load_release_total)]
OpenAttackTotal = Annotated[TotalBoard | None, Depends(_load_attack_total)]
