"""The best guesses of each team on each target, aggregated by the database because there may be thousands."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from app.boards.facts import BoardTarget
from app.competitions.visibility import BoardScope
from app.core.db.models import Guess, State, Team
from app.core.identity import names


class BestGuess(NamedTuple):
    """Maxima over a team's guesses on one question about one target, and the number of these guesses."""

    risk: float
    correct: int
    trials: int


BestByQuestion = Mapping[str, BestGuess]
"""A team's best guesses on one target, by question. Unanswered questions are absent."""


def load_best(
    session: Session, rules: Rules, targets: Sequence[BoardTarget], scope: BoardScope
) -> Mapping[UUID, Mapping[UUID, BestByQuestion]]:
    """Return the best guesses that count in this scope, by team, target and question."""
    best_by_team: dict[UUID, dict[UUID, dict[str, BestGuess]]] = {}
    if scope.guesses_before is None:
        return best_by_team
    query = (
        select(
            Guess.team_id,
            Guess.target_id,
            Guess.question,
            func.max(func.coalesce(Guess.risk, 0.0)),
            func.max(func.coalesce(Guess.correct, 0)),
            func.count(),
        )
        .join(Team, Team.id == Guess.team_id)
        .where(Guess.state == State.SCORED, Team.disqualified_at.is_(None))
        .where(Guess.created_at < scope.guesses_before, Guess.finished_at < scope.before)
        .where(Guess.target_id.in_([target.id for target in targets]))
        .where(Guess.question.in_(TRACKS[rules.track].select_questions(rules)))
        .group_by(Guess.team_id, Guess.target_id, Guess.question)
    )
    for team_id, target_id, question, *best in session.execute(query):
        best_by_target = best_by_team.setdefault(team_id, {})
        best_by_target.setdefault(target_id, {})[question] = BestGuess._make(best)
    return best_by_team


def list_teams_by_name(session: Session, team_ids: Iterable[UUID]) -> list[tuple[UUID, str]]:
    """Return the identifiers and names of these teams, sorted by name."""
    teams = session.execute(select(Team.id, Team.name).where(Team.id.in_(team_ids)))
    return sorted(
        ((team_id, name) for team_id, name in teams), key=lambda team: (names.build_key(team[1]), team[1])
    )
