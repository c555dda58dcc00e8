"""Boards as JSON and CSV."""

import hashlib
from datetime import datetime

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from app.http.dependencies import MaybeSignedIn
from app.services import boards
from app.transaction import transaction

router = APIRouter(prefix="/competitions/{slug}/boards", tags=["boards"])


class RowOut(BaseModel):
    rank: int | None
    team: str
    own: bool
    entries: int
    overall: float | None
    utility: float | None
    security: float | None
    rank_sum: float | None
    on_front: bool
    received_at: datetime | None
    measures: dict[str, float]
    attackers: dict[str, float]


class BoardOut(BaseModel):
    competition: str
    title: dict[str, str]
    frozen_from: datetime | None
    measures: list[str]
    attackers: list[str]
    rows: list[RowOut]


@router.get("/anonymization", response_model=BoardOut)
def anonymization_board(slug: str, principal: MaybeSignedIn, request: Request) -> Response:
    """Every team's best accepted submission, lowest overall first; ties share a rank."""
    with transaction() as session:
        board = boards.anonymization(session, principal, slug)
    body = BoardOut.model_validate(board, from_attributes=True).model_dump_json()
    return tagged(request, body, "application/json")


@router.get("/anonymization.csv", response_class=Response)
def anonymization_csv(slug: str, principal: MaybeSignedIn, request: Request) -> Response:
    """The same board for a spreadsheet."""
    with transaction() as session:
        board = boards.anonymization(session, principal, slug)
    return tagged(request, boards.as_csv(board), "text/csv; charset=utf-8")


def tagged(request: Request, body: str, media_type: str) -> Response:
    """The body with its ETag, or 304 if the client has it already."""
    tag = '"' + hashlib.sha256(body.encode()).hexdigest()[:32] + '"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie"}
    if tag in known_tags(request):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=media_type, headers=headers)


def known_tags(request: Request) -> set[str]:
    """The tags that the client has; a proxy that compressed an answer has made its tag a weak one."""
    listed = request.headers.get("if-none-match", "").split(",")
    return {tag.strip().removeprefix("W/") for tag in listed}
