"""The lines of a team's list: each submission with its place in the queue and what may be done with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy.orm import Session

from app.db.models import Evaluation, Submission
from app.services.contests import phases
from app.services.jobs import leases
from app.services.submissions import finals, progress
from app.services.submissions.summaries import Summary
from app.web.site.frame import Frame

Taking = Literal["open", "disqualified", "undated", "draft", "paused", "settling", "over"]
"""Whether releases of a team are taken in and its finals chosen, or why not."""


@dataclass(frozen=True, slots=True)
class Line:
    """One submission; ``ahead``: how many are scored before it, None once it is being scored."""

    submission: Submission
    ahead: int | None

    @property
    def evaluation(self) -> Evaluation:
        return self.submission.evaluation

    @property
    def unfinished(self) -> bool:
        return self.evaluation.state in leases.UNFINISHED

    @property
    def markable(self) -> bool:
        """Whether it may stand for its team, as far as is known."""
        return self.evaluation.state in finals.MARKABLE

    @property
    def state(self) -> str:
        """What is said of it: out of the contest comes before all that scoring found."""
        return "DISQUALIFIED" if self.submission.disqualified_at else str(self.evaluation.state)

    @property
    def choosable(self) -> bool:
        """Whether the team is offered to choose it; a disqualified one that it chose, to give it up."""
        return self.markable and (self.submission.final or self.submission.disqualified_at is None)


@dataclass(frozen=True, slots=True)
class Finals:
    """What all lines share: ``chosen`` of at most ``most`` finals, and whether the choice is open."""

    taking: Taking
    chosen: int
    most: int

    @property
    def open(self) -> bool:
        return self.taking == "open"

    @property
    def full(self) -> bool:
        return self.chosen >= self.most


def lines_of(session: Session, found: Sequence[Submission]) -> list[Line]:
    known = progress.of_submissions(session, {one.id for one in found})
    return [Line(one, known[one.id].queue_position) for one in found]


def finals_of(frame: Frame, outline: Sequence[Summary]) -> Finals:
    return Finals(
        taking=taking(frame),
        chosen=sum(one.chosen for one in outline),
        most=frame.rules.ranking.finals,
    )


def taking(frame: Frame) -> Taking:
    """Whether the first phase takes in what this person's team has, now."""
    standing = frame.standing
    if frame.disqualified:
        return "disqualified"
    if standing.state == "draft":
        return "draft" if frame.starts else "undated"
    if standing.state == phases.ANONYMIZATION:
        return "paused" if standing.paused else "open"
    return "settling" if frame.contest.row.published_at is None and standing.state == "settling" else "over"
