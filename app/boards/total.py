"""The boards of a whole competition: the scores of the teams in its rounds, combined by a formula."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy.orm import Session

from anoncup.competition.ranking_formulas import build_round, find_total_formula
from anoncup.errors import NotFound
from anoncup.formulas.evaluation import TeamNumbers, evaluate_formula
from anoncup.formulas.ranks import compute_ranks, sort_for_board
from anoncup.formulas.syntax import Formula
from anoncup.rules.rounds import RoundSettings
from anoncup.schemas import AttackersRow, BoardRow, TotalBoard, TotalRow
from app.boards import anonymization, reidentification
from app.boards.entries import find_values
from app.competitions.contest import Contest
from app.competitions.visibility import BoardAccess, can_see_boards, compute_scope
from app.core.db.now import read_clock
from app.core.spreadsheet import render_board_csv

_Scores = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class _RoundScores:
    """The scores of a round by team: ``exact``, and as the viewer may see them.

    ``own_team``: the viewer's own team, if it is on the board.
    """

    exact: _Scores
    visible: _Scores
    own_team: str | None


def build_release_total(session: Session, access: BoardAccess) -> TotalBoard:
    """Build the board that combines the release boards of the rounds. Raises NotFound without rounds."""
    is_descending = access.contest.rules.ranking.order == "descending"
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
    contest = access.contest
    counting_rounds = _list_counting_rounds(contest)
    formula = find_total_formula(contest.rules.ranking, key, counting_rounds)
    if formula is None:
        raise NotFound("the competition has no rounds to add up", code="no_rounds")
    round_names = [settings.name for settings in counting_rounds]
    scores = {
        round_access.contest.round.name: read(session, round_access)
        for round_access in _list_round_accesses(session, access)
        if round_access.contest.round.name in round_names
    }
    return TotalBoard(
        competition=contest.competition.slug,
        title=dict(contest.competition.title),
        formula=formula.text,
        rounds=tuple(round_names),
        rows=tuple(_rank_teams(formula, round_names, scores, is_descending=is_descending)),
    )


def _list_counting_rounds(contest: Contest) -> list[RoundSettings]:
    if not contest.round.name:
        return []
    return [settings for settings in contest.competition.round_settings if not settings.practice]


def _list_round_accesses(session: Session, access: BoardAccess) -> list[BoardAccess]:
    """Return the viewer's access to the boards of the rounds that are open to them."""
    viewer, now = access.scope.viewer, read_clock(session)
    contests = [Contest(round_) for round_ in access.contest.competition.rounds]
    return [
        BoardAccess(contest, compute_scope(contest, viewer, now))
        for contest in contests
        if can_see_boards(contest.rules.publication, viewer)
    ]


def _read_releases(session: Session, access: BoardAccess) -> _RoundScores:
    rules = access.contest.rules
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
    formula: Formula,
    round_names: Sequence[str],
    scores: Mapping[str, _RoundScores],
    *,
    is_descending: bool,
) -> list[TotalRow]:
    """Return the rows by rank, which compares exact values; teams without a total follow."""
    teams = list(dict.fromkeys(team for round_scores in scores.values() for team in round_scores.exact))
    shown_scores = {name: scores[name].visible if name in scores else {} for name in round_names}
    exact_scores = {name: scores[name].exact if name in scores else {} for name in round_names}
    losses = [
        -total if total is not None and is_descending else total
        for total in _evaluate(formula, teams, exact_scores)
    ]
    shown_totals = _evaluate(formula, teams, shown_scores)
    ranks = compute_ranks(losses)
    own_teams = {round_scores.own_team for round_scores in scores.values()}
    return [
        TotalRow(
            rank=ranks[index],
            team=teams[index],
            own=teams[index] in own_teams,
            total=shown_totals[index],
            scores={name: shown_scores[name].get(teams[index]) for name in round_names},
        )
        for index in sort_for_board(losses)
    ]


def _evaluate(formula: Formula, teams: Sequence[str], scores: Mapping[str, _Scores]) -> list[float | None]:
    """Return the total of each team; None where it is missing."""
    numbers = [TeamNumbers({}, {"round": build_round(_collect_scores(team, scores))}) for team in teams]
    return find_values(evaluate_formula, formula, numbers)


def _collect_scores(team: str, scores: Mapping[str, _Scores]) -> dict[str, float]:
    """Return the score of a team in each round, NaN where it has none."""
    team_scores = {name: by_team.get(team) for name, by_team in scores.items()}
    return {name: math.nan if score is None else score for name, score in team_scores.items()}


def render_csv(board: TotalBoard) -> str:
    return render_board_csv(TotalRow.columns(), board.rows, {"scores": board.rounds})
