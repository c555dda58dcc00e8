"""Routes with which organizers run a contest: phases, quotas, teams, submissions, baselines and the queue."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Body, Request, status
from pydantic import AwareDatetime, BaseModel, Field

from anoncup import schemas
from anoncup.schemas.fields import Role, example
from app.accounts.step_up import ReauthenticatedCaller
from app.competitions import competitions, phase_changes
from app.core import audit
from app.core.db.transaction import transaction
from app.core.http.openapi import JsonObject, build_multipart_body
from app.core.http.paging import RequestedPage, decode_number
from app.core.identity.authentication import CurrentPrincipal
from app.core.identity.principal import Principal
from app.jobs import queue
from app.jobs.worker_reports import WorkerReport, list_workers
from app.organizing import baselines, decisions, workload
from app.organizing.baselines import BaselineUpload
from app.setup.api import serialize_competition
from app.submissions.api import PARTS, REQUIRED_PARTS, serialize_receipt, serialize_submission
from app.submissions.receiving import receive_upload

router = APIRouter(tags=["organizing"])
baseline_router = APIRouter(prefix="/competitions/{slug}/baselines", tags=["baselines"])
log_router = APIRouter(prefix="/competitions/{slug}", tags=["organizers"])

_NAME_PART: JsonObject = {"type": "string", "description": "its name on the board"}
_HIDDEN_REASON = "takes no work; administrators can read why"
_Ruling = Annotated[schemas.RulingIn, Body()]
_NO_REASON = schemas.RulingIn()


class ExtensionIn(BaseModel):
    end: Annotated[
        AwareDatetime,
        Field(description="the new end, with its UTC offset"),
        example("2027-01-25T09:00:00+09:00"),
    ]
    move_following: Annotated[bool, Field(description="whether later phases move by the same time")] = False


class ResetIn(BaseModel):
    start: Annotated[
        AwareDatetime | None,
        Field(description="the new start of the first phase; the other phases move by the same time"),
        example("2027-01-25T09:00:00+09:00"),
    ] = None


_NO_MOVE = ResetIn()


@router.post("/competitions/{slug}/phases/{name}/extend")
def extend_phase(
    slug: str, name: str, principal: ReauthenticatedCaller, body: ExtensionIn
) -> schemas.Competition:
    """Move the end of a phase that has not ended yet to another time in the future."""
    with transaction() as session:
        round_ = phase_changes.extend(
            session, principal, slug, name, body.end, move_following=body.move_following
        )
        return serialize_competition(session, round_)


@router.post("/competitions/{slug}/phases/{name}/pause")
def pause_phase(slug: str, name: str, principal: CurrentPrincipal) -> schemas.Competition:
    """Pause the competition. No uploads are accepted until it is resumed."""
    with transaction() as session:
        round_ = phase_changes.pause(session, principal, slug, name)
        return serialize_competition(session, round_)


@router.post("/competitions/{slug}/phases/{name}/resume")
def resume_phase(slug: str, name: str, principal: CurrentPrincipal) -> schemas.Competition:
    """Resume the competition. All deadlines move by the length of the pause."""
    with transaction() as session:
        round_ = phase_changes.resume(session, principal, slug, name)
        return serialize_competition(session, round_)


@router.post("/competitions/{slug}/reset")
def reset_round(slug: str, principal: ReauthenticatedCaller, body: ResetIn = _NO_MOVE) -> schemas.Competition:
    """Restart a practice round without its submissions, targets and guesses. This cannot be undone."""
    with transaction() as session:
        round_ = phase_changes.reset(session, principal, slug, start=body.start)
        return serialize_competition(session, round_)


@router.post("/competitions/{slug}/grants", status_code=status.HTTP_201_CREATED)
def grant_quota(slug: str, principal: ReauthenticatedCaller, body: schemas.GrantIn) -> schemas.Grant:
    """Raise a cap of a team. A daily cap is raised for today. guesses_per_target requires the password."""
    with transaction() as session:
        grant = decisions.grant(
            session, principal, slug, team_id=body.team_id, cap=body.cap, amount=body.amount
        )
        return schemas.Grant.from_row(grant, at=grant.granted_at)


@router.get("/competitions/{slug}/adjustments")
def list_adjustments(slug: str, principal: CurrentPrincipal) -> list[schemas.Adjustment]:
    """List penalties and bonuses, newest first. Organizers see all; others see those of their team."""
    with transaction() as session:
        rows = decisions.list_adjustments(session, principal, slug)
        return [schemas.Adjustment.from_row(row) for row in rows]


@router.post("/competitions/{slug}/adjustments", status_code=status.HTTP_201_CREATED)
def create_adjustment(
    slug: str, principal: ReauthenticatedCaller, body: schemas.AdjustmentIn
) -> schemas.Adjustment:
    """Give a team a penalty or a bonus. It counts if a formula uses `penalty`."""
    with transaction() as session:
        row = decisions.create_adjustment(
            session, principal, slug, team_id=body.team_id, points=body.points, reason=body.reason
        )
        return schemas.Adjustment.from_row(row)


@router.post("/adjustments/{adjustment_id}/withdraw")
def withdraw_adjustment(adjustment_id: UUID, principal: CurrentPrincipal) -> schemas.Adjustment:
    """Withdraw a penalty or bonus, so that it no longer counts."""
    with transaction() as session:
        return schemas.Adjustment.from_row(decisions.withdraw_adjustment(session, principal, adjustment_id))


@router.post("/competitions/{slug}/teams/{team_id}/disqualify")
def disqualify_team(
    slug: str, team_id: UUID, principal: ReauthenticatedCaller, body: _Ruling = _NO_REASON
) -> schemas.TeamDisqualification:
    """Disqualify a team. Its rows, targets and guesses no longer count for anybody."""
    return _set_team_disqualified(slug, team_id, principal, body.reason, disqualified=True)


@router.post("/competitions/{slug}/teams/{team_id}/reinstate")
def reinstate_team(
    slug: str, team_id: UUID, principal: ReauthenticatedCaller, body: _Ruling = _NO_REASON
) -> schemas.TeamDisqualification:
    """Reinstate a disqualified team with all it had. During attacks, this requires the password."""
    return _set_team_disqualified(slug, team_id, principal, body.reason, disqualified=False)


@router.delete("/competitions/{slug}/teams/{team_id}/method", status_code=status.HTTP_204_NO_CONTENT)
def remove_method_description(slug: str, team_id: UUID, principal: CurrentPrincipal) -> None:
    """Remove a team's description of its method. The audit log keeps it."""
    with transaction() as session:
        decisions.remove_method_description(session, principal, slug, team_id)


@router.post("/submissions/{submission_id}/disqualify")
def disqualify_submission(
    submission_id: UUID, principal: ReauthenticatedCaller, body: _Ruling = _NO_REASON
) -> schemas.Submission:
    """Disqualify a submission. It leaves the boards.

    Its target is withdrawn, and guesses on it no longer count.
    """
    return _set_submission_disqualified(submission_id, principal, body.reason, disqualified=True)


@router.post("/submissions/{submission_id}/reinstate")
def reinstate_submission(
    submission_id: UUID, principal: ReauthenticatedCaller, body: _Ruling = _NO_REASON
) -> schemas.Submission:
    """Reinstate a disqualified submission and its target. During attacks, this requires the password."""
    return _set_submission_disqualified(submission_id, principal, body.reason, disqualified=False)


@router.post("/submissions/{submission_id}/rescore", status_code=status.HTTP_202_ACCEPTED)
def rescore_submission(submission_id: UUID, principal: CurrentPrincipal) -> schemas.Submission:
    """Score a submission that ended in ERROR again."""
    with transaction() as session:
        submission = decisions.rescore(session, principal, submission_id)
        return serialize_submission(session, submission)


def _set_team_disqualified(
    slug: str, team_id: UUID, principal: CurrentPrincipal, reason: str, *, disqualified: bool
) -> schemas.TeamDisqualification:
    with transaction() as session:
        team = decisions.set_team_disqualified(
            session, principal, slug, team_id, disqualified=disqualified, reason=reason
        )
        return schemas.TeamDisqualification.from_row(team)


def _set_submission_disqualified(
    submission_id: UUID, principal: CurrentPrincipal, reason: str, *, disqualified: bool
) -> schemas.Submission:
    with transaction() as session:
        submission = decisions.set_submission_disqualified(
            session, principal, submission_id, disqualified=disqualified, reason=reason
        )
        return serialize_submission(session, submission)


@baseline_router.post(
    "",
    status_code=status.HTTP_202_ACCEPTED,
    openapi_extra=build_multipart_body(PARTS | {"name": _NAME_PART}, required=[*REQUIRED_PARTS, "name"]),
)
async def add_baseline(request: Request, slug: str, principal: CurrentPrincipal) -> schemas.BaselineReceipt:
    """Add a release to the board for comparison, without a rank. The text part `name` is its name there."""
    baseline = await receive_upload(request, principal, BaselineUpload(slug))
    return schemas.BaselineReceipt(team_id=baseline.team_id, receipt=serialize_receipt(baseline))


@baseline_router.delete("/{team_id}", status_code=status.HTTP_204_NO_CONTENT)
def remove_baseline(slug: str, team_id: UUID, principal: ReauthenticatedCaller) -> None:
    """Remove a baseline from the board."""
    with transaction() as session:
        baselines.remove(session, principal, slug, team_id)


@log_router.get("/audit")
def audit_log(slug: str, principal: CurrentPrincipal, page: RequestedPage) -> list[schemas.AuditEntry]:
    """List the actions of organizers, administrators and the clock on the competition, newest first."""
    before_number = decode_number(page.cursor)
    with transaction() as session:
        round_ = competitions.find_for_organizer(session, principal, slug)
        rows = audit.list_entries(
            session, round_.competition_id, cursor=before_number, limit=page.fetch_limit
        )
    return [
        schemas.AuditEntry.model_validate(entry, from_attributes=True)
        for entry in page.take_page(rows, lambda last: (last.number,))
    ]


@log_router.get("/queue")
def queue_health(slug: str, principal: CurrentPrincipal) -> schemas.Queue:
    """Return the numbers of waiting and running jobs, and the workers."""
    with transaction() as session:
        round_ = competitions.find_for_organizer(session, principal, slug)
        load = workload.measure(session, round_.id)
    workers = list_workers()
    return schemas.Queue(
        waiting=load.waiting,
        scoring=load.scoring,
        oldest_waiting_s=load.oldest_waiting.total_seconds() if load.oldest_waiting else None,
        broker_depth=queue.count_messages(),
        last_sweep_s=load.last_sweep_s,
        workers=None if workers is None else [_hide_reason(worker, principal) for worker in workers],
    )


def _hide_reason(worker: WorkerReport, principal: Principal) -> schemas.Worker:
    """Return a worker; only administrators see why it takes no work, which may name folders and hosts."""
    is_hidden = worker.lacks is not None and principal.role != Role.ADMINISTRATOR
    return schemas.Worker.from_row(worker, **({"lacks": _HIDDEN_REASON} if is_hidden else {}))
