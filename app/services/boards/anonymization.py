"""Anonymization board: ranks the best release of each team by utility loss and re-identification risk."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.competition.ranking_formulas import compares_teams
from anoncup.competition.scoring_versions import Versions
from anoncup.evaluation.pareto_front import find_pareto_front
from anoncup.rules.model import Rules
from anoncup.schemas import Board, BoardRow
from app.db.models import Evaluation, Round, Submission
from app.db.stored_files import read_rules
from app.services.boards import best_guesses, formula_inputs, ranking, source
from app.services.boards.formula_values import FilledFormula, fill_in_defence
from app.services.boards.ranking import BoardEntry, RankedEntry
from app.services.boards.source import BoardRows, BoardSource
from app.services.boards.spreadsheet import render_board_csv
from app.services.contests import visibility
from app.services.contests.visibility import BoardAccess, BoardScope


class TeamStanding(NamedTuple):
    """A team's rank, which baselines do not have, and the score that ranks it."""

    rank: int | None
    score: float | None


def build_board(session: Session, access: BoardAccess, board_rows: BoardRows | None = None) -> Board:
    """Build the board as this viewer may see it, from ``board_rows`` if they have been read already."""
    contest, scope = access.contest, access.scope
    board_rows = board_rows or source.read_rows(session, contest)
    board_source = board_rows.build_source(scope)
    entries = _load_entries(session, board_source)
    entry_counts = Counter(entry.evaluation.team_id for entry in entries)
    ranked_entries = _rank(session, board_source, entries)
    previous_ranks = load_previous_ranks(session, access, board_rows)
    rows = [
        _build_row(ranked, entry_counts, previous_ranks.get(ranked.entry.evaluation.team))
        for ranked in ranked_entries
    ]
    return Board(
        competition=contest.address,
        title=dict(contest.rules.title),
        frozen_from=contest.rules.publication.frozen_from,
        finals=scope.finals_only,
        digits=scope.digits,
        compared_with=scope.compared_with if previous_ranks else None,
        measures=tuple(contest.track.measures),
        attackers=tuple(contest.track.attackers),
        rows=tuple(mask_rows(rows, scope, board_source.rules)),
    )


def load_previous_ranks(session: Session, access: BoardAccess, board_rows: BoardRows) -> dict[str, int]:
    """Return rank by team on the earlier board used for comparison.

    The result is empty if there was no such board, or if this viewer could not see it.
    """
    contest, compared_with = access.contest, access.scope.compared_with
    if compared_with is None or compared_with <= contest.competition.created_at:
        return {}
    stable_since = visibility.find_last_visibility_change(session, contest, access.scope.viewer)
    if stable_since is not None and compared_with <= stable_since:
        return {}
    past_scope = visibility.compute_past_scope(contest, access.scope.viewer, compared_with)
    standings = _load_standings(session, board_rows.build_source(past_scope))
    return {team: standing.rank for team, standing in standings.items() if standing.rank is not None}


def rank_under_rules(
    session: Session,
    round_: Round,
    competition_file: str,
    evaluations: Sequence[Evaluation],
    *,
    scored_by: Versions,
    proposed_by: UUID | None = None,
) -> dict[str, TeamStanding]:
    """Return rank and score by team as if ``competition_file`` and ``evaluations`` were in force.

    ``evaluations`` are in order of receipt. With ``proposed_by``, guesses have the results of this rescore.
    They are those that organizers see.
    """
    rules = replace(read_rules(competition_file), scored_by=scored_by)
    board_source = source.read_proposed_source(session, round_, rules, evaluations, proposed_by=proposed_by)
    return _load_standings(session, board_source)


def _load_standings(session: Session, board_source: BoardSource) -> dict[str, TeamStanding]:
    ranked_entries = _rank(session, board_source, _load_entries(session, board_source))
    return {
        ranked.entry.evaluation.team: TeamStanding(
            ranked.rank, ranking.find_ranking_score(board_source.rules, ranked.entry)
        )
        for ranked in ranked_entries
    }


def _load_entries(session: Session, board_source: BoardSource) -> list[BoardEntry]:
    """Return an entry for each evaluation of the source, in order of receipt."""
    rival_risks = best_guesses.load_rival_risks(session, board_source)
    numbers = source.load_numbers(session, board_source, board_source.eligible_evaluations)
    return [
        ranking.build_entry(
            evaluation, numbers.get(evaluation.evaluation_id), rival_risks.get(evaluation.submission_id)
        )
        for evaluation in board_source.evaluations
    ]


def _rank(session: Session, board_source: BoardSource, entries: Sequence[BoardEntry]) -> list[RankedEntry]:
    by_formula = board_source.rules.ranking.rule != "score"
    inputs = formula_inputs.load_inputs(session, board_source) if by_formula else None
    return ranking.rank_teams(board_source.rules, entries, inputs)


def _build_row(ranked: RankedEntry, entry_counts: Counter[UUID], previous_rank: int | None) -> BoardRow:
    """Return a row with exact values, as nobody's own."""
    entry, evaluation = ranked.entry, ranked.entry.evaluation
    return BoardRow(
        rank=ranked.rank,
        rank_before=previous_rank,
        team=evaluation.team,
        team_id=evaluation.team_id,
        own=False,
        baseline=evaluation.is_baseline,
        entries=1 if evaluation.is_baseline else entry_counts[evaluation.team_id],
        overall=entry.overall,
        utility=entry.utility,
        security=entry.security,
        rivals=entry.rival_risk,
        score=ranked.score,
        on_front=False,
        received_at=evaluation.received_at.astimezone(UTC) if entry.numbers else None,
        measures=dict(entry.numbers.measures) if entry.numbers else {},
        attackers=dict(entry.numbers.attackers) if entry.numbers else {},
    )


def mask_rows(rows: Sequence[BoardRow], scope: BoardScope, rules: Rules) -> list[BoardRow]:
    """Return the rows as this viewer may see them. The Pareto front compares scores as shown.

    A score that compares teams would reveal comparisons of each measure, and is hidden.
    """
    hides_scores = scope.digits is not None and compares_teams(rules)
    front_flags = find_pareto_front([_round_losses(row, scope) for row in rows])
    return [
        _mask_row(row, scope, is_on_front=is_on_front, hides_score=hides_scores)
        for row, is_on_front in zip(rows, front_flags, strict=True)
    ]


def _mask_row(row: BoardRow, scope: BoardScope, *, is_on_front: bool, hides_score: bool) -> BoardRow:
    is_own = not row.baseline and row.team_id == scope.viewer.team_id
    score = None if hides_score and not is_own else row.score
    return scope.mask_row(row.model_copy(update={"own": is_own, "on_front": is_on_front, "score": score}))


def _round_losses(row: BoardRow, scope: BoardScope) -> tuple[float, float] | None:
    if row.baseline or row.utility is None or row.security is None:
        return None
    return scope.round_losses(row.utility, row.security)


def fill_in_formulas(
    session: Session, access: BoardAccess, submission: Submission
) -> dict[str, FilledFormula]:
    """Return the formulas of releases by their key, with the numbers by which the board scores a submission.

    There are none if the board has no formula or no value for it, or shows only rounded ones to this viewer.
    """
    scope = access.scope
    is_exact = scope.digits is None or submission.team_id == scope.viewer.team_id
    if not is_exact or access.contest.rules.ranking.defence is None:
        return {}
    board_source = source.read_source(session, access)
    rules = board_source.rules
    if rules.ranking.defence is None:  # at the moment of a frozen board
        return {}
    releases = ranking.select_releases(rules, _load_entries(session, board_source))
    if submission.id not in releases:
        return {}
    return fill_in_defence(
        rules,
        list(releases.values()),
        formula_inputs.load_inputs(session, board_source),
        list(releases).index(submission.id),
        hides_comparisons=scope.digits is not None,
    )


def render_csv(board: Board) -> str:
    return render_board_csv(
        BoardRow.columns(), board.rows, {"measures": board.measures, "attackers": board.attackers}
    )
