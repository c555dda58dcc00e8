"""Routes with which organizers change phases, quotas, teams and submissions during the contest."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Body, status
from pydantic import AwareDatetime, BaseModel, Field

from anoncup import schemas
from anoncup.schemas.fields import example
from app.api.competitions import serialize_competition
from app.api.documentation.responses import DISQUALIFICATION, ORGANIZER, TEAM, build_error_responses
from app.api.submissions import serialize_submission
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.http.step_up import ReauthenticatedCaller
from app.services.contests import phase_changes
from app.services.organizing import adjustments, disqualification, round_reset

router = APIRouter(tags=["organizing"])

_Ruling = Annotated[schemas.RulingIn, Body()]
_NO_REASON = schemas.RulingIn()


class ExtensionIn(BaseModel):
    end: Annotated[
        AwareDatetime, Field(description="the new end, with its offset"), example("2027-01-25T09:00:00+09:00")
    ]
    move_following: Annotated[bool, Field(description="later phases move by as much")] = False


class ResetIn(BaseModel):
    start: Annotated[
        AwareDatetime | None,
        Field(description="the new start of the first phase; the other phases move by as much"),
        example("2027-01-25T09:00:00+09:00"),
    ] = None


_NO_MOVE = ResetIn()


@router.post(
    "/competitions/{slug}/phases/{name}/extend",
    responses=build_error_responses(
        ORGANIZER, "phase_turned phases_overlap end_passed end_too_far wrong_value"
    ),
)
def extend_phase(
    slug: str, name: str, principal: ReauthenticatedCaller, body: ExtensionIn
) -> schemas.Competition:
    """Move the end of a phase that has not turned yet, to a time that lies ahead."""
    with transaction() as session:
        contest = phase_changes.extend(
            session, principal, slug, name, body.end, move_following=body.move_following
        )
        return serialize_competition(session, contest)


@router.post(
    "/competitions/{slug}/phases/{name}/pause",
    responses=build_error_responses(ORGANIZER, "phase_closed phase_paused"),
)
def pause_phase(slug: str, name: str, principal: CurrentPrincipal) -> schemas.Competition:
    """Stop the competition's clock; nothing is taken in until it is resumed."""
    with transaction() as session:
        contest = phase_changes.pause(session, principal, slug, name)
        return serialize_competition(session, contest)


@router.post(
    "/competitions/{slug}/phases/{name}/resume",
    responses=build_error_responses(ORGANIZER, "phase_not_paused phase_turned"),
)
def resume_phase(slug: str, name: str, principal: CurrentPrincipal) -> schemas.Competition:
    """Let the clock go on; all deadlines move by the length of the pause."""
    with transaction() as session:
        contest = phase_changes.resume(session, principal, slug, name)
        return serialize_competition(session, contest)


@router.post(
    "/competitions/{slug}/reset",
    responses=build_error_responses(ORGANIZER, "not_practice end_passed end_too_far"),
)
def reset_round(slug: str, principal: ReauthenticatedCaller, body: ResetIn = _NO_MOVE) -> schemas.Competition:
    """Begin a practice round again, without its submissions, targets and guesses. This cannot be undone."""
    with transaction() as session:
        contest = round_reset.reset(session, principal, slug, start=body.start)
        return serialize_competition(session, contest)


@router.post(
    "/competitions/{slug}/grants",
    status_code=status.HTTP_201_CREATED,
    responses=build_error_responses(ORGANIZER, "no_such_team invalid_grant"),
)
def grant_quota(slug: str, principal: ReauthenticatedCaller, body: schemas.GrantIn) -> schemas.Grant:
    """Give a team more of a cap; more of a daily one is for today. guesses_per_target needs the password."""
    with transaction() as session:
        grant = disqualification.grant(
            session, principal, slug, team_id=body.team_id, cap=body.cap, amount=body.amount
        )
        return schemas.Grant.from_row(grant, at=grant.granted_at)


@router.get("/competitions/{slug}/adjustments", responses=build_error_responses(TEAM))
def list_adjustments(slug: str, principal: CurrentPrincipal) -> list[schemas.Adjustment]:
    """The penalties and bonuses, newest first: for organizers all, for others those of their team."""
    with transaction() as session:
        rows = adjustments.list_adjustments(session, principal, slug)
        return [schemas.Adjustment.from_row(row) for row in rows]


@router.post(
    "/competitions/{slug}/adjustments",
    status_code=status.HTTP_201_CREATED,
    responses=build_error_responses(ORGANIZER, "no_such_team invalid_points invalid_reason reason_missing"),
)
def create_adjustment(
    slug: str, principal: CurrentPrincipal, body: schemas.AdjustmentIn
) -> schemas.Adjustment:
    """Give a team a penalty or a bonus, which counts where a formula names `adjustment`."""
    with transaction() as session:
        row = adjustments.create(
            session, principal, slug, team_id=body.team_id, points=body.points, reason=body.reason
        )
        return schemas.Adjustment.from_row(row)


@router.post(
    "/adjustments/{adjustment_id}/withdraw",
    responses=build_error_responses(ORGANIZER, "no_such_adjustment already_withdrawn"),
)
def withdraw_adjustment(adjustment_id: UUID, principal: CurrentPrincipal) -> schemas.Adjustment:
    """Let a penalty or bonus cease to count."""
    with transaction() as session:
        return schemas.Adjustment.from_row(adjustments.withdraw(session, principal, adjustment_id))


@router.post(
    "/competitions/{slug}/teams/{team_id}/disqualify", responses=build_error_responses(DISQUALIFICATION)
)
def disqualify_team(
    slug: str, team_id: UUID, principal: ReauthenticatedCaller, body: _Ruling = _NO_REASON
) -> schemas.TeamDisqualification:
    """Take a team out: its rows, its targets and its guesses stop counting for everybody."""
    return _set_team_disqualified(slug, team_id, principal, body.reason, disqualified=True)


@router.post(
    "/competitions/{slug}/teams/{team_id}/reinstate", responses=build_error_responses(DISQUALIFICATION)
)
def reinstate_team(
    slug: str, team_id: UUID, principal: ReauthenticatedCaller, body: _Ruling = _NO_REASON
) -> schemas.TeamDisqualification:
    """Put a disqualified team back, with all it had. It needs the password while targets are attacked."""
    return _set_team_disqualified(slug, team_id, principal, body.reason, disqualified=False)


@router.delete(
    "/competitions/{slug}/teams/{team_id}/method",
    status_code=status.HTTP_204_NO_CONTENT,
    responses=build_error_responses(DISQUALIFICATION),
)
def remove_method_description(slug: str, team_id: UUID, principal: CurrentPrincipal) -> None:
    """Remove a team's description of its method. The audit log keeps it."""
    with transaction() as session:
        disqualification.remove_method_description(session, principal, slug, team_id)


@router.post("/submissions/{submission_id}/disqualify", responses=build_error_responses(DISQUALIFICATION))
def disqualify_submission(
    submission_id: UUID, principal: ReauthenticatedCaller, body: _Ruling = _NO_REASON
) -> schemas.Submission:
    """Take a submission off the boards and withdraw its target; guesses on it stop counting."""
    return _set_submission_disqualified(submission_id, principal, body.reason, disqualified=True)


@router.post("/submissions/{submission_id}/reinstate", responses=build_error_responses(DISQUALIFICATION))
def reinstate_submission(
    submission_id: UUID, principal: ReauthenticatedCaller, body: _Ruling = _NO_REASON
) -> schemas.Submission:
    """Put a disqualified submission and its target back. It needs the password while targets are attacked."""
    return _set_submission_disqualified(submission_id, principal, body.reason, disqualified=False)


@router.post(
    "/submissions/{submission_id}/rescore",
    status_code=status.HTTP_202_ACCEPTED,
    responses=build_error_responses(ORGANIZER, "not_failed"),
)
def rescore_submission(submission_id: UUID, principal: CurrentPrincipal) -> schemas.Submission:
    """Have a submission that ended in ERROR scored once more."""
    with transaction() as session:
        submission = disqualification.rescore(session, principal, submission_id)
        return serialize_submission(session, submission)


def _set_team_disqualified(
    slug: str, team_id: UUID, principal: CurrentPrincipal, reason: str, *, disqualified: bool
) -> schemas.TeamDisqualification:
    with transaction() as session:
        team = disqualification.set_team_disqualified(
            session, principal, slug, team_id, disqualified=disqualified, reason=reason
        )
        return schemas.TeamDisqualification.from_row(team)


def _set_submission_disqualified(
    submission_id: UUID, principal: CurrentPrincipal, reason: str, *, disqualified: bool
) -> schemas.Submission:
    with transaction() as session:
        submission = disqualification.set_submission_disqualified(
            session, principal, submission_id, disqualified=disqualified, reason=reason
        )
        return serialize_submission(session, submission)
