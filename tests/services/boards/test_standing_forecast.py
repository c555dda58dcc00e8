"""The forecast of a submission's rank: it reveals no more than the board, and its improvement suffices."""

import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import pairwise

import pytest

from anoncup.evaluation.ranking import compute_overall_loss
from anoncup.formulas.ranks import TIE_TOLERANCE, compute_ranks
from anoncup.schemas import Board, BoardRow
from app.services.boards.standing_forecast import ScoredSubmission, SubmissionPosition, find_position

pytestmark = pytest.mark.full

START = datetime(2027, 1, 10, tzinfo=UTC)
OWN_TEAM = "ours"


def make_row(team: str, losses: tuple[float, float], rank: int | None, *, is_own: bool = False) -> BoardRow:
    utility, security = losses
    return BoardRow(
        rank=rank,
        team=team,
        own=is_own,
        baseline=rank is None,
        entries=1,
        overall=compute_overall_loss(utility, security),
        utility=utility,
        security=security,
        rivals=None,
        score=None,
        on_front=False,
        received_at=START + timedelta(seconds=len(team)),
        measures={},
        attackers={},
    )


def build_board(losses: dict[str, tuple[float, float]], *, digits: int | None, finals: bool = False) -> Board:
    """Build a board with exact ranks where the rows of other teams are rounded as before the reveal."""
    board_ranks = compute_ranks([compute_overall_loss(*scores) for scores in losses.values()])
    rows = [
        make_row(team, scores, rank, is_own=team == OWN_TEAM)
        for (team, scores), rank in zip(losses.items(), board_ranks, strict=True)
    ]
    shown_rows = [entry if entry.own or digits is None else round_scores(entry, digits) for entry in rows]
    shown_rows.sort(key=lambda entry: entry.rank or 0)
    return Board(
        competition="c",
        title={"en": "C"},
        frozen_from=None,
        finals=finals,
        digits=digits,
        measures=(),
        attackers=(),
        rows=(*shown_rows, make_row("sample", (0.0, 0.0), None)),
    )


def round_scores(row: BoardRow, digits: int) -> BoardRow:
    assert row.overall is not None
    assert row.utility is not None
    assert row.security is not None
    return row.model_copy(
        update={
            "overall": round(row.overall, 4),
            "utility": round(row.utility, digits),
            "security": round(row.security, digits),
        }
    )


def find_submission_position(
    board: Board, submission: ScoredSubmission, *, by_sum: bool = False
) -> SubmissionPosition:
    position = find_position(board, submission, is_by_formula=by_sum)
    assert position is not None
    return position


def find_own_position(board: Board, individuals: int | None = None) -> SubmissionPosition:
    (own_row,) = (entry for entry in board.rows if entry.own)
    assert own_row.received_at is not None
    return find_submission_position(
        board,
        ScoredSubmission(
            OWN_TEAM, own_row.received_at, own_row.overall or 0.0, own_row.security or 0.0, individuals
        ),
    )


def draw_losses(rng: random.Random, *, individuals: int) -> dict[str, tuple[float, float]]:
    """Draw teams whose scores are often equal or differ only beyond the shown digits."""
    spread = rng.choice([1e-6, 1e-4, 1e-2, 1.0])
    teams = [f"team {n}" for n in range(rng.randint(0, 6))] + [OWN_TEAM]
    choices = [
        (0.3 + 0.1 * spread * rng.random(), rng.randint(0, individuals) / individuals) for _ in range(3)
    ]
    common_risk = rng.choice([None, rng.randint(0, individuals) / individuals])
    losses = {}
    for team in teams:
        utility, security = rng.choice(choices)
        utility = utility if rng.random() < 0.5 else 0.3 + 0.1 * spread * rng.random()
        losses[team] = (utility, security if common_risk is None else common_risk)
    return losses


def has_near_ties(scores: Iterable[float]) -> bool:
    """Return whether unequal scores are ties. The forecast is exact only where ties are equal scores."""
    distinct_scores = sorted(set(scores))
    return any(later - earlier <= 2 * TIE_TOLERANCE for earlier, later in pairwise(distinct_scores))


@pytest.mark.parametrize("digits", [2, None])
def test_forecast_improvement_passes_the_next_team(
    digits: int | None,
) -> None:
    rng, individuals = random.Random(5), 40
    improvement_count = 0
    for _ in range(3000):
        losses = draw_losses(rng, individuals=individuals)
        exact_scores = {team: compute_overall_loss(*value) for team, value in losses.items()}
        if has_near_ties(exact_scores.values()):
            continue
        position = find_own_position(build_board(losses, digits=digits), individuals)
        own_score = exact_scores[OWN_TEAM]
        better_scores = {team: value for team, value in exact_scores.items() if value < own_score}
        assert position.best_rank == position.worst_rank == 1 + len(better_scores)
        assert position.tie_count == sum(value == own_score for value in exact_scores.values()) - 1
        assert position.team_count == len(losses)
        next_score = max(better_scores.values(), default=None)
        named_teams = () if position.next_gap is None else position.next_gap.team_names
        assert set(named_teams) == {team for team, value in better_scores.items() if value == next_score}
        if position.leader_gap:
            assert set(position.leader_gap.team_names) == {
                name for name, value in exact_scores.items() if value == min(exact_scores.values())
            }
        if next_score is None:
            assert position.improvement is None
            continue
        improvement_count += 1
        assert position.next_gap is not None
        assert abs(float(position.next_gap.gap) - (own_score - next_score)) <= 1.0001e-4
        assert position.improvement is not None
        utility, security = losses[OWN_TEAM]
        gain = float(position.improvement.amount)
        if position.improvement.can_lower_risk:
            assert compute_overall_loss(utility, security - gain) < next_score
        if position.improvement.can_lower_loss:
            assert compute_overall_loss(utility - gain, security) < next_score
        if position.improvement.max_count is not None:
            assert position.improvement.current_count == round(security * individuals)
            assert compute_overall_loss(utility, position.improvement.max_count / individuals) < next_score
            slack = 0.0 if digits is None else 1e-4
            assert (
                compute_overall_loss(utility, (position.improvement.max_count + 1) / individuals)
                >= next_score - slack - 1e-12
            )
            assert position.improvement.max_count < position.improvement.current_count
        # The improvement is the smallest sufficient one, up to the rounding.
        assert compute_overall_loss(utility, security) - (gain - 3.1e-4) / 2 >= next_score
    assert improvement_count > 500


def test_rank_interval_covers_all_scores_that_round_alike() -> None:
    rng, individuals, outcome_counts = random.Random(6), 7, [0, 0]
    for _ in range(2000):
        losses = draw_losses(rng, individuals=individuals)
        board = build_board(losses, digits=2)
        own_score = compute_overall_loss(*losses[OWN_TEAM])
        new_score = own_score + rng.choice([0.0, 1e-5, 1e-3]) * rng.random()
        if has_near_ties([new_score, *(compute_overall_loss(*pair) for pair in losses.values())]):
            continue
        position = find_submission_position(
            board, ScoredSubmission(OWN_TEAM, START - timedelta(days=1), new_score, 0.0, None)
        )
        exact_rank = 1 + sum(
            compute_overall_loss(*pair) < new_score for team, pair in losses.items() if team != OWN_TEAM
        )
        assert position.best_rank <= exact_rank <= position.worst_rank
        assert not position.is_on_board
        assert position.team_row is not None
        assert position.team_row.team == OWN_TEAM
        outcome_counts[position.best_rank == position.worst_rank] += 1
        # Both ends of the interval occur for scores that round to the shown ones.
        shown_rows = [entry for entry in board.rows if not entry.own and entry.rank is not None]
        own_rank = next(entry.rank for entry in board.rows if entry.own) or 0
        low = sum(
            compute_score_bounds(entry, own_rank, own_score)[0] < Fraction(new_score) for entry in shown_rows
        )
        high = sum(
            compute_score_bounds(entry, own_rank, own_score)[1] < Fraction(new_score) for entry in shown_rows
        )
        assert position.worst_rank == 1 + low
        assert position.best_rank == 1 + high
    assert min(outcome_counts) > 50


def compute_score_bounds(row: BoardRow, own_rank: int, own_score: float) -> tuple[Fraction, Fraction]:
    """Return the smallest and largest score, to 1e-9, that fit the rounded score and the rank of the row."""
    shown_score, half_unit, tiny = Fraction(str(row.overall)), Fraction(1, 20_000), Fraction(1, 10**9)
    low, high, own_exact = shown_score - half_unit, shown_score + half_unit, Fraction(own_score)
    if (row.rank or 0) < own_rank:
        high = min(high, own_exact - tiny)
    elif row.rank == own_rank:
        low = high = own_exact
    else:
        low = max(low, own_exact + tiny)
    return low, high


def test_rank_sums_and_finals_get_no_forecast() -> None:
    losses = {"a": (0.1, 0.2), OWN_TEAM: (0.2, 0.2)}
    submission = ScoredSubmission(OWN_TEAM, START - timedelta(days=1), 0.4, 0.4, None)
    assert find_position(build_board(losses, digits=2), submission, is_by_formula=True) is None
    assert find_position(build_board(losses, digits=2, finals=True), submission, is_by_formula=False) is None
    own_row = next(entry for entry in build_board(losses, digits=2).rows if entry.own)
    assert own_row.received_at is not None
    counted_submission = ScoredSubmission(OWN_TEAM, own_row.received_at, own_row.overall or 0.0, 0.2, 40)
    by_sum = find_submission_position(build_board(losses, digits=2), counted_submission, by_sum=True)
    assert (by_sum.best_rank, by_sum.next_gap, by_sum.improvement) == (2, None, None)
    final_position = find_submission_position(build_board(losses, digits=2, finals=True), counted_submission)
    assert final_position.next_gap is not None
    assert final_position.improvement is None


def test_team_without_a_row_is_ranked_among_the_others() -> None:
    board = build_board({"a": (0.1, 0.2), "b": (0.5, 0.2), OWN_TEAM: (0.9, 0.9)}, digits=2)
    board_without_own_row = board.model_copy(
        update={"rows": tuple(entry for entry in board.rows if not entry.own)}
    )
    position = find_submission_position(
        board_without_own_row, ScoredSubmission(OWN_TEAM, START, 0.2, 0.2, None)
    )
    assert (position.best_rank, position.worst_rank, position.team_count, position.team_row) == (
        2,
        2,
        3,
        None,
    )


def test_no_single_improvement_is_offered_if_none_suffices() -> None:
    board = build_board({"a": (0.0, 0.02), OWN_TEAM: (0.5, 0.5)}, digits=None)
    improvement = find_own_position(board, 10).improvement
    assert improvement is not None
    assert (improvement.can_lower_risk, improvement.can_lower_loss, improvement.max_count) == (
        False,
        False,
        None,
    )
    assert float(improvement.amount) == pytest.approx(0.98, abs=1.1e-4)


def test_forecast_says_if_a_rivals_guess_sets_the_risk() -> None:
    board = build_board({"a": (0.1, 0.2), OWN_TEAM: (0.2, 0.5)}, digits=None, finals=True)
    own_row = next(entry for entry in board.rows if entry.own)
    assert own_row.received_at is not None
    for built_in_risk, is_set_by_rival in ((0.5, False), (0.4, True)):
        submission = ScoredSubmission(
            OWN_TEAM, own_row.received_at, compute_overall_loss(0.2, built_in_risk), built_in_risk, None
        )
        assert find_submission_position(board, submission).is_risk_set_by_rival is is_set_by_rival
        assert (
            find_submission_position(board, submission, by_sum=True).is_risk_set_by_rival is is_set_by_rival
        )


def test_single_team_is_first_without_neighbours() -> None:
    position = find_own_position(build_board({OWN_TEAM: (0.2, 0.0)}, digits=None))
    assert (position.best_rank, position.team_count, position.next_gap, position.follower_gap) == (
        1,
        1,
        None,
        None,
    )


def test_tied_teams_share_the_first_rank_without_a_next_team() -> None:
    board = build_board({**{f"team {n}": (0.2, 0.4) for n in range(500)}, OWN_TEAM: (0.2, 0.4)}, digits=2)
    position = find_own_position(board, 40)
    assert (position.best_rank, position.tie_count, position.team_count) == (1, 500, 501)
    assert (position.next_gap, position.leader_gap, position.follower_gap, position.improvement) == (
        None,
        None,
        None,
        None,
    )
