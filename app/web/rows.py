"""The lines of a team's list: each submission with its place in the queue and what may be done with it."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.db.models import Evaluation, Submission
from app.services import finals, leases, phases, progress
from app.services.outlines import Outline
from app.web.frame import Frame


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


@dataclass(frozen=True, slots=True)
class Rows:
    """What all lines share: ``chosen`` of at most ``most`` finals, and whether the choice is ``open``."""

    open: bool
    chosen: int
    most: int

    @property
    def full(self) -> bool:
        return self.chosen >= self.most


def lines_of(session: Session, found: Sequence[Submission]) -> list[Line]:
    known = progress.of_submissions(session, {one.id for one in found})
    return [Line(one, known[one.id].queue_position) for one in found]


def rows_as_seen(frame: Frame, outline: Sequence[Outline]) -> Rows:
    opened = frame.standing.open
    return Rows(
        open=opened is not None and opened.name == phases.ANONYMIZATION,
        chosen=sum(one.chosen for one in outline),
        most=frame.competition.ranking.finals,
    )
