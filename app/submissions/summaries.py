"""Summaries of all submissions of a team, without the measures, for counts and timelines."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.competitions import competitions
from app.core.db.models import Evaluation, State, Submission
from app.core.identity.principal import Principal
from app.jobs import leases
from app.submissions import finals


@dataclass(frozen=True, slots=True)
class SubmissionSummary:
    """Summary of one submission; ``overall`` is None without a verdict.

    ``is_final``: marked by the team. ``is_disqualified``: this submission, not its team, is disqualified.
    """

    id: UUID
    received_at: datetime
    state: State
    overall: float | None
    is_final: bool
    is_disqualified: bool

    @property
    def is_unfinished(self) -> bool:
        return self.state in leases.UNFINISHED

    @property
    def is_chosen_final(self) -> bool:
        """Whether the submission is marked as a final and in a state in which finals count."""
        return self.is_final and self.state in finals.MARKABLE_STATES


def list_summaries(session: Session, principal: Principal, slug: str) -> Sequence[SubmissionSummary]:
    """Return summaries of the submissions of the person's own team, oldest first."""
    _, team = competitions.find_for_member(session, principal, slug)
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
        SubmissionSummary(submission_id, received_at, State(state), score, is_final, is_disqualified)
        for submission_id, received_at, state, score, is_final, is_disqualified in session.execute(query)
    ]
