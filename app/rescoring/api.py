"""Routes of rescores: begin one with other rules, preview its changes, apply or cancel it."""

from uuid import UUID

from fastapi import APIRouter, status

from anoncup import schemas
from anoncup.rules.toml_text import decode_file
from app.accounts.step_up import ReauthenticatedCaller
from app.competitions import competitions, revisions
from app.core.db.models import Guess, JudgingJob, Rejudgement
from app.core.db.transaction import transaction
from app.core.http.bodies import Toml
from app.core.identity.authentication import CurrentPrincipal
from app.rescoring import rescores
from app.rescoring.rescores import RescorePreview

router = APIRouter(tags=["re-scoring"])


@router.post("/competitions/{slug}/rescores", status_code=status.HTTP_202_ACCEPTED)
def begin_rescore(slug: str, principal: CurrentPrincipal, file: Toml) -> schemas.RescoreSummary:
    """Score all submissions and guesses under the rules of this file. Nothing changes until it is applied."""
    with transaction() as session:
        round_ = competitions.find_for_organizer(session, principal, slug)
    revision = revisions.compute_file_revision(round_, decode_file(file))
    with transaction() as session:
        rescore = rescores.begin(session, principal, slug, revision)
        return _summarize(rescores.load_progress(session, rescore))


@router.get("/competitions/{slug}/rescores")
def list_rescores(slug: str, principal: CurrentPrincipal) -> list[schemas.RescoreSummary]:
    """List the competition's re-score sets, newest first."""
    with transaction() as session:
        return [_summarize(preview) for preview in rescores.list_rescores(session, principal, slug)]


@router.get("/rescores/{rescore_id}")
def get_rescore(rescore_id: UUID, principal: CurrentPrincipal) -> schemas.Rescore:
    """Return the progress of a re-score set and the changes that it would make."""
    with transaction() as session:
        preview = rescores.preview(session, principal, rescore_id)
        rows = [
            schemas.RescoreChange(
                submission_id=change.submission.id,
                team=change.submission.team.name,
                before=change.before,
                after=change.after,
            )
            for change in preview.changes
        ]
        guess_rows = [_serialize_guess(*change) for change in preview.guess_changes]
        return schemas.Rescore(**_summarize(preview).model_dump(), rows=rows, guess_rows=guess_rows)


@router.post("/rescores/{rescore_id}/apply")
def apply_rescore(rescore_id: UUID, principal: ReauthenticatedCaller) -> schemas.RescoreSummary:
    """Apply a re-score set: its rules and all its results take effect at once."""
    with transaction() as session:
        rescore = rescores.apply(session, principal, rescore_id)
        return _summarize(rescores.load_progress(session, rescore))


@router.post("/rescores/{rescore_id}/cancel")
def cancel_rescore(rescore_id: UUID, principal: CurrentPrincipal) -> schemas.RescoreSummary:
    """Cancel a re-score set. Rules and results stay as they are."""
    with transaction() as session:
        rescore = rescores.cancel(session, principal, rescore_id)
        return _summarize(rescores.load_progress(session, rescore))


def _summarize(preview: RescorePreview) -> schemas.RescoreSummary:
    return schemas.RescoreSummary.from_row(
        preview.rescore,
        state=preview.stage,
        finished=preview.finished,
        total=preview.total,
        judged=preview.guesses.finished,
        guesses=preview.guesses.total,
    )


def _serialize_guess(guess: Guess, proposed: Rejudgement) -> schemas.RescoreGuess:
    return schemas.RescoreGuess(
        guess_id=guess.id,
        team=guess.team.name,
        target=guess.target.name,
        question=guess.question,
        before=_serialize_judgement(guess),
        after=_serialize_judgement(proposed),
    )


def _serialize_judgement(job: JudgingJob) -> schemas.RescoreGuessOutcome:
    return schemas.RescoreGuessOutcome(
        status=job.state,
        correct=job.correct,
        value=job.outcome["value"] if job.outcome else None,
        risk=job.risk,
        **schemas.build_failure_fields(job.failure),
    )
