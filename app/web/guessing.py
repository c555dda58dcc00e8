"""A guess sent by a form: taken in as the API takes it, refused on the target's own page."""

from uuid import UUID

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.errors import Conflict, InvalidUpload, NotAllowed, TooLarge, TooMany, Unavailable
from app.http.bodies import Parts
from app.http.dependencies import SignedIn
from app.http.taking_in import admission, received
from app.scoring.files import GUESS
from app.services import guesses
from app.services.accounts import Principal
from app.services.guesses import Entrance
from app.transaction import transaction
from app.web.site import PageRoute, see
from app.web.targets import target_page

router = APIRouter(route_class=PageRoute)

SHOWN = (Conflict, InvalidUpload, NotAllowed, TooLarge, TooMany, Unavailable)
"""Refusals that the target's page shows; others say that there is no such page."""


def entrance(principal: Principal, target_id: UUID) -> Entrance:
    """Whether this person may guess now; asked before the file is read."""
    with transaction() as session:
        return guesses.entrance(session, principal, target_id, key=None)


@router.get("/targets/{target_id}/guesses")
def back_to_the_target(target_id: UUID) -> Response:
    """The answer to the form, loaded anew."""
    return see(f"/targets/{target_id}")


@router.post("/targets/{target_id}/guesses")
async def guess(request: Request, target_id: UUID, principal: SignedIn) -> Response:
    """Say which row of the original each row of the target came from."""
    try:
        at = await run_in_threadpool(entrance, principal, target_id)
        sending = received(request, principal, at, guesses.renewed, names={GUESS}, file_mb=at.file_mb)
        async with sending as (at, sent):
            await admission(request).in_thread(take_in, principal, at, sent)
    except SHOWN as problem:
        return await run_in_threadpool(target_page, request, principal, target_id, problem)
    return see(f"/targets/{target_id}", done="guessed")


def take_in(principal: Principal, at: Entrance, sent: Parts) -> None:
    content = sent.file(GUESS)
    given = guesses.read(content, at)
    with transaction() as session:
        named = guesses.named_by_content(session, principal, at, content)
        guesses.accept(session, principal, named, given)
