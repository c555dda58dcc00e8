"""Begin, watch and end a rehearsal. The rehearsal itself has this page, too."""

from dataclasses import dataclass
from datetime import timedelta

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.errors import Conflict, DomainError
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.http.step_up import FormReauthentication
from app.services.accounts.accounts import Principal
from app.services.contests.contest import Contest
from app.services.organizing import rehearsal_progress, rehearsals
from app.services.organizing.rehearsal_progress import RehearsalProgress
from app.web.organizer.frame import describe_problem, load_organizer_frame
from app.web.site import language
from app.web.site.frame import Frame
from app.web.site.pages import PageRoute, render_page, see_other, translate_error

router = APIRouter(prefix="/competitions/{slug}/organize/rehearsal", route_class=PageRoute)


@dataclass(frozen=True, slots=True)
class RehearsalStatus:
    """A rehearsal and its progress."""

    contest: Contest
    progress: RehearsalProgress


@router.get("")
def show_rehearsal(request: Request, slug: str, principal: CurrentPrincipal) -> HTMLResponse:
    return _render_rehearsal(request, principal, slug)


@router.post("")
def begin(request: Request, slug: str, principal: CurrentPrincipal) -> Response:
    try:
        with transaction() as session:
            rehearsal_slug = rehearsals.begin(session, principal, slug).slug
    except DomainError as problem:
        return _render_rehearsal(request, principal, slug, problem=problem)
    return see_other(f"/competitions/{rehearsal_slug}/organize/rehearsal", notice="rehearsal_begun")


@router.post("/end")
def end(
    request: Request, slug: str, principal: CurrentPrincipal, reauthenticate: FormReauthentication
) -> Response:
    try:
        principal = reauthenticate()
        with transaction() as session:
            rehearsals.end(session, principal, slug)
    except DomainError as problem:
        return _render_rehearsal(request, principal, slug, problem=problem)
    return see_other(f"/competitions/{slug}/organize/rehearsal", notice="rehearsal_ended")


def _render_rehearsal(
    request: Request, principal: Principal, slug: str, *, problem: DomainError | None = None
) -> HTMLResponse:
    with transaction() as session:
        frame = load_organizer_frame(session, principal, slug)
        status = _load_status(session, frame)
    obstacle = rehearsals.find_obstacle(frame.contest) if status is None else None
    return render_page(
        request,
        principal,
        "organizer/rehearsal.html",
        frame=frame,
        played=status,
        minutes=rehearsals.PHASE_LENGTH // timedelta(minutes=1),
        hindered=_describe_obstacle(request, obstacle),
        most={
            "teams": rehearsals.MAX_TEAMS,
            "guesses": rehearsals.GUESSES_PER_TEAM,
            "releases": rehearsals.RELEASES_PER_TEAM,
        },
        **describe_problem(request, problem),
    )


def _load_status(session: Session, frame: Frame) -> RehearsalStatus | None:
    """Load the competition's rehearsal, or the competition itself if it is one."""
    is_rehearsal = frame.contest.competition.rehearsal_of is not None
    contest = frame.contest if is_rehearsal else rehearsals.find_rehearsal(session, frame.contest.id)
    return (
        None
        if contest is None
        else RehearsalStatus(contest, rehearsal_progress.load_progress(session, contest.competition))
    )


def _describe_obstacle(request: Request, obstacle: Conflict | None) -> str | None:
    return None if obstacle is None else translate_error(obstacle, language.negotiate_translator(request))
