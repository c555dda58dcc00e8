"""Boards as JSON and CSV."""

import hashlib
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from app.http.dependencies import MaybeSignedIn
from app.services.boards import anonymization, matrix, reidentification
from app.transaction import transaction

router = APIRouter(prefix="/competitions/{slug}/boards", tags=["boards"])


Number = float | None


class RowOut(BaseModel):
    rank: Annotated[int | None, Field(description="null: nothing accepted; equal scores share a rank")]
    team: str
    own: bool
    baseline: Annotated[bool, Field(description="added by the organizers for comparison, without a rank")]
    entries: Annotated[int, Field(description="finished submissions")]
    overall: Annotated[Number, Field(description="(U + E) / 2, 0 is best")]
    utility: Annotated[Number, Field(description="U, the loss of utility in [0, 1]")]
    security: Annotated[
        Number, Field(description="E, the largest rate of an attacker that counts, in [0, 1]")
    ]
    rivals: Annotated[Number, Field(description="the best visible guess of a rival, part of E")]
    rank_sum: float | None
    on_front: Annotated[bool, Field(description="no other row has less of U and of E")]
    received_at: datetime | None
    measures: dict[str, float]
    attackers: dict[str, float]


class BoardOut(BaseModel):
    competition: str
    title: dict[str, str]
    frozen_from: datetime | None
    finals: Annotated[bool, Field(description="the finals of the first phase are compared")]
    digits: Annotated[
        int | None,
        Field(
            description="decimals of others' U and E until the secrets are revealed; till then `overall` has"
            " four, and `measures`, `attackers`, `rivals`, `rank_sum` are empty; null: everything is in full"
        ),
    ]
    measures: list[str]
    attackers: list[str]
    rows: list[RowOut]


class AttackerRowOut(BaseModel):
    rank: int | None
    team: str
    own: bool
    identified: Annotated[int | None, Field(description="records, by the best guess on each target")]
    tried: Annotated[int | None, Field(description="records of every target attacked")]
    rate: float | None
    targets: Annotated[int | None, Field(description="targets attacked")]


class AttackersOut(BaseModel):
    competition: str
    title: dict[str, str]
    hidden: Annotated[bool, Field(description="scores of guesses are not shown yet")]
    rows: list[AttackerRowOut]


class ColumnOut(BaseModel):
    target: str
    rows: int
    own: bool
    team: str | None


class CellOut(BaseModel):
    correct: float
    rate: float
    trials: int


class MatrixRowOut(BaseModel):
    attacker: str
    built_in: bool
    own: bool
    cells: list[CellOut | None]


class MatrixOut(BaseModel):
    competition: str
    title: dict[str, str]
    hidden: bool
    targets: list[ColumnOut]
    rows: list[MatrixRowOut]


@router.get("/anonymization", response_model=BoardOut)
def anonymization_board(slug: str, principal: MaybeSignedIn, request: Request) -> Response:
    """Every team's best accepted submission (its best final, once they are frozen), lowest overall first."""
    with transaction() as session:
        found = anonymization.board(session, principal, slug)
    return as_json(request, BoardOut.model_validate(found, from_attributes=True))


@router.get("/anonymization.csv", response_class=Response)
def anonymization_csv(slug: str, principal: MaybeSignedIn, request: Request) -> Response:
    """The same board for a spreadsheet."""
    with transaction() as session:
        found = anonymization.board(session, principal, slug)
    return as_csv(request, anonymization.as_csv(found))


@router.get("/reidentification", response_model=AttackersOut)
def reidentification_board(slug: str, principal: MaybeSignedIn, request: Request) -> Response:
    """How many records each team identified, most first."""
    with transaction() as session:
        found = reidentification.board(session, principal, slug)
    return as_json(request, AttackersOut.model_validate(found, from_attributes=True))


@router.get("/reidentification.csv", response_class=Response)
def reidentification_csv(slug: str, principal: MaybeSignedIn, request: Request) -> Response:
    """The same board for a spreadsheet."""
    with transaction() as session:
        found = reidentification.board(session, principal, slug)
    return as_csv(request, reidentification.as_csv(found))


@router.get("/matrix", response_model=MatrixOut)
def matrix_board(slug: str, principal: MaybeSignedIn, request: Request) -> Response:
    """The best trial of every attacker on every target."""
    with transaction() as session:
        found = matrix.board(session, principal, slug)
    return as_json(request, MatrixOut.model_validate(found, from_attributes=True))


@router.get("/matrix.csv", response_class=Response)
def matrix_csv(slug: str, principal: MaybeSignedIn, request: Request) -> Response:
    """The rates of the same matrix for a spreadsheet."""
    with transaction() as session:
        found = matrix.board(session, principal, slug)
    return as_csv(request, matrix.as_csv(found))


def as_json(request: Request, body: BaseModel) -> Response:
    return tagged(request, body.model_dump_json(), "application/json")


def as_csv(request: Request, text: str) -> Response:
    return tagged(request, text, "text/csv; charset=utf-8")


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
