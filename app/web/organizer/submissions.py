"""All submissions of a competition, and what the organizers rule on one."""

from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.errors import DomainError, NotFound
from app.db.models import State, Submission
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.http.paging import cursor_of, place_of
from app.services.accounts.accounts import Principal
from app.services.organizing import disqualification
from app.services.submissions import submissions
from app.services.teams import members
from app.web.organizer.frame import organizers_frame, trouble
from app.web.site.frame import Frame
from app.web.site.pages import PageRoute, page, see

router = APIRouter(prefix="/competitions/{slug}/organize/submissions", route_class=PageRoute)

PAGE = 50
KINDS = {"teams": False, "baselines": True}
"""Whose submissions are listed; else everybody's."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The filters of the list, as they stand in its address."""

    team: UUID | None
    state: State | None
    said: str
    of: str = ""

    def address(self, cursor: str) -> str:
        """The rest of the address that asks for the page at ``cursor`` with the same filters."""
        fields = {"team": self.team or "", "state": self.state or "", "said": self.said}
        fields |= {"of": self.of, "cursor": cursor}
        return "?" + urlencode({name: str(value) for name, value in fields.items() if value})


@router.get("")
def all_submissions(
    request: Request,
    slug: str,
    principal: SignedIn,
    *,
    team: str = "",
    state: str = "",
    said: str = "",
    of: str = "",
    cursor: str | None = None,
) -> HTMLResponse:
    asked = replace(read(team, state, said), of=of if of in KINDS else "")
    after = place_of(cursor, datetime.fromisoformat, UUID)
    with transaction() as session:
        frame = organizers_frame(session, principal, slug)
        found = submissions.of_competition(
            session,
            principal,
            slug,
            team_id=asked.team,
            state=asked.state,
            said=asked.said,
            baseline=KINDS.get(asked.of),
            after=after,
            limit=PAGE + 1,
        )
        entrants = members.entrants(session, principal, slug)
    kept = found[:PAGE]
    following = cursor_of(kept[-1].received_at, kept[-1].id) if len(found) > PAGE else None
    return page(
        request,
        principal,
        "organizer/submissions.html",
        frame=frame,
        submissions=kept,
        asked=asked,
        following=following and asked.address(following),
        paged=cursor is not None,
        entrants=entrants,
        states=list(State),
        kinds=tuple(KINDS),
    )


def read(team: str, state: str, said: str) -> Asked:
    """What was asked for; what cannot be a team or a state filters nothing."""
    try:
        team_id = UUID(team)
    except ValueError:
        team_id = None
    found = said.replace("\x00", "").encode(errors="ignore").decode().strip()
    return Asked(team_id, State(state) if state in set(State) else None, found)


@router.get("/{submission_id}")
def one(request: Request, slug: str, submission_id: UUID, principal: SignedIn) -> HTMLResponse:
    return submission_page(request, principal, slug, submission_id)


@router.post("/{submission_id}/score-again")
def score_again(request: Request, slug: str, submission_id: UUID, principal: SignedIn) -> Response:
    try:
        with transaction() as session:
            in_competition(session, principal, slug, submission_id)
            disqualification.score_again(session, principal, submission_id)
    except DomainError as problem:
        return submission_page(request, principal, slug, submission_id, problem=problem)
    return see(f"/competitions/{slug}/organize/submissions/{submission_id}", done="queued_again")


def in_competition(
    session: Session, principal: Principal, slug: str, submission_id: UUID
) -> tuple[Frame, Submission]:
    """A submission of this competition and of no other."""
    frame = organizers_frame(session, principal, slug)
    found = submissions.visible(session, principal, submission_id)
    if found.competition_id != frame.contest.id:
        raise NotFound("the competition has no such submission", code="no_such_submission")
    return frame, found


def submission_page(
    request: Request,
    principal: Principal,
    slug: str,
    submission_id: UUID,
    *,
    problem: DomainError | None = None,
) -> HTMLResponse:
    with transaction() as session:
        frame, found = in_competition(session, principal, slug, submission_id)
    return page(
        request,
        principal,
        "organizer/ruling.html",
        frame=frame,
        submission=found,
        **trouble(request, problem),
    )
