"""The judged guesses that count on the boards, summed up by the database: there may be thousands."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import fsum
from typing import NamedTuple, TypeVarTuple
from uuid import UUID

from sqlalchemy import Select, Subquery, func, literal, select, true
from sqlalchemy.dialects.postgresql import array
from sqlalchemy.orm import Session

from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.model import largest
from app.db.models import Competition, Guess, State, Target, Team
from app.services.boards import effective_evaluations
from app.services.boards.effective_evaluations import Finished
from app.services.contests.visibility import ALWAYS, View


@dataclass(frozen=True, slots=True)
class Attacked:
    """A target that counts, and what it is."""

    id: UUID
    name: str
    rows: int
    finished: Finished


class Best(NamedTuple):
    """A team's guesses that answer one question about one target: the largest risk and number of individuals
    that one of them found, how many guesses they are, and when the first arrived."""

    risk: float
    correct: int
    trials: int
    since: datetime


Trials = Mapping[str, Best]
"""What a team found in one target, by question; those that it did not answer are not there."""

Columns = TypeVarTuple("Columns")
Together = Callable[[Mapping[str, Sequence[float]]], float]
"""What E takes of risks, by question, the largest first; some questions may be missing."""


@dataclass(frozen=True, slots=True)
class Attacks:
    """A team's best guesses on all targets it attacked, summed: the individuals ``identified`` of those
    ``tried``, or, where these are not counted, what was found in each target (``score``).

    ``rate``: of the most that it could be. ``by_question``: of what was found the mean over the targets, 0
    where the question was not answered. ``since``: when the first guess arrived.
    """

    rate: float
    targets: int
    since: datetime
    identified: int | None = None
    tried: int | None = None
    score: float | None = None
    by_question: dict[str, float] | None = None

    @property
    def compared(self) -> float:
        """What the board ranks by."""
        return float(self.identified or 0) if self.score is None else self.score


def attacked(session: Session, row: Competition, view: View, *, rejected_too: bool = False) -> list[Attacked]:
    """The targets that count, by name: accepted, and neither they nor their team disqualified.

    ``rejected_too``: also those that other rules might accept.
    """
    found = effective_evaluations.finished(session, row, view.as_of, targets_only=True)
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


def together(rules: Rules) -> Together:
    """How the track of a competition puts what was asked together."""
    track = TRACKS[rules.track]
    asked = tuple(track.asked(rules))
    return lambda risks: track.rivals({name: risks.get(name, ()) for name in asked})


def rivals_risks(
    session: Session, row: Competition, view: View, rules: Rules, *, rejected_too: bool = False
) -> dict[UUID, float]:
    """What the visible guesses on each submission that is a target found in it, in [0, 1]."""
    if view.guesses_before is None:
        return {}
    targets = attacked(session, row, view, rejected_too=rejected_too)
    each = best_of_each(row, view, rules, targets).c
    # Thousands of risks need not be sent for their largest.
    largest_only = TRACKS[rules.track].rivals is largest
    risks = array([func.max(each.risk)]) if largest_only else func.array_agg(each.risk)
    found: dict[UUID, dict[str, list[float]]] = defaultdict(dict)
    by_question = select(each.target_id, each.question, risks).group_by(each.target_id, each.question)
    for target_id, question, found_by_teams in session.execute(by_question):
        found[target_id][question] = sorted(found_by_teams, reverse=True)
    value = together(rules)
    return {one.finished.submission_id: value(found[one.id]) for one in targets if one.id in found}


def attacks_by_team(session: Session, row: Competition, view: View, rules: Rules) -> dict[UUID, Attacks]:
    if view.guesses_before is None:
        return {}
    by_team = counted if TRACKS[rules.track].counts(rules) else added_up
    return by_team(session, row, view, rules, attacked(session, row, view))


def counted(
    session: Session, row: Competition, view: View, rules: Rules, targets: Sequence[Attacked]
) -> dict[UUID, Attacks]:
    """Individuals identified of those tried."""
    each = best_of_each(row, view, rules, targets).c
    sums = (
        select(
            each.team_id, func.sum(each.correct), func.sum(Target.rows), func.count(), func.min(each.since)
        )
        .join(Target, Target.id == each.target_id)
        .group_by(each.team_id)
    )
    return {
        team_id: Attacks(identified / tried, number, since, identified=identified, tried=tried)
        for team_id, identified, tried, number, since in session.execute(sums)
    }


def added_up(
    session: Session, row: Competition, view: View, rules: Rules, targets: Sequence[Attacked]
) -> dict[UUID, Attacks]:
    """What was found in each target, exactly rounded sums of it: in any order they are the same."""
    value, asked = together(rules), tuple(TRACKS[rules.track].asked(rules))

    def sums(tried: Sequence[Trials]) -> Attacks:
        score = fsum(value(alone(one)) for one in tried)
        by_question = {
            name: fsum(one[name].risk for one in tried if name in one) / len(tried) for name in asked
        }
        since = min(best.since for one in tried for best in one.values())
        return Attacks(score / len(tried), len(tried), since, score=score, by_question=by_question)

    found = by_team_and_target(session, row, view, rules, targets)
    return {team_id: sums(list(tried.values())) for team_id, tried in found.items()}


def alone(tried: Trials) -> dict[str, Sequence[float]]:
    """The risks of one team."""
    return {name: (best.risk,) for name, best in tried.items()}


def by_team_and_target(
    session: Session, row: Competition, view: View, rules: Rules, targets: Sequence[Attacked]
) -> Mapping[UUID, Mapping[UUID, Trials]]:
    found: dict[UUID, dict[UUID, dict[str, Best]]] = {}
    for team_id, target_id, question, best in bests(session, row, view, rules, targets):
        found.setdefault(team_id, {}).setdefault(target_id, {})[question] = best
    return found


def bests(
    session: Session, row: Competition, view: View, rules: Rules, targets: Sequence[Attacked]
) -> Iterator[tuple[UUID, UUID, str, Best]]:
    """For each team, target and question."""
    if view.guesses_before is None:
        return
    for team_id, target_id, question, *best in session.execute(
        best_of_each(row, view, rules, targets).select()
    ):
        yield team_id, target_id, question, Best._make(best)


def best_of_each(row: Competition, view: View, rules: Rules, targets: Sequence[Attacked]) -> Subquery:
    """For each team, target and question that is asked: the best of the guesses that count, how many, and
    when the first arrived."""
    first, *others = TRACKS[rules.track].asked(rules)
    question = Guess.question if others else literal(first).label("question")
    best = select(
        Guess.team_id,
        Guess.target_id,
        question,
        func.max(func.coalesce(Guess.risk, 0.0)).label("risk"),
        func.max(func.coalesce(Guess.correct, 0)).label("correct"),
        func.count().label("trials"),
        func.min(Guess.received_at).label("since"),
    ).group_by(Guess.team_id, Guess.target_id, *([Guess.question] if others else []))
    return that_count(best, row, view, rules, targets).subquery()


def that_count(
    query: Select[*Columns], row: Competition, view: View, rules: Rules, targets: Sequence[Attacked]
) -> Select[*Columns]:
    """Those that were accepted before the horizon and are judged; their team is not disqualified."""
    return (
        query.join(Team, Team.id == Guess.team_id)
        .where(Guess.competition_id == row.id, Guess.state == State.SCORED)
        .where(Guess.created_at < view.guesses_before, Team.disqualified_at.is_(None))
        .where(true() if view.as_of == ALWAYS else Guess.finished_at < view.as_of)
        .where(Guess.target_id.in_([one.id for one in targets]))
        .where(Guess.question.in_(list(TRACKS[rules.track].asked(rules))))
    )
