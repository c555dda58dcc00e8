"""What counted at a moment: the evaluations in force then, and the rules. Frozen boards are built of these.

Nothing is stored for it. Every evaluation has the moment from which it counted for its submission: that of
its creation, or, if it belongs to a re-score set, that of the set's application. One that was replaced is
still there, and so is the file that a set replaced. What organizers decide about teams and submissions has no
past: who is disqualified is so on every board, and who is reinstated stands on it again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy import Select, and_, func, or_, select
from sqlalchemy.orm import Session, aliased

from anoncup.rules.model import Rules
from app.db.models import Competition, Evaluation, Rescore, State, Submission, Target, Team
from app.services.boards.verdicts import Ending
from app.services.contests.contest import Contest, read_file
from app.services.contests.visibility import ALWAYS

Query = Select[UUID, datetime, UUID, str, bool, State, UUID, datetime | None]
ENDED = (State.SCORED, State.REJECTED)
SINCE = func.coalesce(Rescore.applied_at, Evaluation.created_at)
"""The moment from which an evaluation counts for its submission."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A submission whose scoring has ended; ``baseline``: of a sample method, not of a team."""

    submission_id: UUID
    received_at: datetime
    team_id: UUID
    team: str
    baseline: bool
    state: State
    evaluation_id: UUID
    ended_at: datetime | None

    @property
    def ending(self) -> Ending:
        return self.evaluation_id, self.ended_at

    @property
    def place(self) -> tuple[datetime, UUID]:
        """In the order of receipt."""
        return self.received_at, self.submission_id


def finished(
    session: Session, row: Competition, moment: datetime, *, targets_only: bool = False
) -> list[Finished]:
    """What had ended at the moment (``ALWAYS``: has) and is not disqualified, in the order of receipt."""
    query = counting(row.id, moment)
    if targets_only:
        frozen = select(Target.submission_id).where(Target.competition_id == row.id)
        query = query.where(Submission.id.in_(frozen))
    latest = {plain[0]: Finished(*plain) for plain in session.execute(query)}
    return [one for one in latest.values() if one.state in ENDED and had_ended(one.ended_at, moment)]


@dataclass(frozen=True, slots=True)
class Stay:
    """While an evaluation stood for its submission, at moments after ``begins`` and up to ``ends``."""

    finished: Finished
    begins: datetime
    ends: datetime


def stays(session: Session, row: Competition) -> list[Stay]:
    """All that ever counted: at each moment those that last are what had ended then (``finished``)."""
    query = begun(qualified(row.id), ALWAYS).add_columns(SINCE)
    by_submission: dict[UUID, list[tuple[Finished, datetime]]] = {}
    for *plain, since in session.execute(query):
        one = Finished(*plain)
        by_submission.setdefault(one.submission_id, []).append((one, since))
    return [stay for listed in by_submission.values() for stay in one_after_the_other(listed)]


def one_after_the_other(listed: Sequence[tuple[Finished, datetime]]) -> Iterator[Stay]:
    ends = [*(since for _, since in listed[1:]), ALWAYS]
    for (one, since), end in zip(listed, ends, strict=True):
        if one.state in ENDED and one.ended_at is not None and max(since, one.ended_at) < end:
            yield Stay(one, max(since, one.ended_at), end)


def eras(session: Session, contest: Contest) -> list[tuple[datetime, Rules]]:
    """The rules up to each moment, and those of now (``rules``)."""
    replaced = session.execute(
        select(Rescore.applied_at, Rescore.replaced_file, Rescore.replaced_scored_by)
        .where(Rescore.competition_id == contest.id, Rescore.replaced_file.is_not(None))
        .order_by(Rescore.applied_at)
    )
    past = [(at, replace(read_file(file), scored_by=by)) for at, file, by in replaced]
    return [*past, (ALWAYS, contest.rules)]


def had_ended(at: datetime | None, moment: datetime) -> bool:
    return moment == ALWAYS or (at is not None and at < moment)


def counting(competition_id: UUID, moment: datetime) -> Query:
    """The evaluations of qualified submissions that had begun to count; of each submission the last, last."""
    query = qualified(competition_id)
    return query.where(Evaluation.current) if moment == ALWAYS else begun(query, moment)


def qualified(competition_id: UUID) -> Query:
    """All evaluations of submissions that stand, in the order of receipt."""
    return (
        select(
            Submission.id,
            Submission.received_at,
            Team.id,
            Team.name,
            Team.baseline,
            Evaluation.state,
            Evaluation.id,
            Evaluation.finished_at,
        )
        .select_from(Submission)
        .join(Submission.team)
        .join(Evaluation, Evaluation.submission_id == Submission.id)
        .where(Submission.competition_id == competition_id)
        .where(Submission.disqualified_at.is_(None), Team.disqualified_at.is_(None))
        .order_by(Submission.received_at, Submission.id)
    )


def begun(query: Query, moment: datetime) -> Query:
    """Of a cancelled submission none: nothing of it was ever seen, though a set may have scored it."""
    now = aliased(Evaluation)
    return (
        query.outerjoin(Rescore, Rescore.id == Evaluation.rescore_id)
        .join(now, and_(now.submission_id == Submission.id, now.current))
        .where(now.state != State.CANCELLED, moment > SINCE)
        .where(or_(Evaluation.rescore_id.is_(None), Rescore.applied_at.is_not(None)))
        .order_by(SINCE)
    )


def rules(session: Session, contest: Contest, moment: datetime) -> Rules:
    """The competition's rules at the moment: those that the first set applied since has replaced.

    Without such a set, as its file says now: an ordinary revision changes nothing that is measured.
    """
    if moment == ALWAYS:
        return contest.rules
    return next(found for until, found in eras(session, contest) if until >= moment)
