"""Disqualify and reinstate teams and submissions, after a confirmation."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Form
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.errors import Conflict, DomainError, Forbidden, InvalidInput, NotFound, TooManyRequests
from app.accounts.step_up import FormReauthentication
from app.competitions.organizer_frame import OrganizerPage, RequestedOrganizerPage
from app.core.db.transaction import transaction
from app.core.identity.principal import STEP_UP_CODES, Principal
from app.core.pages.pages import PageRoute, see_other
from app.organizing import disqualification
from app.organizing.submission_pages import load_submission, render_submission
from app.organizing.team_pages import load_entrant, render_team

router = APIRouter(prefix="/competitions/{slug}/organize", route_class=PageRoute)

_RulingAct = Literal["disqualify", "reinstate"]
_NOTICE_BY_SUBJECT_AND_ACT = {
    "submissions": {"disqualify": "disqualified", "reinstate": "reinstated"},
    "teams": {"disqualify": "team_disqualified", "reinstate": "team_reinstated"},
}


@dataclass(frozen=True, slots=True)
class RulingRequest:
    """A request to disqualify or reinstate a team or a submission."""

    page: OrganizerPage
    subject_type: Literal["submissions", "teams"]
    subject_id: UUID
    act: _RulingAct

    @property
    def path(self) -> str:
        return f"{self.page.path}/{self.subject_type}/{self.subject_id}"

    def apply(self, session: Session, principal: Principal, *, reason: str = "") -> None:
        is_disqualified = self.act == "disqualify"
        if self.subject_type == "submissions":
            disqualification.set_submission_disqualified(
                session, principal, self.subject_id, disqualified=is_disqualified, reason=reason
            )
        else:
            disqualification.set_team_disqualified(
                session,
                principal,
                self.page.slug,
                self.subject_id,
                disqualified=is_disqualified,
                reason=reason,
            )


@dataclass(frozen=True, slots=True)
class RulingForm:
    """Fields of the form: the reason and, if required, the password."""

    reauthenticate: FormReauthentication
    reason: Annotated[str, Form()] = ""


_RequestedRuling = Annotated[RulingForm, Depends()]


@router.get("/submissions/{submission_id}/{act}")
def confirm_submission_ruling(
    page: RequestedOrganizerPage, submission_id: UUID, act: _RulingAct
) -> HTMLResponse:
    return _render_confirmation(RulingRequest(page, "submissions", submission_id, act))


@router.get("/teams/{team_id}/{act}")
def confirm_team_ruling(page: RequestedOrganizerPage, team_id: UUID, act: _RulingAct) -> HTMLResponse:
    return _render_confirmation(RulingRequest(page, "teams", team_id, act))


@router.post("/submissions/{submission_id}/disqualify")
def disqualify_submission(
    page: RequestedOrganizerPage, submission_id: UUID, form: _RequestedRuling
) -> Response:
    return _apply_ruling(RulingRequest(page, "submissions", submission_id, "disqualify"), form)


@router.post("/submissions/{submission_id}/reinstate")
def reinstate_submission(
    page: RequestedOrganizerPage, submission_id: UUID, form: _RequestedRuling
) -> Response:
    return _apply_ruling(RulingRequest(page, "submissions", submission_id, "reinstate"), form)


@router.post("/teams/{team_id}/disqualify")
def disqualify_team(page: RequestedOrganizerPage, team_id: UUID, form: _RequestedRuling) -> Response:
    return _apply_ruling(RulingRequest(page, "teams", team_id, "disqualify"), form)


@router.post("/teams/{team_id}/reinstate")
def reinstate_team(page: RequestedOrganizerPage, team_id: UUID, form: _RequestedRuling) -> Response:
    return _apply_ruling(RulingRequest(page, "teams", team_id, "reinstate"), form)


def _apply_ruling(ruling: RulingRequest, form: RulingForm) -> Response:
    """Apply the ruling. Without a reason or a valid password, ask for confirmation again."""
    try:
        principal = form.reauthenticate()
        with transaction() as session:
            _load_subject(session, ruling)
            if not form.reason.strip():
                raise InvalidInput("give a reason", code="no_reason")
            ruling.apply(session, principal, reason=form.reason)
    except Conflict as problem:
        return _render_subject(ruling, problem)
    except (InvalidInput, TooManyRequests, Forbidden) as problem:
        if isinstance(problem, Forbidden) and problem.code not in STEP_UP_CODES:
            raise
        return _render_confirmation(ruling, problem=problem, reason=form.reason)
    return see_other(ruling.path, notice=_NOTICE_BY_SUBJECT_AND_ACT[ruling.subject_type][ruling.act])


def _render_subject(ruling: RulingRequest, problem: DomainError) -> HTMLResponse:
    """Render the page of the team or submission with the conflict: the ruling would change nothing."""
    render = render_submission if ruling.subject_type == "submissions" else render_team
    return render(ruling.page, ruling.subject_id, problem=problem)


def _load_subject(session: Session, ruling: RulingRequest) -> dict[str, Any]:
    """Return the frame, the team and, for a ruling on a submission, the submission."""
    if ruling.subject_type == "submissions":
        frame, submission = load_submission(session, ruling.page, ruling.subject_id)
        if submission.team.baseline:
            raise NotFound(
                "a baseline can only be added or removed, not disqualified", code="no_such_submission"
            )
        return {"frame": frame, "team": submission.team, "submission": submission}
    frame, entrant = load_entrant(session, ruling.page, ruling.subject_id)
    return {"frame": frame, "team": entrant.team, "submission": None}


def _render_confirmation(
    ruling: RulingRequest, *, problem: DomainError | None = None, reason: str = ""
) -> HTMLResponse:
    with transaction() as session:
        subject_content = _load_subject(session, ruling)
    return ruling.page.render(
        "organizing/ruling_confirmation.html",
        ruling=ruling,
        reason=reason,
        lets_guess_again=disqualification.reinstating_allows_guesses(subject_content["frame"].round),
        longest=disqualification.MAX_REASON_LENGTH,
        **subject_content,
        problem=problem,
    )
