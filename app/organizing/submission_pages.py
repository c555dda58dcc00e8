"""List all submissions of a competition for its organizers, and show a single one."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.errors import DomainError, NotFound
from app.competitions.frame import Frame
from app.competitions.organizer_frame import OrganizerPage, RequestedOrganizerPage, parse_uuid
from app.core.db.models import State, Submission
from app.core.db.transaction import transaction
from app.core.http.paging import decode_position, encode_cursor
from app.core.pages.pages import PageRoute, see_other, show_problem
from app.organizing import disqualification
from app.submissions import submissions
from app.teams import members

router = APIRouter(prefix="/competitions/{slug}/organize/submissions", route_class=PageRoute)

PAGE_SIZE = 50
_SUBMISSION_STATES = tuple(state for state in State if state != State.REFUSED)
"""States of submissions. Only guesses are refused after they were accepted."""
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


def render_submission(
    page: OrganizerPage, submission_id: UUID, *, problem: DomainError | None = None
) -> HTMLResponse:
    with transaction() as session:
        frame, submission = load_submission(session, page, submission_id)
    return page.render("organizing/ruling.html", frame=frame, submission=submission, problem=problem)


@router.get("")
def show_submissions(
    page: RequestedOrganizerPage,
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
        frame = page.load_frame(session)
        rows = submissions.list_for_organizer(
            session,
            page.principal,
            page.slug,
            team_id=filters.team_id,
            state=filters.state,
            comment_text=filters.search_text,
            baseline=_BASELINE_BY_KIND.get(filters.kind),
            cursor=cursor_key,
            limit=PAGE_SIZE + 1,
        )
        entrants = members.list_entrants(session, page.principal, page.slug)
    page_rows = rows[:PAGE_SIZE]
    next_cursor = (
        encode_cursor(page_rows[-1].received_at, page_rows[-1].id) if len(rows) > PAGE_SIZE else None
    )
    return page.render(
        "organizing/submissions.html",
        frame=frame,
        submissions=page_rows,
        asked=filters,
        following=next_cursor and filters.build_query(next_cursor),
        paged=cursor is not None,
        entrants=entrants,
        states=_SUBMISSION_STATES,
        kinds=tuple(_BASELINE_BY_KIND),
    )


def _parse_filters(team: str, state: str, raw_search_text: str) -> SubmissionFilters:
    """Parse the filters. An invalid team or state is ignored."""
    search_text = raw_search_text.replace("\x00", "").encode(errors="ignore").decode().strip()
    return SubmissionFilters(
        parse_uuid(team), State(state) if state in _SUBMISSION_STATES else None, search_text
    )


@router.get("/{submission_id}")
def show_submission(page: RequestedOrganizerPage, submission_id: UUID) -> HTMLResponse:
    return render_submission(page, submission_id)


@router.post("/{submission_id}/rescore")
@show_problem(render_submission)
def reevaluate(page: RequestedOrganizerPage, submission_id: UUID) -> Response:
    with transaction() as session:
        load_submission(session, page, submission_id)
        disqualification.rescore(session, page.principal, submission_id)
    return see_other(f"{page.path}/submissions/{submission_id}", notice="queued_again")


def load_submission(session: Session, page: OrganizerPage, submission_id: UUID) -> tuple[Frame, Submission]:
    """Return a submission; raise ``NotFound`` if it belongs to another competition."""
    frame = page.load_frame(session)
    submission = submissions.find_visible(session, page.principal, submission_id)
    if submission.round_id != frame.contest.round.id:
        raise NotFound("the competition has no such submission", code="no_such_submission")
    return frame, submission
