"""A team or a submission out of the contest or back in: a page that says what it will do, then the act."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.errors import Conflict, DomainError, InvalidInput, NotAllowed, NotFound, TooMany
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.http.step_up import Sure
from app.services.accounts.accounts import UNCONFIRMED, Principal
from app.services.organizing import disqualification, dry_run
from app.web.organizer.frame import organizers_frame, trouble
from app.web.organizer.submissions import in_competition, submission_page
from app.web.organizer.teams import entrant, team_page
from app.web.site.pages import PageRoute, page, see

router = APIRouter(prefix="/competitions/{slug}/organize", route_class=PageRoute)

Act = Literal["disqualify", "reinstate"]
Reason = Annotated[str, Form()]
DONE = {
    "submissions": {"disqualify": "disqualified", "reinstate": "reinstated"},
    "teams": {"disqualify": "team_disqualified", "reinstate": "team_reinstated"},
}


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is ruled on what. ``of``: ``submissions`` or ``teams``."""

    slug: str
    of: Literal["submissions", "teams"]
    subject: UUID
    act: Act

    @property
    def path(self) -> str:
        return f"/competitions/{self.slug}/organize/{self.of}/{self.subject}"

    def make(self, session: Session, principal: Principal, *, reason: str = "") -> None:
        out = self.act == "disqualify"
        if self.of == "submissions":
            disqualification.judge_submission(
                session, principal, self.subject, disqualified=out, reason=reason
            )
        else:
            disqualification.judge_team(
                session, principal, self.slug, self.subject, disqualified=out, reason=reason
            )


@dataclass(frozen=True, slots=True)
class Given:
    """What comes with a ruling: why, and, where it needs one, the password."""

    sure: Sure
    reason: Reason = ""


@router.get("/submissions/{submission_id}/{act}")
def submission_preview(
    request: Request, slug: str, submission_id: UUID, act: Act, principal: SignedIn
) -> HTMLResponse:
    return previewed(request, principal, Ruling(slug, "submissions", submission_id, act))


@router.get("/teams/{team_id}/{act}")
def team_preview(request: Request, slug: str, team_id: UUID, act: Act, principal: SignedIn) -> HTMLResponse:
    return previewed(request, principal, Ruling(slug, "teams", team_id, act))


@router.post("/submissions/{submission_id}/disqualify")
def disqualify_submission(
    request: Request, slug: str, submission_id: UUID, principal: SignedIn, given: Annotated[Given, Depends()]
) -> Response:
    return ruled(request, principal, Ruling(slug, "submissions", submission_id, "disqualify"), given)


@router.post("/submissions/{submission_id}/reinstate")
def reinstate_submission(
    request: Request, slug: str, submission_id: UUID, principal: SignedIn, given: Annotated[Given, Depends()]
) -> Response:
    return ruled(request, principal, Ruling(slug, "submissions", submission_id, "reinstate"), given)


@router.post("/teams/{team_id}/disqualify")
def disqualify_team(
    request: Request, slug: str, team_id: UUID, principal: SignedIn, given: Annotated[Given, Depends()]
) -> Response:
    return ruled(request, principal, Ruling(slug, "teams", team_id, "disqualify"), given)


@router.post("/teams/{team_id}/reinstate")
def reinstate_team(
    request: Request, slug: str, team_id: UUID, principal: SignedIn, given: Annotated[Given, Depends()]
) -> Response:
    return ruled(request, principal, Ruling(slug, "teams", team_id, "reinstate"), given)


def ruled(request: Request, principal: Principal, ruling: Ruling, given: Given) -> Response:
    """Done if it has a reason and the password; else the page that asks for them, with the reason typed."""
    try:
        principal = given.sure()
        with transaction() as session:
            subject_of(session, principal, ruling)
            if not given.reason.strip():
                raise InvalidInput("give a reason", code="no_reason")
            ruling.make(session, principal, reason=given.reason)
    except (InvalidInput, TooMany) as problem:
        return previewed(request, principal, ruling, problem=problem, reason=given.reason)
    except Conflict as problem:
        return elsewhere(request, principal, ruling, problem)
    except NotAllowed as problem:
        if problem.code != UNCONFIRMED:
            raise
        return previewed(request, principal, ruling, problem=problem, reason=given.reason)
    return see(ruling.path, done=DONE[ruling.of][ruling.act])


def elsewhere(request: Request, principal: Principal, ruling: Ruling, problem: DomainError) -> HTMLResponse:
    """The page of the team or the submission, where it stands that there is nothing to change."""
    page_of = submission_page if ruling.of == "submissions" else team_page
    return page_of(request, principal, ruling.slug, ruling.subject, problem=problem)


def subject_of(session: Session, principal: Principal, ruling: Ruling) -> dict[str, Any]:
    """The frame, the team, and the submission if it is about one."""
    if ruling.of == "submissions":
        frame, found = in_competition(session, principal, ruling.slug, ruling.subject)
        if found.team.baseline:
            raise NotFound(
                "a baseline can only be added or removed, not disqualified", code="no_such_submission"
            )
        return {"frame": frame, "team": found.team, "submission": found}
    frame, found_team = entrant(session, principal, ruling.slug, ruling.subject)
    return {"frame": frame, "team": found_team.team, "submission": None}


def previewed(
    request: Request,
    principal: Principal,
    ruling: Ruling,
    *,
    problem: DomainError | None = None,
    reason: str = "",
) -> HTMLResponse:
    """What the ruling would do; nothing is done yet."""
    try:
        with transaction() as session:
            organizers_frame(session, principal, ruling.slug)
            team = subject_of(session, principal, ruling)["team"]
            known: dict[str, Any] = {"team_id": team.id, "team": team.name}
            make = partial(ruling.make, session, principal.who_confirmed())  # and takes it back
            found = dry_run.of_ruling(session, principal, ruling.slug, make, **known)
            subject = subject_of(session, principal, ruling)
    except Conflict as nothing:
        return elsewhere(request, principal, ruling, nothing)
    return page(
        request,
        principal,
        "organizer/ruling_preview.html",
        ruling=ruling,
        consequences=found,
        reason=reason,
        lets_guess_again=disqualification.lets_guess_again(subject["frame"].contest.row),
        longest=disqualification.LONGEST_REASON,
        **subject,
        **trouble(request, problem),
    )
