"""Re-score sets: begin one with other rules, see what it would change, apply or cancel it."""

from uuid import UUID

from fastapi import APIRouter, status

from anoncup import schemas
from anoncup.rules.toml_text import text_of
from app.api.competitions import Toml
from app.api.documentation.responses import ORGANIZER, REVISION, refusing
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.http.step_up import Confirming
from app.services.contests import competitions, revisions
from app.services.organizing import rejudgings
from app.services.organizing.rejudgings import Change, Judged, Preview

router = APIRouter(tags=["re-scoring"])


@router.post(
    "/competitions/{slug}/rescores",
    status_code=status.HTTP_202_ACCEPTED,
    responses=refusing(ORGANIZER, REVISION),
)
def begin_rescore(slug: str, principal: SignedIn, file: Toml) -> schemas.RescoreSummary:
    """Score every submission by the rules of this competition.toml; nothing changes until it is applied."""
    with transaction() as session:
        contest = competitions.for_organizer(session, principal, slug)
    revision = revisions.revision_of_file(contest, text_of(file))
    with transaction() as session:
        made = rejudgings.begin(session, principal, slug, revision)
        return summary(rejudgings.progress_of(session, made))


@router.get("/competitions/{slug}/rescores", responses=refusing(ORGANIZER))
def list_rescores(slug: str, principal: SignedIn) -> list[schemas.RescoreSummary]:
    """The competition's sets, newest first."""
    with transaction() as session:
        return [summary(each) for each in rejudgings.listed(session, principal, slug)]


@router.get("/rescores/{rescore_id}")
def get_rescore(rescore_id: UUID, principal: SignedIn) -> schemas.Rescore:
    """How far a set is, and what it would change."""
    with transaction() as session:
        return out(rejudgings.preview(session, principal, rescore_id))


@router.post(
    "/rescores/{rescore_id}/apply",
    responses=refusing("rescore_scoring rescore_failed rescore_ended changed_meanwhile phase_turned"),
)
def apply_rescore(rescore_id: UUID, principal: Confirming) -> schemas.RescoreSummary:
    """Put the new rules and all their results in force at once."""
    with transaction() as session:
        ended = rejudgings.apply(session, principal, rescore_id)
        return summary(rejudgings.progress_of(session, ended))


@router.post("/rescores/{rescore_id}/cancel", responses=refusing("rescore_ended"))
def cancel_rescore(rescore_id: UUID, principal: SignedIn) -> schemas.RescoreSummary:
    """Drop a set; everything stays as it is."""
    with transaction() as session:
        ended = rejudgings.cancel(session, principal, rescore_id)
        return summary(rejudgings.progress_of(session, ended))


def summary(found: Preview) -> schemas.RescoreSummary:
    return schemas.RescoreSummary(
        id=found.rescore.id,
        state=found.stage,
        created_at=found.rescore.created_at,
        applied_at=found.rescore.applied_at,
        cancelled_at=found.rescore.cancelled_at,
        finished=found.finished,
        total=found.total,
    )


def out(found: Preview) -> schemas.Rescore:
    return schemas.Rescore(**summary(found).model_dump(), rows=[change_out(each) for each in found.changes])


def change_out(change: Change) -> schemas.Change:
    return schemas.Change(
        submission_id=change.submission.id,
        team=change.submission.team.name,
        before=outcome(change.before),
        after=outcome(change.after),
    )


def outcome(judged: Judged) -> schemas.Outcome:
    numbers = judged.numbers
    return schemas.Outcome(
        status=judged.state,
        rank=judged.rank,
        utility=numbers.utility if numbers else None,
        security=numbers.security if numbers else None,
        overall=judged.overall,
        violations=list(numbers.violations) if numbers else [],
        **schemas.failed(judged.evaluation.failure),
    )
