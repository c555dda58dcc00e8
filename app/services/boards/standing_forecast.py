"""Rank of a submission on the board, and the improvement that would pass the teams ahead of it.

Before the reveal the ``overall`` of other teams is known to four decimals only, while ranks are exact. This
module uses only what the viewer sees, so results are ranges where the rounding leaves the rank open.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from sqlalchemy.orm import Session

from anoncup.competition.scoring_versions import counts_towards_security
from anoncup.rules.settings import OVERALL_DIGITS
from anoncup.schemas import Board, BoardRow, Verdict
from app.db.models import State, Submission
from app.services.boards import source, verdicts
from app.services.boards.version_filter import select_comparable
from app.services.contests.contest import Contest
from app.services.contests.visibility import BoardAccess

_SHOWN_STEP = Fraction(1, 10**OVERALL_DIGITS)
"""Difference between two neighbouring values of ``overall`` as shown."""


@dataclass(frozen=True, slots=True)
class RankGap:
    """Distance in ``overall`` to the teams at another rank, computed from the values as shown.

    A ``gap`` of 0 means less than the decimals show.
    """

    rank: int
    team_names: tuple[str, ...]
    gap: Decimal


@dataclass(frozen=True, slots=True)
class RequiredImprovement:
    """Improvement that is certain to pass the next better rank.

    E or U must become smaller by ``amount`` while the other stays the same. ``can_lower_risk`` and
    ``can_lower_loss`` tell whether E and U are large enough for that. If the track counts individuals,
    ``max_count`` is the number that each attacker that counts may find at most, and ``current_count`` is what
    the strongest finds now; both are None if no number is small enough.
    """

    amount: Decimal
    can_lower_risk: bool
    can_lower_loss: bool
    current_count: int | None = None
    max_count: int | None = None


@dataclass(frozen=True, slots=True)
class SubmissionPosition:
    """Rank of a submission on the board.

    ``best_rank`` and ``worst_rank`` differ if the rounding leaves the rank open. ``is_on_board`` means that
    the submission represents its team; otherwise the ranks are those that it would have. ``team_row`` is the
    row of its team, and ``tie_count`` the number of other teams at the same rank. ``next_gap`` and
    ``follower_gap`` refer to the nearest better and worse ranks; they are None if there is none or if the
    board ranks by a formula. ``leader_gap`` refers to rank 1; None if that is the next better rank.
    ``is_risk_set_by_rival`` means that a guess of another team found more than the built-in attackers.
    """

    best_rank: int
    worst_rank: int
    team_count: int
    is_on_board: bool
    team_row: BoardRow | None
    tie_count: int = 0
    next_gap: RankGap | None = None
    leader_gap: RankGap | None = None
    follower_gap: RankGap | None = None
    improvement: RequiredImprovement | None = None
    is_risk_set_by_rival: bool = False


@dataclass(frozen=True, slots=True)
class ScoredSubmission:
    """Scores of an accepted submission, computed from the attackers that count.

    ``individual_count`` is the number of individuals under attack; None if the track does not count them.
    """

    team: str
    received_at: datetime
    overall: float
    security: float
    individual_count: int | None


def forecast_position(
    session: Session, access: BoardAccess, board: Board, submission: Submission
) -> SubmissionPosition | None:
    """Return the position of a submission on ``board``; None if it has none or it cannot be determined.

    ``board`` must be the one that ``access`` shows.
    """
    scored_submission = _find_scored_submission(access.contest, submission)
    if scored_submission is None:
        return None
    position = find_position(
        board, scored_submission, is_by_formula=access.contest.rules.ranking.rule != "score"
    )
    return position if position and (position.is_on_board or _uses_current_rules(session, access)) else None


def _find_scored_submission(contest: Contest, submission: Submission) -> ScoredSubmission | None:
    verdict, team = submission.evaluation.parsed_verdict, submission.team
    is_excluded = submission.disqualified_at or team.disqualified_at or team.baseline
    if is_excluded or verdict is None or submission.evaluation.state != State.SCORED:
        return None
    eligible = select_comparable({submission.id: verdicts.extract_numbers(verdict)}, contest.rules.scored_by)
    if submission.id not in eligible:
        return None
    eligible_numbers = eligible[submission.id]
    individual_count = _count_individuals(contest, verdict)
    return ScoredSubmission(
        team.name,
        submission.received_at,
        eligible_numbers.overall,
        eligible_numbers.security,
        individual_count,
    )


def _count_individuals(contest: Contest, verdict: Verdict) -> int | None:
    """Return the number of individuals under attack.

    The result is None if the track does not count individuals or the attackers that count disagree on it.
    """
    rules = contest.rules
    individual_counts = {
        entry.trials for name, entry in verdict.attackers.items() if counts_towards_security(rules, name)
    }
    return (
        individual_counts.pop()
        if contest.track.asks_identity(rules) and len(individual_counts) == 1
        else None
    )


def _uses_current_rules(session: Session, access: BoardAccess) -> bool:
    """Return whether the board, frozen or not, uses the rules that are in force now."""
    contest = access.contest
    replaced_rules = source.list_replaced_rules(session, contest)
    return source.find_rules(contest, replaced_rules, access.scope.as_of) == contest.rules


def find_position(
    board: Board, scored_submission: ScoredSubmission, *, is_by_formula: bool
) -> SubmissionPosition | None:
    """Return the position of a submission; None if the board does not determine it.

    ``is_by_formula`` tells that the board ranks by a formula, not by ``overall``.
    """
    ranked_rows = [row for row in board.rows if row.rank is not None]
    own_row = next((row for row in ranked_rows if row.team == scored_submission.team), None)
    if own_row is not None and own_row.received_at == scored_submission.received_at:
        return _build_current_position(
            board, ranked_rows, own_row, scored_submission, is_by_formula=is_by_formula
        )
    if is_by_formula or board.finals:
        return None
    return _build_hypothetical_position(
        board, [row for row in ranked_rows if row is not own_row], own_row, scored_submission
    )


def _build_current_position(
    board: Board,
    ranked_rows: Sequence[BoardRow],
    own_row: BoardRow,
    scored_submission: ScoredSubmission,
    *,
    is_by_formula: bool,
) -> SubmissionPosition:
    rank = own_row.rank or 0
    tie_count = sum(row.rank == rank for row in ranked_rows) - 1
    is_risk_set_by_rival = own_row.security is not None and own_row.security > scored_submission.security
    position = SubmissionPosition(
        rank,
        rank,
        len(ranked_rows),
        is_on_board=True,
        team_row=own_row,
        tie_count=tie_count,
        is_risk_set_by_rival=is_risk_set_by_rival,
    )
    if is_by_formula:
        return position
    rows_ahead = [row for row in ranked_rows if (row.rank or 0) < rank]
    rows_behind = [row for row in ranked_rows if (row.rank or 0) > rank]
    next_gap = _measure_gap(rows_ahead, rows_ahead[-1].rank, own_row) if rows_ahead else None
    return replace(
        position,
        next_gap=next_gap,
        leader_gap=_measure_gap(rows_ahead, 1, own_row) if next_gap and next_gap.rank > 1 else None,
        follower_gap=_measure_gap(rows_behind, rows_behind[0].rank, own_row) if rows_behind else None,
        improvement=None
        if board.finals or next_gap is None
        else _find_improvement(board, rows_ahead, own_row, scored_submission),
    )


def _build_hypothetical_position(
    board: Board,
    other_rows: Sequence[BoardRow],
    own_row: BoardRow | None,
    scored_submission: ScoredSubmission,
) -> SubmissionPosition:
    """Return the range of ranks that the submission would have if it represented its team."""
    exact_overall = Fraction(scored_submission.overall)
    comparisons = [_is_better(row, _bound_overall(board, row), own_row, exact_overall) for row in other_rows]
    certain_count, possible_count = comparisons.count(True), len(comparisons) - comparisons.count(False)
    return SubmissionPosition(
        1 + certain_count, 1 + possible_count, len(other_rows) + 1, is_on_board=False, team_row=own_row
    )


def _is_better(
    row: BoardRow, row_bounds: tuple[Fraction, Fraction], own_row: BoardRow | None, exact_overall: Fraction
) -> bool | None:
    """Return whether a row is better than a submission of ``exact_overall``; None if unknown.

    Scores of other teams are rounded, but ranks are exact, and so is the score of the team's own row.
    Comparing ranks with that row therefore decides some cases.
    """
    if own_row is not None and own_row.rank is not None and row.rank is not None:
        own_overall = Fraction(own_row.overall or 0.0)
        if row.rank == own_row.rank:
            return own_overall < exact_overall
        if row.rank < own_row.rank and own_overall <= exact_overall:
            return True
        if row.rank > own_row.rank and own_overall >= exact_overall:
            return False
    low, high = row_bounds
    return True if high < exact_overall else None if low < exact_overall else False


def _bound_overall(board: Board, row: BoardRow) -> tuple[Fraction, Fraction]:
    """Return the lower and upper bound of the exact ``overall`` of a row."""
    shown_overall = row.overall or 0.0
    if row.own or board.digits is None:
        return Fraction(shown_overall), Fraction(shown_overall)
    decimal_overall = Fraction(Decimal(repr(shown_overall)))
    return decimal_overall - _SHOWN_STEP / 2, decimal_overall + _SHOWN_STEP / 2


def _measure_gap(rows: Sequence[BoardRow], rank: int | None, own_row: BoardRow) -> RankGap:
    rows_at_rank = [row for row in rows if row.rank == rank]
    return RankGap(
        rank or 0,
        tuple(row.team for row in rows_at_rank),
        abs(_round_as_shown(own_row.overall or 0.0) - _round_as_shown(rows_at_rank[0].overall or 0.0)),
    )


def _round_as_shown(overall: float) -> Decimal:
    return Decimal(f"{overall:.{OVERALL_DIGITS}f}")


def _find_improvement(
    board: Board, rows_ahead: Sequence[BoardRow], own_row: BoardRow, scored_submission: ScoredSubmission
) -> RequiredImprovement:
    """Return the improvement that certainly makes ``overall`` better than that of the next better rank.

    All rows at that rank have the same exact ``overall``: at least the highest of their lower bounds.
    """
    next_rows = [row for row in rows_ahead if row.rank == rows_ahead[-1].rank]
    highest_bound = max(_bound_overall(board, row)[0] for row in next_rows)
    risk, loss = Fraction(own_row.security or 0.0), Fraction(own_row.utility or 0.0)
    step_count = max(floor((risk + loss - 2 * highest_bound) / _SHOWN_STEP) + 1, 1)
    amount = step_count * _SHOWN_STEP
    max_count, current_count = _find_count_limits(
        2 * highest_bound - loss, risk, scored_submission.individual_count
    )
    return RequiredImprovement(
        Decimal(step_count).scaleb(-OVERALL_DIGITS), amount <= risk, amount <= loss, current_count, max_count
    )


def _find_count_limits(
    risk_limit: Fraction, risk: Fraction, individual_count: int | None
) -> tuple[int | None, int | None]:
    """Return the largest count whose risk is below ``risk_limit``, and the count that gives ``risk``.

    Both are None if individuals are not counted, no count is small enough, or ``risk`` is no exact fraction.
    """
    if individual_count is None:
        return None, None
    current_count, max_count = round(risk * individual_count), ceil(risk_limit * individual_count) - 1
    return (
        (max_count, current_count)
        if max_count >= 0 and float(Fraction(current_count, individual_count)) == float(risk)
        else (None, None)
    )
