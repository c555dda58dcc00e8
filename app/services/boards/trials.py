"""The judged guesses that count on the boards, summed up by the database: there may be thousands."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Subquery, func, select, true
from sqlalchemy.orm import Session

from app.db.models import Competition, Guess, State, Target, Team
from app.services.boards import in_force
from app.services.boards.in_force import Finished
from app.services.contest.visibility import ALWAYS, View


@dataclass(frozen=True, slots=True)
class Attacked:
    """A target that counts, and what it is."""

    id: UUID
    name: str
    rows: int
    finished: Finished


@dataclass(frozen=True, slots=True)
class Trials:
    """A team's guesses on one target: the most records that one of them identified, and how many they are."""

    correct: int
    trials: int


@dataclass(frozen=True, slots=True)
class Attacks:
    """A team's best guesses on all targets it attacked, summed; ``tried``: the rows of those targets.

    ``since``: when its first guess arrived.
    """

    identified: int
    tried: int
    targets: int
    since: datetime


def attacked(session: Session, row: Competition, view: View, *, rejected_too: bool = False) -> list[Attacked]:
    """The targets that count, by name: accepted, and neither they nor their team disqualified.

    ``rejected_too``: also those that other rules might accept.
    """
    found = in_force.finished(session, row, view.as_of, targets_only=True)
    by_submission = {one.submission_id: one for one in found if rejected_too or one.state == State.SCORED}
    targets = session.execute(
        select(Target.id, Target.name, Target.rows, Target.submission_id)
        .where(Target.competition_id == row.id)
        .order_by(Target.name)
    )
    return [
        Attacked(identifier, name, rows, by_submission[submission_id])
        for identifier, name, rows, submission_id in targets
        if submission_id in by_submission
    ]


def rivals_rates(
    session: Session, row: Competition, view: View, *, rejected_too: bool = False
) -> dict[UUID, float]:
    """The best visible guess on each submission that is a target, as a rate."""
    if view.guesses_before is None:
        return {}
    targets = attacked(session, row, view, rejected_too=rejected_too)
    each = best_of_each(row, view, targets).c
    best = select(each.target_id, func.max(each.correct)).group_by(each.target_id)
    found: dict[UUID, int] = dict(iter(session.execute(best)))
    return {one.finished.submission_id: found[one.id] / one.rows for one in targets if one.id in found}


def attacks_by_team(session: Session, row: Competition, view: View) -> dict[UUID, Attacks]:
    if view.guesses_before is None:
        return {}
    each = best_of_each(row, view, attacked(session, row, view)).c
    sums = (
        select(
            each.team_id, func.sum(each.correct), func.sum(Target.rows), func.count(), func.min(each.since)
        )
        .join(Target, Target.id == each.target_id)
        .group_by(each.team_id)
    )
    return {team_id: Attacks(*sums) for team_id, *sums in session.execute(sums)}


def by_team_and_target(
    session: Session, row: Competition, view: View, targets: Sequence[Attacked]
) -> dict[UUID, dict[UUID, Trials]]:
    if view.guesses_before is None:
        return {}
    found: dict[UUID, dict[UUID, Trials]] = {}
    for team_id, target_id, correct, trials, _ in session.execute(best_of_each(row, view, targets).select()):
        found.setdefault(team_id, {})[target_id] = Trials(correct, trials)
    return found


def best_of_each(row: Competition, view: View, targets: Sequence[Attacked]) -> Subquery:
    """For each team and target: the best of the guesses that count, how many, and when the first arrived.

    They were accepted before the horizon and are judged; their team is not disqualified.
    """
    return (
        select(
            Guess.team_id,
            Guess.target_id,
            func.max(func.coalesce(Guess.correct, 0)).label("correct"),
            func.count().label("trials"),
            func.min(Guess.received_at).label("since"),
        )
        .join(Team, Team.id == Guess.team_id)
        .where(Guess.competition_id == row.id, Guess.state == State.SCORED)
        .where(Guess.created_at < view.guesses_before, Team.disqualified_at.is_(None))
        .where(true() if view.as_of == ALWAYS else Guess.finished_at < view.as_of)
        .where(Guess.target_id.in_([one.id for one in targets]))
        .group_by(Guess.team_id, Guess.target_id)
        .subquery()
    )
