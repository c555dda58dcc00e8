"""Routes of rehearsals, in which sample teams play the competition for its organizers."""

from fastapi import APIRouter, status
from sqlalchemy.orm import Session

from anoncup import schemas
from app.api.clarifications import serialize_clarification
from app.api.documentation.responses import ORGANIZER_ERRORS, build_error_responses
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.http.step_up import ReauthenticatedCaller
from app.services.contests import phases
from app.services.contests.clarifications import VisibleClarification
from app.services.contests.contest import Contest
from app.services.organizing import rehearsal_progress, rehearsals

router = APIRouter(prefix="/competitions/{slug}/rehearsal", tags=["rehearsals"])


@router.post(
    "",
    status_code=status.HTTP_201_CREATED,
    responses=build_error_responses(
        *ORGANIZER_ERRORS, (409, "no_original"), "is_rehearsal", "track_not_rehearsed", "rehearsal_stands"
    ),
)
def begin_rehearsal(slug: str, principal: CurrentPrincipal) -> schemas.Rehearsal:
    """Begin a rehearsal: sample teams play a copy of the competition in an hour. For organizers."""
    with transaction() as session:
        return _serialize_rehearsal(session, slug, rehearsals.begin(session, principal, slug))


@router.get("", responses=build_error_responses(*ORGANIZER_ERRORS, "no_rehearsal"))
def get_rehearsal(slug: str, principal: CurrentPrincipal) -> schemas.Rehearsal:
    """Return the progress of the competition's rehearsal."""
    with transaction() as session:
        return _serialize_rehearsal(session, slug, rehearsals.find_for_organizer(session, principal, slug))


@router.delete(
    "",
    status_code=status.HTTP_204_NO_CONTENT,
    responses=build_error_responses(*ORGANIZER_ERRORS, "no_rehearsal"),
)
def end_rehearsal(slug: str, principal: ReauthenticatedCaller) -> None:
    """End the rehearsal. It disappears permanently; its scores remain in the records."""
    with transaction() as session:
        rehearsals.end(session, principal, slug)


def _serialize_rehearsal(session: Session, slug: str, contest: Contest) -> schemas.Rehearsal:
    progress = rehearsal_progress.load_progress(session, contest.round)
    planned_phases = contest.rules.phases
    return schemas.Rehearsal(
        slug=contest.address,
        rehearsal_of=slug,
        state=phases.get_status(session, contest.round).state,
        began_at=contest.competition.created_at,
        ends_at=planned_phases[-1].end if planned_phases else None,
        steps=[
            schemas.RehearsalStep(
                step=step.name, done=step.completed, of=step.total, first=step.first_at, last=step.last_at
            )
            for step in progress.steps
        ],
        failed=[
            serialize_clarification(
                VisibleClarification(question, is_own=False, team_name=question.team.name)
            )
            for question in progress.failed
        ],
        stalled=progress.is_stalled,
        expired=progress.is_expired,
        late=progress.late,
    )
