"""Rehearsals: sample teams play the competition, for its organizers alone."""

from fastapi import APIRouter, status
from sqlalchemy.orm import Session

from anoncup import schemas
from app.api.documentation.responses import ORGANIZER, refusing
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.http.step_up import Confirming
from app.services.contests import phases
from app.services.contests.contest import Contest
from app.services.organizing import rehearsal_progress, rehearsals

router = APIRouter(prefix="/competitions/{slug}/rehearsal", tags=["rehearsals"])


@router.post(
    "",
    status_code=status.HTTP_201_CREATED,
    responses=refusing(ORGANIZER, "409.no_original is_rehearsal track_not_rehearsed rehearsal_stands"),
)
def begin_rehearsal(slug: str, principal: SignedIn) -> schemas.Rehearsal:
    """Have sample teams play the competition in an hour, in a copy that only its organizers see."""
    with transaction() as session:
        return told(session, slug, rehearsals.begin(session, principal, slug))


@router.get("", responses=refusing(ORGANIZER, "no_rehearsal"))
def get_rehearsal(slug: str, principal: SignedIn) -> schemas.Rehearsal:
    """How the competition's rehearsal goes."""
    with transaction() as session:
        return told(session, slug, rehearsals.of_competition(session, principal, slug))


@router.delete("", status_code=status.HTTP_204_NO_CONTENT, responses=refusing(ORGANIZER, "no_rehearsal"))
def end_rehearsal(slug: str, principal: Confirming) -> None:
    """Take the rehearsal out of sight for good; what was scored stays in the record."""
    with transaction() as session:
        rehearsals.end(session, principal, slug)


def told(session: Session, slug: str, contest: Contest) -> schemas.Rehearsal:
    found = rehearsal_progress.course(session, contest.row)
    windows = contest.rules.phases
    return schemas.Rehearsal(
        slug=contest.slug,
        rehearses=slug,
        state=phases.standing(session, contest.row).state,
        began_at=contest.row.created_at,
        ends_at=windows[-1].end if windows else None,
        steps=[
            schemas.RehearsalStep(step=one.name, done=one.done, of=one.of, first=one.first, last=one.last)
            for one in found.steps
        ],
        failed=[
            schemas.FailedMove(id=one.id, team=one.team.name, phase=one.phase, **schemas.failed(one.failure))
            for one in found.failed
        ],
        stalled=found.stalled,
        late=found.late,
    )
