"""Attack matrix: the best result of each attacker on each target."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from anoncup.evaluation.verdict_numbers import VerdictNumbers
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.schemas import Cell, Matrix, MatrixRow, MatrixTarget
from anoncup.tracks.parts import AnyAttacker
from app.boards import load_facts, verdicts
from app.boards.facts import BoardTarget
from app.competitions.visibility import BoardAccess, BoardScope
from app.core import spreadsheet
from app.core.db.models import Guess, Round, State, Team
from app.core.identity import names


class BestGuess(NamedTuple):
    """Maxima over a team's guesses on one question about one target, and the number of these guesses."""

    risk: float
    correct: int
    trials: int


BestByQuestion = Mapping[str, BestGuess]
"""A team's best guesses on one target, by question. Unanswered questions are absent."""


def build_matrix(session: Session, access: BoardAccess) -> Matrix:
    """Build the matrix as this viewer may see it.

    Built-in attackers are included only where exact values are shown.
    """
    round_, scope = access.round, access.scope
    targets = load_facts.load_targets(session, round_) if scope.finals_only else []
    rows = _list_team_rows(session, access, targets)
    if scope.digits is None:
        rows += _list_built_in_rows(session, round_, targets)
    return Matrix(
        competition=round_.address,
        title=dict(round_.rules.title),
        hidden=scope.guesses_before is None,
        counted=round_.track.asks_identity(round_.rules),
        questions=tuple(round_.track.select_questions(round_.rules)),
        targets=tuple(_build_column(target, scope) for target in targets),
        rows=tuple(rows),
    )


def _build_column(target: BoardTarget, scope: BoardScope) -> MatrixTarget:
    is_own = target.team_id == scope.viewer.team_id
    team = target.team if is_own or scope.owners_known else None
    return MatrixTarget(target=target.name, rows=target.individual_count, own=is_own, team=team)


def _list_team_rows(session: Session, access: BoardAccess, targets: Sequence[BoardTarget]) -> list[MatrixRow]:
    """Return one row for each team with a visible guess, sorted by name."""
    rules, viewer = access.round.rules, access.scope.viewer
    best_by_team = _load_best(session, rules, targets, access.scope)
    teams = session.execute(select(Team.id, Team.name).where(Team.id.in_(best_by_team)))
    questions = () if access.round.track.asks_identity(rules) else access.round.track.select_questions(rules)
    return [
        MatrixRow(
            attacker=name,
            built_in=False,
            own=team_id == viewer.team_id,
            cells=tuple(
                _build_cell(rules, questions, target, best_by_team[team_id][target.id]) for target in targets
            ),
        )
        for team_id, name in sorted(teams, key=lambda team: (names.build_key(team[1]), team[1]))
    ]


def _load_best(
    session: Session, rules: Rules, targets: Sequence[BoardTarget], scope: BoardScope
) -> Mapping[UUID, Mapping[UUID, BestByQuestion]]:
    """Return the best guesses that count in this scope, by team, target and question.

    The database aggregates them, because there may be thousands.
    """
    best_by_team: Mapping[UUID, Mapping[UUID, dict[str, BestGuess]]] = defaultdict(lambda: defaultdict(dict))
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
        best_by_team[team_id][target_id][question] = BestGuess._make(best)
    return best_by_team


def _build_cell(
    rules: Rules, questions: Collection[str], target: BoardTarget, best_by_question: BestByQuestion
) -> Cell | None:
    """Return the number of individuals of a target that a team identified, or the risk that it found.

    There are no ``questions`` if individuals are counted. If there are several, an unanswered one counts
    as 0, as on the re-identification board.
    """
    if not best_by_question:
        return None
    if not questions:
        (best,) = best_by_question.values()
        return Cell(correct=best.correct, rate=best.correct / target.individual_count, trials=best.trials)
    risks = {name: best.risk for name, best in best_by_question.items()}
    return Cell(
        correct=None,
        rate=TRACKS[rules.track].combine_risks(risks, rules),
        trials=sum(best.trials for best in best_by_question.values()),
        by_question={name: risks.get(name, 0.0) for name in questions} if len(questions) > 1 else None,
    )


def _list_built_in_rows(session: Session, round_: Round, targets: Sequence[BoardTarget]) -> list[MatrixRow]:
    numbers = verdicts.drop_older_versions(
        verdicts.load_numbers(session, [target.evaluation_id for target in targets])
    )
    questions = tuple(round_.track.select_questions(round_.rules))
    return [
        MatrixRow(
            attacker=attacker.name,
            built_in=True,
            own=False,
            cells=tuple(
                build_built_in_cell(attacker, numbers.get(target.evaluation_id), questions)
                for target in targets
            ),
        )
        for attacker in round_.track.attackers.values()
    ]


def build_built_in_cell(
    attacker: AnyAttacker, numbers: VerdictNumbers | None, questions: Sequence[str]
) -> Cell | None:
    """Return the risk that enters E, by question if several are asked.

    None if there are no numbers of the attacker or it answers none of the questions.
    """
    answered = [name for name in attacker.questions if name in questions]
    if numbers is None or attacker.name not in numbers.attackers or not answered:
        return None
    risk, correct = numbers.attackers[attacker.name], numbers.correct.get(attacker.name)
    if len(questions) == 1:
        return Cell(correct=correct, rate=risk, trials=1)
    risks = numbers.risks.get(attacker.name) or dict.fromkeys(answered, risk)
    return Cell(correct=correct, rate=risk, trials=1, by_question=dict(risks))


def find_rate(cell: Cell | None, question: str | None) -> float | None:
    """Return the rate of a cell, overall or for one question; None if there is no answer."""
    if cell is None:
        return None
    return cell.rate if question is None else (cell.by_question or {}).get(question)


def render_csv(matrix: Matrix) -> bytes:
    """Return the rates as CSV.

    Each target has a column, followed by one for each question if several are asked.
    """
    questions = (None, *matrix.distinct_questions)
    header = [
        target.label if question is None else f"{target.label} {question}"
        for target in matrix.targets
        for question in questions
    ]
    rows = (
        [
            row.attacker,
            row.built_in,
            *(find_rate(cell, question) for cell in row.cells for question in questions),
        ]
        for row in matrix.rows
    )
    return spreadsheet.render_csv(["attacker", "built_in", *header], rows)
