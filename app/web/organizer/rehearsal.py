"""The rehearsal: begun, looked at and ended on one page, which the rehearsal itself has as well."""

from dataclasses import dataclass
from datetime import timedelta

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.errors import Conflict, DomainError
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.http.step_up import Sure
from app.services.accounts.accounts import Principal
from app.services.contests.contest import Contest
from app.services.organizing import rehearsal_progress, rehearsals
from app.services.organizing.rehearsal_progress import Course
from app.web.organizer.frame import organizers_frame, trouble
from app.web.site import language
from app.web.site.frame import Frame
from app.web.site.pages import PageRoute, page, see, sentence_of

router = APIRouter(prefix="/competitions/{slug}/organize/rehearsal", route_class=PageRoute)


@dataclass(frozen=True, slots=True)
class Played:
    """A rehearsal and how it goes."""

    contest: Contest
    course: Course


@router.get("")
def rehearsal(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    return rehearsal_page(request, principal, slug)


@router.post("")
def begin(request: Request, slug: str, principal: SignedIn) -> Response:
    try:
        with transaction() as session:
            made = rehearsals.begin(session, principal, slug).slug
    except DomainError as problem:
        return rehearsal_page(request, principal, slug, problem=problem)
    return see(f"/competitions/{made}/organize/rehearsal", done="rehearsal_begun")


@router.post("/end")
def end(request: Request, slug: str, principal: SignedIn, sure: Sure) -> Response:
    try:
        principal = sure()
        with transaction() as session:
            rehearsals.end(session, principal, slug)
    except DomainError as problem:
        return rehearsal_page(request, principal, slug, problem=problem)
    return see(f"/competitions/{slug}/organize/rehearsal", done="rehearsal_ended")


def rehearsal_page(
    request: Request, principal: Principal, slug: str, *, problem: DomainError | None = None
) -> HTMLResponse:
    with transaction() as session:
        frame = organizers_frame(session, principal, slug)
        played = played_of(session, frame)
    hindered = rehearsals.hindrance(frame.contest) if played is None else None
    return page(
        request,
        principal,
        "organizer/rehearsal.html",
        frame=frame,
        played=played,
        minutes=rehearsals.PHASE // timedelta(minutes=1),
        hindered=said(request, hindered),
        most={"teams": rehearsals.MOST_TEAMS, "guesses": rehearsals.GUESSES, "releases": rehearsals.RELEASES},
        **trouble(request, problem),
    )


def played_of(session: Session, frame: Frame) -> Played | None:
    """The rehearsal that the page is about: of the competition, or the page's own."""
    own = frame.contest.row.rehearses is not None
    found = frame.contest if own else rehearsals.standing(session, frame.contest.id)
    return None if found is None else Played(found, rehearsal_progress.course(session, found.row))


def said(request: Request, hindered: Conflict | None) -> str | None:
    return None if hindered is None else sentence_of(hindered, language.words_of(request))
