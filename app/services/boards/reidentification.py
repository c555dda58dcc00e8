"""Re-identification board: ranks teams by their attacks on the releases of others, as in PWS Cup 2015."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.formulas.ranks import compute_ranks, sort_for_board
from anoncup.schemas import AttackersBoard, AttackersRow
from app.services.boards import best_guesses, formula_inputs, source
from app.services.boards.best_guesses import AttackTotals
from app.services.boards.formula_values import compute_attack
from app.services.boards.source import BoardRows, BoardSource
from app.services.boards.spreadsheet import render_board_csv
from app.services.contests.visibility import BoardAccess

_NUMBER_COLUMNS = ("identified", "tried", "rate", "targets", "score", "by_question")


def build_board(session: Session, access: BoardAccess, board_rows: BoardRows | None = None) -> AttackersBoard:
    """Build the board as this viewer may see it, from ``board_rows`` if they have been read already."""
    contest, scope = access.contest, access.scope
    board_source = source.read_source(session, access, board_rows)
    attacks = best_guesses.summarize_by_team(session, board_source)
    teams = formula_inputs.list_competing_teams(session, contest.round.id)
    formula_scores = _compute_formula_scores(session, board_source, attacks)
    rows = build_rows([(team.id, team.name) for team in teams], attacks, scope.viewer.team_id, formula_scores)
    team_ids = {evaluation.team: evaluation.team_id for evaluation in board_source.evaluations}
    return AttackersBoard(
        competition=contest.address,
        title=dict(contest.rules.title),
        hidden=scope.guesses_before is None,
        counted=board_source.counts_individuals,
        by_formula=board_source.rules.ranking.attack is not None,
        questions=board_source.questions,
        rows=tuple(row.model_copy(update={"team_id": team_ids.get(row.team)}) for row in rows),
    )


def build_rows(
    teams: Sequence[tuple[UUID, str]],
    attacks: Mapping[UUID, AttackTotals],
    viewer_team_id: UUID | None,
    formula_scores: Mapping[UUID, float | None] | None = None,
) -> list[AttackersRow]:
    """Return the rows sorted by descending score; teams without attacks come last.

    Ties are ordered by the first guess. ``teams`` lists identifier and name in order of creation.
    ``formula_scores`` are given if the competition has a formula for attacks.
    """
    teams = sorted(teams, key=lambda team: _build_tie_key(attacks.get(team[0])))
    if formula_scores is None:
        scores = [_negate_score(attacks.get(team_id)) for team_id, _ in teams]
    else:
        values = [formula_scores.get(team_id) if team_id in attacks else None for team_id, _ in teams]
        scores = [None if value is None else -value for value in values]
    row_ranks = compute_ranks(scores)
    return [
        _build_row(
            teams[index][1],
            attacks.get(teams[index][0]),
            rank=row_ranks[index],
            own=viewer_team_id == teams[index][0],
            formula_score=(formula_scores or {}).get(teams[index][0]),
        )
        for index in sort_for_board(scores)
    ]


def _build_tie_key(attacks: AttackTotals | None) -> tuple[bool, float]:
    return attacks is None, attacks.first_received_at.timestamp() if attacks else 0.0


def _negate_score(attacks: AttackTotals | None) -> float | None:
    """Return the negated score, because ``compute_ranks`` puts the lowest value first."""
    return None if attacks is None else -attacks.ranked_value


def _compute_formula_scores(
    session: Session, board_source: BoardSource, attacks: Mapping[UUID, AttackTotals]
) -> dict[UUID, float | None] | None:
    """Return the value of the competition's formula for attacks by team; None without such a formula."""
    rules = board_source.rules
    if rules.ranking.attack is None or board_source.scope.guesses_before is None:
        return None
    owners = {target.evaluation.submission_id: target.evaluation.team_id for target in board_source.targets}
    identified = {team_id: totals.identified for team_id, totals in attacks.items()}
    inputs = formula_inputs.load_inputs(session, board_source)
    return compute_attack(rules.ranking.attack, owners, identified, inputs)


def _build_row(
    team: str, attacks: AttackTotals | None, *, rank: int | None, own: bool, formula_score: float | None
) -> AttackersRow:
    numbers = {name: getattr(attacks, name) if attacks else None for name in _NUMBER_COLUMNS}
    if attacks and formula_score is not None:
        numbers["score"] = formula_score
    return AttackersRow(rank=rank, team=team, own=own, **numbers)


def render_csv(board: AttackersBoard) -> str:
    question_columns = ["by_question"] if board.distinct_questions else []
    return render_board_csv(
        [*board.columns, *question_columns], board.rows, {"by_question": board.distinct_questions}
    )
