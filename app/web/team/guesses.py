"""A guess sent by a form: taken in as the API takes it, refused on the target's own page."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from anoncup.errors import DomainError, InvalidUpload
from anoncup.tracks.files import GUESS
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.http.multipart import Parts
from app.http.uploads import Way, check_guess, dry_run, guessed, question_of, take_in
from app.services.accounts.accounts import Principal
from app.services.attacks import guesses
from app.services.attacks.guesses import Entrance
from app.web.site import language
from app.web.site.pages import PageRoute, page, see, sentence_of, waiting
from app.web.team.targets import grouped, target_page
from app.web.team.upload_form import REFUSALS, raising_refusals, status_of_check, verdict_of, verdict_on

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
        await raising_refusals(take_in(request, principal, at, Way(guesses.renewed, form.guessed)))
    except REFUSALS as problem:
        return await run_in_threadpool(target_page, request, principal, target_id, problem, form.question)
    return see(f"/targets/{target_id}", done="guessed")


@router.post("/targets/{target_id}/guesses/check")
async def check(request: Request, target_id: UUID, principal: SignedIn) -> HTMLResponse:
    """Read the chosen file without sending a guess; the form's script puts the answer in its place."""
    form = Sent()
    at, team_id = await run_in_threadpool(enter_check, principal, target_id)
    try:
        checked = await raising_refusals(dry_run(request, at, team_id, form.checked))
    except REFUSALS as problem:
        return await run_in_threadpool(refused_check, request, principal, at, form.question, problem)
    return await run_in_threadpool(good_check, request, principal, at, checked)


def enter_check(principal: Principal, target_id: UUID) -> tuple[Entrance, UUID]:
    with transaction() as session:
        return guesses.enter_check(session, principal, target_id)


def good_check(
    request: Request, principal: Principal, at: Entrance, checked: guesses.Checked
) -> HTMLResponse:
    t = language.words_of(request)
    content: dict[str, Any] = {
        "id": form_of(at, checked.question),
        "verdict": verdict_of(checked.remarks),
        "warnings": checked.remarks,
        "said": t.ngettext("{n} row is answered.", "{n} rows are answered.", checked.answered),
    }
    return page(request, principal, "team/guess_checked.html", **content)


def refused_check(
    request: Request, principal: Principal, at: Entrance, question: str | None, problem: DomainError
) -> HTMLResponse:
    content: dict[str, Any] = {
        "id": form_of(at, question),
        "verdict": verdict_on(problem),
        "warnings": (),
        "said": "",
        "error": sentence_of(problem, language.words_of(request)),
    }
    if isinstance(problem, InvalidUpload):
        content |= {"problems": grouped(problem.problems), "total": problem.total}
    status = status_of_check(problem)
    return waiting(problem, page(request, principal, "team/guess_checked.html", status=status, **content))


def form_of(at: Entrance, question: str | None) -> str:
    """Return the id of the field of the form that answers this question."""
    return f"guess-{question}" if len(at.asked) > 1 else "guess"


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

    def checked(self, at: Entrance, sent: Parts) -> guesses.Checked:
        self.question = question_of(at, sent)
        return check_guess(at, sent)
