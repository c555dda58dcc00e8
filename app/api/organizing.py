"""What organizers do to phases, quotas, teams and submissions while the contest runs."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Body, status
from pydantic import AwareDatetime, BaseModel, Field

from anoncup import schemas
from anoncup.schemas.fields import example
from app.api.competitions import described
from app.api.documentation.responses import JUDGED, ORGANIZER, refusing
from app.api.submissions import shown
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.http.step_up import Confirming
from app.services.contests import schedule
from app.services.organizing import disqualification
from app.services.submissions import submissions

router = APIRouter(tags=["organizing"])

Ruling = Annotated[schemas.RulingIn, Body()]
NO_REASON = schemas.RulingIn()


class ExtensionIn(BaseModel):
    end: Annotated[
        AwareDatetime, Field(description="the new end, with its offset"), example("2027-01-25T09:00:00+09:00")
    ]
    move_following: Annotated[bool, Field(description="later phases move by as much")] = False


@router.post(
    "/competitions/{slug}/phases/{name}/extend",
    responses=refusing(ORGANIZER, "phase_turned phases_overlap end_passed end_too_far wrong_value"),
)
def extend_phase(slug: str, name: str, principal: Confirming, body: ExtensionIn) -> schemas.Competition:
    """Move the end of a phase that has not turned yet, to a time that lies ahead."""
    with transaction() as session:
        row = schedule.extend(session, principal, slug, name, body.end, move_following=body.move_following)
        return described(session, row)


@router.post(
    "/competitions/{slug}/phases/{name}/pause", responses=refusing(ORGANIZER, "phase_closed phase_paused")
)
def pause_phase(slug: str, name: str, principal: SignedIn) -> schemas.Competition:
    """Stop the competition's clock; nothing is taken in until it is resumed."""
    with transaction() as session:
        row = schedule.pause(session, principal, slug, name)
        return described(session, row)


@router.post(
    "/competitions/{slug}/phases/{name}/resume",
    responses=refusing(ORGANIZER, "phase_not_paused phase_turned"),
)
def resume_phase(slug: str, name: str, principal: SignedIn) -> schemas.Competition:
    """Let the clock go on; all deadlines move by the length of the pause."""
    with transaction() as session:
        row = schedule.resume(session, principal, slug, name)
        return described(session, row)


@router.post(
    "/competitions/{slug}/grants",
    status_code=status.HTTP_201_CREATED,
    responses=refusing(ORGANIZER, "no_such_team invalid_grant"),
)
def grant_quota(slug: str, principal: Confirming, body: schemas.GrantIn) -> schemas.Grant:
    """Give a team more of a cap; more of a daily one is for today. guesses_per_target needs the password."""
    with transaction() as session:
        made = disqualification.grant(
            session, principal, slug, team_id=body.team_id, cap=body.cap, amount=body.amount
        )
        return schemas.Grant(id=made.id, at=made.at, team_id=made.team_id, cap=made.cap, amount=made.amount)


@router.post("/competitions/{slug}/teams/{team_id}/disqualify", responses=refusing(JUDGED))
def disqualify_team(
    slug: str, team_id: UUID, principal: Confirming, body: Ruling = NO_REASON
) -> schemas.TeamJudged:
    """Take a team out: its rows, its targets and its guesses stop counting for everybody."""
    return team_judged(slug, team_id, principal, body.reason, disqualified=True)


@router.post("/competitions/{slug}/teams/{team_id}/reinstate", responses=refusing(JUDGED))
def reinstate_team(
    slug: str, team_id: UUID, principal: Confirming, body: Ruling = NO_REASON
) -> schemas.TeamJudged:
    """Put a disqualified team back, with all it had. It needs the password while targets are attacked."""
    return team_judged(slug, team_id, principal, body.reason, disqualified=False)


@router.delete(
    "/competitions/{slug}/teams/{team_id}/approach",
    status_code=status.HTTP_204_NO_CONTENT,
    responses=refusing(JUDGED),
)
def remove_approach(slug: str, team_id: UUID, principal: SignedIn) -> None:
    """Take away what a team tells of how it did it; the audit log keeps it."""
    with transaction() as session:
        disqualification.silence(session, principal, slug, team_id)


@router.post("/submissions/{submission_id}/disqualify", responses=refusing(JUDGED))
def disqualify_submission(
    submission_id: UUID, principal: Confirming, body: Ruling = NO_REASON
) -> schemas.Submission:
    """Take a submission off the boards and withdraw its target; guesses on it stop counting."""
    return submission_judged(submission_id, principal, body.reason, disqualified=True)


@router.post("/submissions/{submission_id}/reinstate", responses=refusing(JUDGED))
def reinstate_submission(
    submission_id: UUID, principal: Confirming, body: Ruling = NO_REASON
) -> schemas.Submission:
    """Put a disqualified submission and its target back. It needs the password while targets are attacked."""
    return submission_judged(submission_id, principal, body.reason, disqualified=False)


@router.post(
    "/submissions/{submission_id}/rescore",
    status_code=status.HTTP_202_ACCEPTED,
    responses=refusing(ORGANIZER, "not_failed"),
)
def score_again(submission_id: UUID, principal: SignedIn) -> schemas.Submission:
    """Have a submission that ended in ERROR scored once more."""
    with transaction() as session:
        found = disqualification.score_again(session, principal, submission_id)
        return shown(session, submissions.slug_of(session, found), found)


def team_judged(
    slug: str, team_id: UUID, principal: SignedIn, reason: str, *, disqualified: bool
) -> schemas.TeamJudged:
    with transaction() as session:
        team = disqualification.judge_team(
            session, principal, slug, team_id, disqualified=disqualified, reason=reason
        )
        return schemas.TeamJudged(
            id=team.id,
            name=team.name,
            disqualified_at=team.disqualified_at,
            disqualified_for=team.disqualified_for,
        )


def submission_judged(
    submission_id: UUID, principal: SignedIn, reason: str, *, disqualified: bool
) -> schemas.Submission:
    with transaction() as session:
        found = disqualification.judge_submission(
            session, principal, submission_id, disqualified=disqualified, reason=reason
        )
        return shown(session, submissions.slug_of(session, found), found)
