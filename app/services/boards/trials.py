"""The judged guesses that count on the boards, summed up by the database: there may be thousands."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, Subquery, and_, func, select
from sqlalchemy.orm import Session

from app.db.models import Competition as CompetitionRow
from app.db.models import Evaluation, Guess, State, Submission, Target, Team
from app.services import targets
from app.services.visibility import View


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


def rivals_rates(
    session: Session, row: CompetitionRow, view: View, *, rejected_too: bool = False
) -> dict[UUID, float]:
    """The best visible guess on each submission that is a target, as a rate."""
    if view.guesses_before is None:
        return {}
    each = best_of_each(row, view, rejected_too=rejected_too)
    best = select(each.c.submission_id, each.c.rows, func.max(each.c.correct))
    found = session.execute(best.group_by(each.c.submission_id, each.c.rows))
    return {submission_id: correct / rows for submission_id, rows, correct in found}


def attacks_by_team(session: Session, row: CompetitionRow, view: View) -> dict[UUID, Attacks]:
    if view.guesses_before is None:
        return {}
    each = best_of_each(row, view)
    sums = select(
        each.c.team_id,
        func.sum(each.c.correct),
        func.sum(each.c.rows),
        func.count(),
        func.min(each.c.since),
    )
    found = session.execute(sums.group_by(each.c.team_id))
    return {team_id: Attacks(*sums) for team_id, *sums in found}


def by_team_and_target(session: Session, row: CompetitionRow, view: View) -> dict[UUID, dict[UUID, Trials]]:
    if view.guesses_before is None:
        return {}
    each = best_of_each(row, view).c
    wanted = select(each.team_id, each.target_id, each.correct, each.trials)
    found: dict[UUID, dict[UUID, Trials]] = {}
    for team_id, target_id, *numbers in session.execute(wanted):
        found.setdefault(team_id, {})[target_id] = Trials(*numbers)
    return found


def best_of_each(row: CompetitionRow, view: View, *, rejected_too: bool = False) -> Subquery:
    """A line for each team and target: the best guess, how many there were, and when the first arrived."""
    correct = func.max(func.coalesce(Guess.correct, 0))
    return (
        counting(row, view, rejected_too=rejected_too)
        .with_only_columns(
            Guess.team_id,
            Guess.target_id,
            Target.submission_id,
            Target.rows,
            correct.label("correct"),
            func.count().label("trials"),
            func.min(Guess.received_at).label("since"),
        )
        .group_by(Guess.team_id, Guess.target_id, Target.submission_id, Target.rows)
        .subquery()
    )


def counting(row: CompetitionRow, view: View, *, rejected_too: bool) -> Select[Any]:
    """The judged guesses that count, received before the horizon: neither side disqualified.

    ``rejected_too``: also those on targets that other rules might accept.
    """
    attacker = Team.__table__.alias("attacker")
    query = (
        select(Guess)
        .join(Target, Target.id == Guess.target_id)
        .join(Target.submission)
        .join(Submission.team)
        .join(Evaluation, and_(Evaluation.submission_id == Submission.id, Evaluation.current))
        .join(attacker, attacker.c.id == Guess.team_id)
        .where(Guess.competition_id == row.id, Guess.state == State.SCORED)
        .where(Guess.received_at < view.guesses_before, attacker.c.disqualified_at.is_(None))
    )
    return query.where(targets.qualified() if rejected_too else targets.counts())
