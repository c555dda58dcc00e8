"""Begin, watch and end a rehearsal. The rehearsal itself has this page, too."""

from dataclasses import dataclass
from datetime import timedelta

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.errors import Conflict, DomainError
from app.db.transaction import transaction
from app.http.step_up import FormReauthentication
from app.services.contests.contest import Contest
from app.services.organizing import rehearsal_moves, rehearsal_progress, rehearsals
from app.services.organizing.rehearsal_progress import RehearsalProgress
from app.web.organizer.frame import OrganizerPage, RequestedOrganizerPage
from app.web.site import language
from app.web.site.frame import Frame
from app.web.site.pages import PageRoute, see_other, show_problem, translate_error

router = APIRouter(prefix="/competitions/{slug}/organize/rehearsal", route_class=PageRoute)


@dataclass(frozen=True, slots=True)
class RehearsalStatus:
    """A rehearsal and its progress."""

    contest: Contest
    progress: RehearsalProgress


def _render_rehearsal(page: OrganizerPage, *, problem: DomainError | None = None) -> HTMLResponse:
    with transaction() as session:
        frame = page.load_frame(session)
        status = _load_status(session, frame)
    obstacle = rehearsals.find_obstacle(frame.contest) if status is None else None
    return page.render(
        "organizer/rehearsal.html",
        frame=frame,
        played=status,
        minutes=rehearsals.PHASE_LENGTH // timedelta(minutes=1),
        hindered=_describe_obstacle(page.request, obstacle),
        most={
            "teams": rehearsals.MAX_TEAMS,
            "guesses": rehearsal_moves.GUESSES_PER_TEAM,
            "releases": rehearsal_moves.RELEASES_PER_TEAM,
        },
        problem=problem,
    )


@router.get("")
def show_rehearsal(page: RequestedOrganizerPage) -> HTMLResponse:
    return _render_rehearsal(page)


@router.post("")
@show_problem(_render_rehearsal)
def begin(page: RequestedOrganizerPage) -> Response:
    with transaction() as session:
        rehearsal_slug = rehearsals.begin(session, page.principal, page.slug).address
    return see_other(f"/competitions/{rehearsal_slug}/organize/rehearsal", notice="rehearsal_begun")


@router.post("/end")
@show_problem(_render_rehearsal)
def end(page: RequestedOrganizerPage, reauthenticate: FormReauthentication) -> Response:
    principal = reauthenticate()
    with transaction() as session:
        rehearsals.end(session, principal, page.slug)
    return see_other(f"{page.path}/rehearsal", notice="rehearsal_ended")


def _load_status(session: Session, frame: Frame) -> RehearsalStatus | None:
    """Load the competition's rehearsal, or the competition itself if it is one."""
    is_rehearsal = frame.contest.competition.rehearsal_of is not None
    contest = frame.contest if is_rehearsal else rehearsals.find_rehearsal(session, frame.contest.id)
    return (
        None
        if contest is None
        else RehearsalStatus(contest, rehearsal_progress.load_progress(session, contest.round))
    )


def _describe_obstacle(request: Request, obstacle: Conflict | None) -> str | None:
    return None if obstacle is None else translate_error(obstacle, language.negotiate_translator(request))
