"""List all submissions of a competition for its organizers, and show a single one."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.errors import DomainError, NotFound
from app.db.models import State, Submission
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.http.paging import decode_position, encode_cursor
from app.services.accounts.accounts import Principal
from app.services.organizing import disqualification
from app.services.submissions import submissions
from app.services.teams import members
from app.web.organizer.frame import describe_problem, load_organizer_frame, parse_uuid
from app.web.site.frame import Frame
from app.web.site.pages import PageRoute, render_page, see_other

router = APIRouter(prefix="/competitions/{slug}/organize/submissions", route_class=PageRoute)

PAGE_SIZE = 50
_BASELINE_BY_KIND = {"teams": False, "baselines": True}
"""Values of the filter by kind of submitter. Any other value lists all submissions."""


@dataclass(frozen=True, slots=True)
class SubmissionFilters:
    """Filters of the list, which are also the query parameters of its URL."""

    team_id: UUID | None
    state: State | None
    search_text: str
    kind: str = ""

    def build_query(self, cursor: str) -> str:
        """Return the query string of the page at ``cursor`` with the same filters."""
        fields = {"team": self.team_id or "", "state": self.state or "", "said": self.search_text}
        fields |= {"of": self.kind, "cursor": cursor}
        return "?" + urlencode({name: str(value) for name, value in fields.items() if value})


@router.get("")
def show_submissions(
    request: Request,
    slug: str,
    principal: CurrentPrincipal,
    *,
    team: str = "",
    state: str = "",
    said: str = "",
    of: str = "",
    cursor: str | None = None,
) -> HTMLResponse:
    filters = replace(_parse_filters(team, state, said), kind=of if of in _BASELINE_BY_KIND else "")
    cursor_key = decode_position(cursor)
    with transaction() as session:
        frame = load_organizer_frame(session, principal, slug)
        rows = submissions.list_for_organizer(
            session,
            principal,
            slug,
            team_id=filters.team_id,
            state=filters.state,
            comment_text=filters.search_text,
            baseline=_BASELINE_BY_KIND.get(filters.kind),
            cursor=cursor_key,
            limit=PAGE_SIZE + 1,
        )
        entrants = members.list_entrants(session, principal, slug)
    page_rows = rows[:PAGE_SIZE]
    next_cursor = (
        encode_cursor(page_rows[-1].received_at, page_rows[-1].id) if len(rows) > PAGE_SIZE else None
    )
    return render_page(
        request,
        principal,
        "organizer/submissions.html",
        frame=frame,
        submissions=page_rows,
        asked=filters,
        following=next_cursor and filters.build_query(next_cursor),
        paged=cursor is not None,
        entrants=entrants,
        states=list(State),
        kinds=tuple(_BASELINE_BY_KIND),
    )


def _parse_filters(team: str, state: str, raw_search_text: str) -> SubmissionFilters:
    """Parse the filters. An invalid team or state is ignored."""
    search_text = raw_search_text.replace("\x00", "").encode(errors="ignore").decode().strip()
    return SubmissionFilters(parse_uuid(team), State(state) if state in set(State) else None, search_text)


@router.get("/{submission_id}")
def show_submission(
    request: Request, slug: str, submission_id: UUID, principal: CurrentPrincipal
) -> HTMLResponse:
    return render_submission(request, principal, slug, submission_id)


@router.post("/{submission_id}/rescore")
def reevaluate(request: Request, slug: str, submission_id: UUID, principal: CurrentPrincipal) -> Response:
    try:
        with transaction() as session:
            load_submission(session, principal, slug, submission_id)
            disqualification.rescore(session, principal, submission_id)
    except DomainError as problem:
        return render_submission(request, principal, slug, submission_id, problem=problem)
    return see_other(f"/competitions/{slug}/organize/submissions/{submission_id}", notice="queued_again")


def load_submission(
    session: Session, principal: Principal, slug: str, submission_id: UUID
) -> tuple[Frame, Submission]:
    """Return a submission; raise ``NotFound`` if it belongs to another competition."""
    frame = load_organizer_frame(session, principal, slug)
    submission = submissions.find_visible(session, principal, submission_id)
    if submission.competition_id != frame.contest.id:
        raise NotFound("the competition has no such submission", code="no_such_submission")
    return frame, submission


def render_submission(
    request: Request,
    principal: Principal,
    slug: str,
    submission_id: UUID,
    *,
    problem: DomainError | None = None,
) -> HTMLResponse:
    with transaction() as session:
        frame, submission = load_submission(session, principal, slug, submission_id)
    return render_page(
        request,
        principal,
        "organizer/ruling.html",
        frame=frame,
        submission=submission,
        **describe_problem(request, problem),
    )
