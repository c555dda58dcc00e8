"""A guess sent by a form: taken in as the API takes it, refused on the target's own page."""

from dataclasses import dataclass
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.http.bodies import Parts
from app.http.dependencies import SignedIn
from app.http.intake import Way, guessed, question_of
from app.scoring.files import GUESS
from app.services.attacks import guesses
from app.services.attacks.guesses import Entrance
from app.services.people.accounts import Principal
from app.transaction import transaction
from app.web.site.pages import PageRoute, see
from app.web.team.targets import target_page
from app.web.team.upload_form import REFUSALS, take_in_form

router = APIRouter(route_class=PageRoute)


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
    """Answer a question about the target."""
    form = Sent()
    try:
        at = await run_in_threadpool(entrance, principal, target_id)
        await take_in_form(request, principal, at, Way(guesses.renewed, form.guessed))
    except REFUSALS as problem:
        return await run_in_threadpool(target_page, request, principal, target_id, problem, form.question)
    return see(f"/targets/{target_id}", done="guessed")


@dataclass
class Sent:
    """What came by the form: the question that it answers, by whose form it is refused."""

    question: str | None = None

    def guessed(self, principal: Principal, at: Entrance, sent: Parts) -> None:
        """A form sent twice is one guess."""
        self.question = question_of(at, sent)
        content = sent.file(GUESS)
        with transaction() as session:
            named = guesses.named_by_content(session, principal, at, content, self.question)
        guessed(principal, named, sent)
