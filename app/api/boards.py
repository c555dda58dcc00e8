"""Boards as JSON and CSV."""

import hashlib

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from app import wire
from app.api.documentation.answers import BOARD, refusing
from app.api.documentation.bodies import example_as, raw
from app.http.dependencies import MaybeSignedIn
from app.services.boards import anonymization, matrix, reidentification
from app.transaction import transaction

router = APIRouter(prefix="/competitions/{slug}/boards", tags=["boards"], responses=refusing(BOARD))


@router.get("/anonymization", response_model=wire.Board)
def anonymization_board(slug: str, principal: MaybeSignedIn, request: Request) -> Response:
    """Every team's best accepted submission (its best final, once they are frozen), lowest overall first."""
    with transaction() as session:
        found = anonymization.board(session, principal, slug)
    return as_json(request, found)


@router.get(
    "/anonymization.csv",
    response_class=Response,
    responses=raw("text/csv", anonymization.as_csv(example_as(wire.Board))),
)
def anonymization_csv(slug: str, principal: MaybeSignedIn, request: Request) -> Response:
    """The same board for a spreadsheet."""
    with transaction() as session:
        found = anonymization.board(session, principal, slug)
    return as_csv(request, anonymization.as_csv(found))


@router.get("/reidentification", response_model=wire.AttackersBoard)
def reidentification_board(slug: str, principal: MaybeSignedIn, request: Request) -> Response:
    """How many records each team identified, most first."""
    with transaction() as session:
        found = reidentification.board(session, principal, slug)
    return as_json(request, found)


@router.get(
    "/reidentification.csv",
    response_class=Response,
    responses=raw("text/csv", reidentification.as_csv(example_as(wire.AttackersBoard))),
)
def reidentification_csv(slug: str, principal: MaybeSignedIn, request: Request) -> Response:
    """The same board for a spreadsheet."""
    with transaction() as session:
        found = reidentification.board(session, principal, slug)
    return as_csv(request, reidentification.as_csv(found))


@router.get("/matrix", response_model=wire.Matrix)
def matrix_board(slug: str, principal: MaybeSignedIn, request: Request) -> Response:
    """The best trial of every attacker on every target."""
    with transaction() as session:
        found = matrix.board(session, principal, slug)
    return as_json(request, found)


@router.get(
    "/matrix.csv", response_class=Response, responses=raw("text/csv", matrix.as_csv(example_as(wire.Matrix)))
)
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
