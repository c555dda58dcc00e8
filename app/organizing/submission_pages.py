"""List all submissions of a competition for its organizers, and show a single one."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.errors import DomainError, NotFound
from app.accounts.step_up import FormReauthentication
from app.competitions.frame import Frame
from app.competitions.organizer_frame import OrganizerPage, RequestedOrganizerPage
from app.core.db.models import State, Submission
from app.core.db.transaction import transaction
from app.core.http.paging import decode_position, encode_cursor
from app.core.pages.pages import PageRoute, see_other, show_problem
from app.organizing import decisions
from app.submissions import submissions

router = APIRouter(prefix="/competitions/{slug}/organize/submissions", route_class=PageRoute)

PAGE_SIZE = 50
_SUBMISSION_STATES = tuple(state for state in State if state != State.REFUSED)
"""States of submissions. Only guesses are refused after they were accepted."""


def _render_submission(
    page: OrganizerPage, submission_id: UUID, *, problem: DomainError | None = None, reason: str = ""
) -> HTMLResponse:
    with transaction() as session:
        frame, submission = _load_submission(session, page, submission_id)
    return page.render(
        "organizing/submission.html",
        frame=frame,
        submission=submission,
        reason=reason,
        longest=decisions.MAX_REASON_LENGTH,
        lets_guess_again=decisions.reinstating_allows_guesses(frame.round),
        problem=problem,
    )


@router.get("")
def show_submissions(
    page: RequestedOrganizerPage, *, state: str = "", cursor: str | None = None
) -> HTMLResponse:
    """List the submissions, or those in a state. An invalid state is ignored."""
    chosen_state = State(state) if state in _SUBMISSION_STATES else None
    with transaction() as session:
        frame = page.load_frame(session)
        rows = submissions.list_for_organizer(
            session,
            page.principal,
            page.slug,
            state=chosen_state,
            cursor=decode_position(cursor),
            limit=PAGE_SIZE + 1,
        )
    last = rows[PAGE_SIZE - 1] if len(rows) > PAGE_SIZE else None
    return page.render(
        "organizing/submissions.html",
        frame=frame,
        submissions=rows[:PAGE_SIZE],
        state=chosen_state or "",
        following=last and encode_cursor(last.received_at, last.id),
        paged=cursor is not None,
        states=_SUBMISSION_STATES,
    )


@router.get("/{submission_id}")
def show_submission(page: RequestedOrganizerPage, submission_id: UUID) -> HTMLResponse:
    return _render_submission(page, submission_id)


@router.post("/{submission_id}/rescore")
@show_problem(_render_submission)
def reevaluate(page: RequestedOrganizerPage, submission_id: UUID) -> Response:
    with transaction() as session:
        _load_submission(session, page, submission_id)
        decisions.rescore(session, page.principal, submission_id)
    return see_other(f"{page.path}/submissions/{submission_id}", notice="queued_again")


@router.post("/{submission_id}/{act}")
@show_problem(_render_submission)
def rule_on_submission(
    page: RequestedOrganizerPage,
    submission_id: UUID,
    act: Literal["disqualify", "reinstate"],
    *,
    reauthenticate: FormReauthentication,
    reason: Annotated[str, Form(pattern=r"\S")],
) -> Response:
    principal, is_disqualified = reauthenticate(), act == "disqualify"
    with transaction() as session:
        _load_submission(session, page, submission_id)
        decisions.set_submission_disqualified(
            session, principal, submission_id, disqualified=is_disqualified, reason=reason
        )
    notice = "disqualified" if is_disqualified else "reinstated"
    return see_other(f"{page.path}/submissions/{submission_id}", notice=notice)


def _load_submission(session: Session, page: OrganizerPage, submission_id: UUID) -> tuple[Frame, Submission]:
    """Return a submission; raise ``NotFound`` if it belongs to another competition."""
    frame = page.load_frame(session)
    submission = submissions.find_visible(session, page.principal, submission_id)
    if submission.round_id != frame.round.id:
        raise NotFound("the competition has no such submission", code="no_such_submission")
    return frame, submission
