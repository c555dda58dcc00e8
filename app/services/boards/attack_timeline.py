"""Attack timeline: when each team's best guess on each target improved, and to what.

It is available only after the reveal because the numbers of hits are hidden before.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from anoncup.schemas import AttackHistory, AttackHistoryRow, AttackStep
from app.services.boards import best_guesses, source
from app.services.boards.best_guesses import RiskCombiner
from app.services.boards.matrix import build_column
from app.services.boards.source import BoardSource
from app.services.contests import visibility
from app.services.contests.visibility import BoardAccess


class EffectiveGuess(NamedTuple):
    """A guess that counts on the boards."""

    received_at: datetime
    question: str
    risk: float
    correct: int


def build_timeline(session: Session, access: BoardAccess) -> AttackHistory:
    """Build the steps of every cell of the matrix. Raise NotFound before the reveal."""
    contest, scope = access.contest, access.scope
    visibility.require_reveal(contest.round)
    board_source = source.read_source(session, access, targets_only=True)
    return AttackHistory(
        competition=contest.address,
        title=dict(contest.rules.title),
        hidden=False,
        counted=board_source.counts_individuals,
        questions=board_source.questions,
        targets=tuple(build_column(target, scope) for target in board_source.targets),
        rows=tuple(_iter_team_rows(session, board_source)),
    )


def _iter_team_rows(session: Session, board_source: BoardSource) -> Iterator[AttackHistoryRow]:
    """Yield one row for each team with a guess that counts, sorted by name."""
    guesses_by_team = _load_guesses(session, board_source)
    combine_risks = best_guesses.make_risk_combiner(board_source.rules)
    for team_id, name in best_guesses.list_teams_by_name(session, guesses_by_team):
        cells = (
            find_count_steps(guesses_by_team[team_id].get(target.id, ()), target.individual_count)
            if board_source.counts_individuals
            else _find_risk_steps(
                guesses_by_team[team_id].get(target.id, ()), combine_risks, board_source.questions
            )
            for target in board_source.targets
        )
        own = team_id == board_source.scope.viewer.team_id
        yield AttackHistoryRow(attacker=name, own=own, cells=tuple(tuple(steps) for steps in cells))


def _load_guesses(
    session: Session, board_source: BoardSource
) -> Mapping[UUID, Mapping[UUID, Sequence[EffectiveGuess]]]:
    guess_row = best_guesses.select_guesses(board_source)
    guess_query = select(
        guess_row.team_id,
        guess_row.target_id,
        guess_row.received_at,
        guess_row.question,
        func.coalesce(guess_row.risk, 0.0),
        func.coalesce(guess_row.correct, 0),
    ).order_by(guess_row.received_at, guess_row.id)
    guesses_by_team: dict[UUID, dict[UUID, list[EffectiveGuess]]] = {}
    for team_id, target_id, *guess in session.execute(
        best_guesses.filter_effective(guess_query, guess_row, board_source)
    ):
        guesses_by_team.setdefault(team_id, {}).setdefault(target_id, []).append(EffectiveGuess._make(guess))
    return guesses_by_team


def find_count_steps(guesses: Iterable[EffectiveGuess], individual_count: int) -> Iterator[AttackStep]:
    """Yield the improvements among a team's guesses on a target, for tracks that count individuals.

    The guesses are given in order of receipt.
    """
    best = -1
    for guess in guesses:
        if guess.correct > best:
            best = guess.correct
            yield AttackStep(at=guess.received_at, correct=best, rate=best / individual_count)


def _find_risk_steps(
    guesses: Iterable[EffectiveGuess], combine_risks: RiskCombiner, questions: Sequence[str]
) -> Iterator[AttackStep]:
    """Yield the improvements for tracks that compare risks, by question if there are several."""
    best: dict[str, float] = {}
    for guess in guesses:
        if guess.question not in best or guess.risk > best[guess.question]:
            best[guess.question] = guess.risk
            yield AttackStep(
                at=guess.received_at,
                correct=None,
                rate=combine_risks({name: (risk,) for name, risk in best.items()}),
                by_question=dict(best) if len(questions) > 1 else None,
            )
