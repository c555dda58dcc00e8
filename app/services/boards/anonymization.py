"""Anonymization board: ranks the best release of each team by utility loss and re-identification risk."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC

from sqlalchemy.orm import Session

from anoncup.competition.scoring_versions import Versions
from anoncup.evaluation.ranking import (
    compute_rank_sums,
    compute_ranks,
    find_pareto_front,
    select_ranked_values,
    sort_for_board,
)
from anoncup.rules.model import Rules
from anoncup.schemas import Board, BoardRow
from app.db.models import Competition, Evaluation
from app.services.boards import effective_evaluations, entries
from app.services.boards.entries import BoardEntry
from app.services.boards.spreadsheet import render_board_csv
from app.services.contests import visibility
from app.services.contests.contest import parse_stored_rules
from app.services.contests.visibility import BoardAccess, BoardScope


def build_board(session: Session, access: BoardAccess) -> Board:
    """Build the board as this viewer may see it."""
    contest, scope = access.contest, access.scope
    board_entries = entries.list_entries(session, contest, scope)
    rules_in_force = effective_evaluations.load_rules(session, contest, scope.as_of)
    previous_ranks = load_previous_ranks(session, access)
    rows = _build_rows(rules_in_force, board_entries, scope)
    return Board(
        competition=contest.slug,
        title=dict(contest.rules.title),
        frozen_from=contest.rules.publication.frozen_from,
        finals=scope.finals_only,
        digits=scope.digits,
        compared_with=scope.compared_with if previous_ranks else None,
        measures=tuple(contest.track.measures),
        attackers=tuple(contest.track.attackers),
        rows=tuple(row.model_copy(update={"rank_before": previous_ranks.get(row.team)}) for row in rows),
    )


def load_previous_ranks(session: Session, access: BoardAccess) -> dict[str, int]:
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
    rows = _build_rows(
        effective_evaluations.load_rules(session, contest, past_scope.as_of),
        entries.list_entries(session, contest, past_scope),
        past_scope,
    )
    return {row.team: row.rank for row in rows if row.rank is not None}


def rank_under_rules(
    session: Session,
    competition: Competition,
    competition_file: str,
    evaluations: Sequence[Evaluation],
    *,
    scored_by: Versions,
) -> dict[str, int]:
    """Return rank by team as if ``competition_file`` and ``evaluations`` were in force.

    ``evaluations`` are in order of receipt. The ranks are those that organizers see.
    """
    organizer_scope = visibility.build_organizer_scope(competition)
    rules = parse_stored_rules(competition_file)
    board_entries = entries.build_proposed_entries(
        session, competition, organizer_scope, rules, evaluations, scored_by=scored_by
    )
    rows = _build_rows(rules, board_entries, organizer_scope)
    return {row.team: row.rank for row in rows if row.rank is not None}


def _build_rows(rules: Rules, board_entries: Sequence[BoardEntry], scope: BoardScope) -> list[BoardRow]:
    """Return the rows of the board, sorted by rank.

    Rows with equal ranks and rows without a rank keep the given order. Baselines follow, best first.
    Ranks compare exact scores; the Pareto front compares the rounded scores that the viewer sees.
    """
    best_entries = entries.select_best_per_team(board_entries)
    ranked_entries = [entry for entry in best_entries if not entry.evaluation.is_baseline]
    is_rank_sum = rules.ranking.rule == "rank_sum"
    if is_rank_sum:  # ties in the rank sum are broken by time of receipt, not by overall
        ranked_entries.sort(key=lambda entry: entry.evaluation.receipt_order)
    sums = compute_rank_sums(
        [collect_ranked_values(rules, entry) for entry in ranked_entries],
        rounding=collect_rounding(ranked_entries),
    )
    scores = sums if is_rank_sum else [entry.overall for entry in ranked_entries]
    row_ranks = compute_ranks(scores)
    pareto_flags = find_pareto_front([_mask_losses(entry, scope) for entry in ranked_entries])
    submission_counts = Counter(entry.evaluation.team_id for entry in board_entries)
    rows = [
        _build_row(
            ranked_entries[index],
            rank=row_ranks[index],
            rank_sum=sums[index] if is_rank_sum else None,
            on_front=pareto_flags[index],
            entry_count=submission_counts[ranked_entries[index].evaluation.team_id],
            own=scope.viewer.team_id == ranked_entries[index].evaluation.team_id,
        )
        for index in sort_for_board(scores)
    ] + [_build_baseline_row(entry) for entry in best_entries if entry.evaluation.is_baseline]
    return [scope.mask_row(row, is_own=row.own) for row in rows]


def _build_baseline_row(entry: BoardEntry) -> BoardRow:
    return _build_row(entry, rank=None, rank_sum=None, on_front=False, entry_count=1, own=False)


def collect_ranked_values(rules: Rules, entry: BoardEntry) -> Mapping[str, float] | None:
    """Return the values that the ``rank_sum`` rule compares; None if the submission was not accepted."""
    if entry.numbers is None or entry.security is None:
        return None
    return select_ranked_values(entry.numbers.measures, entry.security, rules.weights)


def collect_rounding(ranked_entries: Sequence[BoardEntry]) -> dict[str, float]:
    """Return, by measure, the threshold below which a value is rounding noise.

    It depends on the original only, so any verdict on the same original gives the threshold for all entries.
    """
    rounding_by_entry = (entry.numbers.rounding for entry in ranked_entries if entry.numbers)
    return {
        name: threshold for entry_rounding in rounding_by_entry for name, threshold in entry_rounding.items()
    }


def _mask_losses(entry: BoardEntry, scope: BoardScope) -> tuple[float, float] | None:
    if entry.utility is None or entry.security is None:
        return None
    return scope.round_losses(entry.utility, entry.security)


def _build_row(
    entry: BoardEntry,
    *,
    rank: int | None,
    rank_sum: float | None,
    on_front: bool,
    entry_count: int,
    own: bool,
) -> BoardRow:
    received_at = entry.evaluation.received_at.astimezone(UTC)
    return BoardRow(
        rank=rank,
        team=entry.evaluation.team,
        team_id=entry.evaluation.team_id,
        own=own,
        baseline=entry.evaluation.is_baseline,
        entries=entry_count,
        overall=entry.overall,
        utility=entry.utility,
        security=entry.security,
        rivals=entry.rival_risk,
        rank_sum=rank_sum,
        on_front=on_front,
        received_at=received_at if entry.numbers else None,
        measures=dict(entry.numbers.measures) if entry.numbers else {},
        attackers=dict(entry.numbers.attackers) if entry.numbers else {},
    )


def render_csv(board: Board) -> str:
    return render_board_csv(
        BoardRow.columns(), board.rows, {"measures": board.measures, "attackers": board.attackers}
    )
