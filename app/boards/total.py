"""The boards of a whole competition: the scores of the teams in its rounds, combined by a formula."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from sqlalchemy.orm import Session

from anoncup.competition.ranking_formulas import build_round, find_total_formula
from anoncup.errors import NotFound
from anoncup.formulas.evaluation import TeamNumbers, evaluate_formula
from anoncup.formulas.ranks import compute_ranks, sort_for_board
from anoncup.formulas.syntax import Formula
from anoncup.schemas import AttackersRow, BoardRow, TotalBoard, TotalRow
from app.boards import anonymization, reidentification
from app.boards.entries import find_values
from app.competitions.visibility import BoardAccess, can_see_boards, compute_scope
from app.core.db.transaction import read_clock
from app.core.spreadsheet import render_board_csv

_Scores = Mapping[str, float | None]


class _RoundScores(NamedTuple):
    """The scores of a round by team: ``exact``, and as the viewer may see them.

    ``own_team``: the viewer's own team, if it is on the board.
    """

    exact: _Scores
    visible: _Scores
    own_team: str | None


def build_release_total(session: Session, access: BoardAccess) -> TotalBoard:
    """Build the board that combines the release boards of the rounds. Raises NotFound without rounds."""
    is_descending = access.round.rules.ranking.order == "descending"
    return _build_board(session, access, "total", _read_releases, is_descending=is_descending)


def build_attack_total(session: Session, access: BoardAccess) -> TotalBoard:
    """Build the board that combines the boards of attacks. Raises NotFound without rounds."""
    return _build_board(session, access, "attack_total", _read_attacks, is_descending=True)


def _build_board(
    session: Session,
    access: BoardAccess,
    key: Literal["total", "attack_total"],
    read: Callable[[Session, BoardAccess], _RoundScores],
    *,
    is_descending: bool,
) -> TotalBoard:
    competition, viewer, now = access.round.competition, access.scope.viewer, read_clock(session)
    counting_rounds = [settings for settings in competition.round_settings if not settings.practice]
    rounds = counting_rounds if access.round.name else []
    formula = find_total_formula(access.round.rules.ranking, key, rounds)
    if formula is None:
        raise NotFound("the competition has no rounds to add up", code="no_rounds")
    scores = {settings.name: _RoundScores({}, {}, None) for settings in rounds}
    for round_ in competition.rounds:
        if round_.name in scores and can_see_boards(round_.rules.publication, viewer):
            round_access = BoardAccess(round_, compute_scope(round_, viewer, now))
            scores[round_.name] = read(session, round_access)
    return TotalBoard(
        competition=competition.slug,
        title=dict(competition.title),
        formula=formula.text,
        rounds=tuple(scores),
        rows=tuple(_rank_teams(formula, scores, is_descending=is_descending)),
    )


def _read_releases(session: Session, access: BoardAccess) -> _RoundScores:
    rules = access.round.rules
    teams = [team for team in anonymization.load_ranked(session, access) if not team.is_baseline]
    rows = anonymization.mask_rows([anonymization.build_row(team, rules) for team in teams], access.scope)
    return _RoundScores(
        exact={team.team: team.standing.score for team in teams},
        visible={row.team: row.overall if rules.ranking.is_by_overall else row.score for row in rows},
        own_team=_find_own_team(rows),
    )


def _read_attacks(session: Session, access: BoardAccess) -> _RoundScores:
    board = reidentification.build_board(session, access)
    ranks_by_count = board.counted and not board.by_formula
    scores = {row.team: row.identified if ranks_by_count else row.score for row in board.rows}
    return _RoundScores(exact=scores, visible=scores, own_team=_find_own_team(board.rows))


def _find_own_team(rows: Sequence[BoardRow | AttackersRow]) -> str | None:
    return next((row.team for row in rows if row.own), None)


def _rank_teams(
    formula: Formula, scores: Mapping[str, _RoundScores], *, is_descending: bool
) -> list[TotalRow]:
    """Return the rows by rank, which compares exact values; teams without a total follow."""
    teams = list(dict.fromkeys(team for by_team in scores.values() for team in by_team.exact))
    exact_totals = _evaluate(formula, teams, {name: by_team.exact for name, by_team in scores.items()})
    shown_totals = _evaluate(formula, teams, {name: by_team.visible for name, by_team in scores.items()})
    losses = [-total if total is not None and is_descending else total for total in exact_totals]
    ranks = compute_ranks(losses)
    own_teams = {by_team.own_team for by_team in scores.values()}
    rows = [
        TotalRow(
            rank=rank,
            team=team,
            own=team in own_teams,
            total=total,
            scores={name: by_team.visible.get(team) for name, by_team in scores.items()},
        )
        for team, rank, total in zip(teams, ranks, shown_totals, strict=True)
    ]
    return [rows[index] for index in sort_for_board(losses)]


def _evaluate(formula: Formula, teams: Sequence[str], scores: Mapping[str, _Scores]) -> list[float | None]:
    """Return the total of each team; None where it is missing."""
    numbers = [
        {
            name: math.nan if (score := by_team.get(team)) is None else score
            for name, by_team in scores.items()
        }
        for team in teams
    ]
    rows = [TeamNumbers({}, {"round": build_round(team_scores)}) for team_scores in numbers]
    return find_values(evaluate_formula, formula, rows)


def render_csv(board: TotalBoard) -> bytes:
    return render_board_csv(TotalRow.columns(), board.rows, {"scores": board.rounds})
