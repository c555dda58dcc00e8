"""Attack timeline: when each team's best guess on each target improved, and to what.

It is available only after the reveal because the numbers of hits are hidden before.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.schemas import AttackHistory, AttackHistoryRow, AttackStep
from app.db.models import Competition, Guess, Team
from app.services.accounts import names
from app.services.boards import best_guesses, effective_evaluations
from app.services.boards.best_guesses import BoardTarget
from app.services.boards.matrix import build_column
from app.services.contests import visibility
from app.services.contests.visibility import BoardAccess, BoardScope


class EffectiveGuess(NamedTuple):
    """A guess that counts on the boards."""

    received_at: datetime
    question: str
    risk: float
    correct: int


_StepFinder = Callable[[Iterable[EffectiveGuess]], Iterator[AttackStep]]
"""Yields the improvements among one team's guesses on one target, which are given in order of receipt."""


def build_timeline(session: Session, access: BoardAccess) -> AttackHistory:
    """Build the steps of every cell of the matrix. Raise NotFound before the reveal."""
    contest, scope = access.contest, access.scope
    visibility.require_reveal(contest.competition)
    rules_in_force = effective_evaluations.load_rules(session, contest, scope.as_of)
    targets = best_guesses.list_targets(session, contest.competition, scope)
    make_step_finder = (
        make_count_step_finder
        if contest.track.asks_identity(rules_in_force)
        else _make_risk_step_finder(rules_in_force)
    )
    return AttackHistory(
        competition=contest.slug,
        title=dict(contest.rules.title),
        hidden=False,
        counted=contest.track.asks_identity(rules_in_force),
        questions=tuple(contest.track.select_questions(rules_in_force)),
        targets=tuple(build_column(target, scope) for target in targets),
        rows=tuple(
            _iter_team_rows(
                session,
                contest.competition,
                scope,
                rules=rules_in_force,
                targets=targets,
                make_step_finder=make_step_finder,
            )
        ),
    )


def _iter_team_rows(
    session: Session,
    competition: Competition,
    scope: BoardScope,
    *,
    rules: Rules,
    targets: Sequence[BoardTarget],
    make_step_finder: Callable[[int], _StepFinder],
) -> Iterator[AttackHistoryRow]:
    """Yield one row for each team with a guess that counts, sorted by name."""
    guesses_by_team = _load_guesses(session, competition, scope, rules, targets)
    teams = session.execute(select(Team.id, Team.name).where(Team.id.in_(guesses_by_team)))
    for team_id, name in sorted(teams, key=lambda team: (names.fold_case(team[1]), team[1])):
        cells = (
            make_step_finder(target.individual_count)(guesses_by_team[team_id].get(target.id, ()))
            for target in targets
        )
        own = team_id == scope.viewer.team_id
        yield AttackHistoryRow(attacker=name, own=own, cells=tuple(tuple(steps) for steps in cells))


def _load_guesses(
    session: Session,
    competition: Competition,
    scope: BoardScope,
    rules: Rules,
    targets: Sequence[BoardTarget],
) -> Mapping[UUID, Mapping[UUID, Sequence[EffectiveGuess]]]:
    guess_query = select(
        Guess.team_id,
        Guess.target_id,
        Guess.received_at,
        Guess.question,
        func.coalesce(Guess.risk, 0.0),
        func.coalesce(Guess.correct, 0),
    ).order_by(Guess.received_at, Guess.id)
    guesses_by_team: dict[UUID, dict[UUID, list[EffectiveGuess]]] = {}
    for team_id, target_id, *guess in session.execute(
        best_guesses.filter_effective(guess_query, competition, scope, rules, targets)
    ):
        guesses_by_team.setdefault(team_id, {}).setdefault(target_id, []).append(EffectiveGuess._make(guess))
    return guesses_by_team


def make_count_step_finder(individual_count: int) -> _StepFinder:
    """Return a step finder for a target of ``individual_count`` individuals, for tracks that count them."""

    def find_steps(guesses: Iterable[EffectiveGuess]) -> Iterator[AttackStep]:
        best = -1
        for guess in guesses:
            if guess.correct > best:
                best = guess.correct
                yield AttackStep(at=guess.received_at, correct=best, rate=best / individual_count)

    return find_steps


def _make_risk_step_finder(rules: Rules) -> Callable[[int], _StepFinder]:
    """Return a factory of step finders for a track that compares risks.

    Steps list the risk by question if the track asks several questions.
    """
    combine_risks = best_guesses.make_risk_combiner(rules)
    has_several_questions = len(TRACKS[rules.track].select_questions(rules)) > 1

    def find_steps(guesses: Iterable[EffectiveGuess]) -> Iterator[AttackStep]:
        best: dict[str, float] = {}
        for guess in guesses:
            if guess.question not in best or guess.risk > best[guess.question]:
                best[guess.question] = guess.risk
                rate = combine_risks({name: (risk,) for name, risk in best.items()})
                yield AttackStep(
                    at=guess.received_at,
                    correct=None,
                    rate=rate,
                    by_question=dict(best) if has_several_questions else None,
                )

    return lambda _: find_steps
