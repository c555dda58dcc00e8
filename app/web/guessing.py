"""A guess sent by a form: taken in as the API takes it, refused on the target's own page."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from app.errors import Conflict, DomainError, InvalidUpload, NotAllowed, TooLarge, TooMany, Unavailable
from app.http.attempts import fairly_counted
from app.http.dependencies import Parts, SignedIn, multipart
from app.services import guesses
from app.services.accounts import Principal
from app.services.guesses import Entrance
from app.transaction import transaction
from app.web.site import PageRoute, see
from app.web.targets import target_page

router = APIRouter(route_class=PageRoute)

SHOWN = (Conflict, InvalidUpload, NotAllowed, TooLarge, TooMany, Unavailable)
"""Refusals that the target's page shows; others say that there is no such page."""


def entrance(target_id: UUID, principal: SignedIn) -> Entrance | DomainError:
    """Whether this person may guess now; a refusal is kept for the page."""
    try:
        with transaction() as session:
            return guesses.entrance(session, principal, target_id, key=None)
    except SHOWN as problem:
        return problem


async def parts(
    request: Request, principal: SignedIn, at: Annotated[Entrance | DomainError, Depends(entrance)]
) -> Parts | DomainError:
    """The file, read only after it is clear that this person may guess now."""
    if isinstance(at, DomainError):
        return at
    try:
        with fairly_counted(at.attempt_id):
            return await multipart(request, principal, names={"guess"}, file_mb=at.file_mb)
    except SHOWN as problem:
        return problem


@router.get("/targets/{target_id}/guesses")
def back_to_the_target(target_id: UUID) -> Response:
    """The answer to the form, loaded anew."""
    return see(f"/targets/{target_id}")


@router.post("/targets/{target_id}/guesses")
def guess(
    request: Request,
    target_id: UUID,
    principal: SignedIn,
    *,
    at: Annotated[Entrance | DomainError, Depends(entrance)],
    sent: Annotated[Parts | DomainError, Depends(parts)],
) -> Response:
    """Say which row of the original each row of the target came from."""
    if isinstance(at, DomainError) or isinstance(sent, DomainError):
        refused = at if isinstance(at, DomainError) else sent
        assert isinstance(refused, DomainError)  # noqa: S101  # one of both is
        return target_page(request, principal, target_id, refused)
    try:
        take_in(principal, at, sent)
    except SHOWN as problem:
        return target_page(request, principal, target_id, problem)
    return see(f"/targets/{target_id}", done="guessed")


def take_in(principal: Principal, at: Entrance, sent: Parts) -> None:
    content = sent.file("guess")
    read = guesses.read(content, at)
    with fairly_counted(at.attempt_id), transaction() as session:
        named = guesses.named_by_content(session, principal, at, content)
        guesses.accept(session, principal, named, read, content)
