"""View models of the page that lists a team's submissions: its lines and the choice of finals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy.orm import Session

from app.competitions import phases
from app.competitions.frame import Frame
from app.core.db.models import Evaluation, Submission
from app.jobs import leases
from app.submissions.submissions import (
    MARKABLE_STATES,
    SubmissionSummary,
    compute_polling_interval,
    load_queue_positions,
)

IntakeState = Literal["open", "disqualified", "undated", "draft", "paused", "settling", "over"]
"""Whether a team can submit and choose finals (``open``), or the reason why it cannot.

``undated``: the first phase has no start yet. ``draft``: it has not started. ``settling``: its deadline has
passed, and uploads that came in time are still being scored. ``over``: its finals are fixed.
"""


@dataclass(frozen=True, slots=True)
class SubmissionLine:
    """A submission in the list.

    ``queue_position`` is the number of submissions before it in the queue, or None once scoring has begun.
    """

    submission: Submission
    queue_position: int | None

    @property
    def evaluation(self) -> Evaluation:
        return self.submission.evaluation

    @property
    def is_unfinished(self) -> bool:
        return self.evaluation.state in leases.UNFINISHED

    @property
    def polling_interval_s(self) -> int:
        return compute_polling_interval(self.queue_position)

    @property
    def can_be_final(self) -> bool:
        """Whether the state of its evaluation allows it to be a final."""
        return self.evaluation.state in MARKABLE_STATES

    @property
    def displayed_state(self) -> str:
        """The state of its evaluation, or ``DISQUALIFIED`` if the submission is disqualified."""
        return "DISQUALIFIED" if self.submission.disqualified_at else str(self.evaluation.state)

    @property
    def can_toggle_final(self) -> bool:
        """Whether its form can change the choice. A disqualified submission can only stop being a final."""
        return self.can_be_final and (self.submission.final or self.submission.disqualified_at is None)


@dataclass(frozen=True, slots=True)
class FinalsChoice:
    """The number of chosen finals and its maximum, and whether the choice is open."""

    intake: IntakeState
    chosen_count: int
    max_count: int

    @property
    def is_open(self) -> bool:
        return self.intake == "open"

    @property
    def is_full(self) -> bool:
        return self.chosen_count >= self.max_count


def build_lines(session: Session, submissions: Sequence[Submission]) -> list[SubmissionLine]:
    """Return the lines of the given submissions, in the same order."""
    positions = load_queue_positions(session, submissions)
    return [SubmissionLine(submission, positions.get(submission.id)) for submission in submissions]


def summarize_finals(frame: Frame, own_summaries: Sequence[SubmissionSummary]) -> FinalsChoice:
    """Return the number of finals that the team has chosen, and whether it can choose."""
    return FinalsChoice(
        intake=find_intake_state(frame),
        chosen_count=sum(summary.is_chosen_final for summary in own_summaries),
        max_count=frame.rules.ranking.finals,
    )


def find_intake_state(frame: Frame) -> IntakeState:
    """Return whether this person's team can submit releases now, or why it cannot."""
    status = frame.status
    if frame.is_disqualified:
        return "disqualified"
    if status.state == "draft":
        return "draft" if frame.next_start else "undated"
    if status.state == phases.ANONYMIZATION:
        return "paused" if status.paused else "open"
    return "settling" if status.state == "settling" and frame.contest.round.published_at is None else "over"
