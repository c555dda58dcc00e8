"""All submissions of a team at once, each without its measures: for counts, a course, what is unfinished."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.models import Evaluation, State, Submission
from app.services.accounts import memberships
from app.services.accounts.accounts import Principal
from app.services.contests import competitions
from app.services.jobs import leases
from app.services.submissions import finals


@dataclass(frozen=True, slots=True)
class Summary:
    """One submission; ``overall``: None where it has no verdict. ``final``: marked by the team.

    ``barred``: disqualified by itself.
    """

    id: UUID
    received_at: datetime
    state: State
    overall: float | None
    final: bool
    barred: bool

    @property
    def unfinished(self) -> bool:
        return self.state in leases.UNFINISHED

    @property
    def chosen(self) -> bool:
        """Marked, and not ended in a way that nothing can stand for."""
        return self.final and self.state in finals.MARKABLE


def of_own_team(session: Session, principal: Principal, slug: str) -> Sequence[Summary]:
    """Every submission of the person's own team, oldest first."""
    principal.require("read")
    contest = competitions.find(session, principal, slug)
    team = memberships.require_team(session, contest.id, principal)
    overall = Evaluation.verdict["overall"].as_float()
    query = (
        select(
            Submission.id,
            Submission.received_at,
            Evaluation.state,
            overall,
            Submission.final,
            Submission.disqualified_at.is_not(None),
        )
        .join(Evaluation, (Evaluation.submission_id == Submission.id) & Evaluation.current)
        .where(Submission.team_id == team.id)
        .order_by(Submission.received_at, Submission.id)
    )
    return [
        Summary(identifier, received_at, State(state), found, final, barred)
        for identifier, received_at, state, found, final, barred in session.execute(query)
    ]
