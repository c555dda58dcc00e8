"""The leader of the anonymization board, and how it compares with the next rank."""

from dataclasses import dataclass
from typing import Literal

from anoncup.competition.scoring_versions import counts_towards_security
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.schemas import Board, BoardRow
from app.web.site.notation import SCORE_DIGITS

_Comparison = Literal[
    "both", "safer", "as_useful", "about_as_useful", "more_useful", "as_safe", "about_as_safe", "neither"
]
"""How the first row compares with the second.

It is better in both utility and risk (``both``), better in one and worse in the other (``safer``,
``more_useful``), better in one and equal in the other, exactly or in the shown decimals (``about_``), or
better in neither.
"""
_ROUNDING_TOLERANCE = 1e-9
"""Scores that differ by no more than this are equal up to rounding errors."""
_PODIUM_SIZE = 3


@dataclass(frozen=True, slots=True)
class Leader:
    """The first rank of a board.

    ``rows``: the rows of the first rank, the reader's own first. ``runners_up``: those of the next rank.
    ``attacker``: the built-in attacker with the highest rate on the first release; None if all are 0.
    ``is_found_by_rival``: whether a guess of another team determines the first row's risk.
    ``comparison``: the first row compared with the next rank.
    ``has_equal_scores``: whether all rows of the first rank have the same U and E in the shown decimals.
    ``counts_individuals``: whether risk is the share of re-identified individuals.
    ``shows_attackers``: whether the reader may see the results of attackers.
    ``digits``: the number of decimals of U and E.
    ``rule``: the ranking rule.
    """

    rows: tuple[BoardRow, ...]
    runners_up: tuple[BoardRow, ...]
    attacker: str | None
    is_found_by_rival: bool
    comparison: _Comparison
    has_equal_scores: bool
    counts_individuals: bool
    shows_attackers: bool
    digits: int
    rule: str

    @property
    def row(self) -> BoardRow:
        return self.rows[0]


def find_leader(board: Board, rules: Rules) -> Leader | None:
    """Return the leader of a board, or None while no team has a rank."""
    first_rows = list_rows_at_rank(board, 1)
    if not first_rows or first_rows[0].utility is None or first_rows[0].security is None:
        return None
    runners_up, row = list_rows_at_rank(board, len(first_rows) + 1), first_rows[0]
    digits = SCORE_DIGITS if board.digits is None else board.digits
    return Leader(
        rows=first_rows,
        runners_up=runners_up,
        attacker=_find_best_attacker(row, rules),
        is_found_by_rival=row.rivals is not None and row.rivals > 0 and row.rivals == row.security,
        comparison=_compare_scores(row, runners_up[0] if runners_up else None, board.digits),
        has_equal_scores=len({_round_scores(leader_row, digits) for leader_row in first_rows}) == 1,
        counts_individuals=TRACKS[rules.track].asks_identity(rules),
        shows_attackers=board.is_exact,
        digits=digits,
        rule=rules.ranking.rule,
    )


def list_rows_at_rank(board: Board, rank: int) -> tuple[BoardRow, ...]:
    """Return all rows of a rank, the reader's own first."""
    return tuple(sorted((row for row in board.rows if row.rank == rank), key=lambda row: not row.own))


def select_podium(board: Board, size: int = _PODIUM_SIZE) -> list[BoardRow]:
    """Return the first ``size`` ranked rows, and below them the reader's own row if it has a rank."""
    ranked_rows = [row for row in board.rows if row.rank is not None]
    return [row for index, row in enumerate(ranked_rows) if index < size or row.own]


def _find_best_attacker(row: BoardRow, rules: Rules) -> str | None:
    """Return the built-in attacker that counts and has the highest rate; the first one wins ties."""
    rates = {
        name: rate
        for name, rate in row.attackers.items()
        if counts_towards_security(rules, name) and rate > 0
    }
    return max(rates, key=lambda name: rates[name], default=None)


def _round_scores(row: BoardRow, digits: int) -> tuple[float, float]:
    """Return U and E of a ranked row, rounded to ``digits`` decimals."""
    return round(row.utility or 0.0, digits), round(row.security or 0.0, digits)


def _compare_scores(first: BoardRow, second: BoardRow | None, board_digits: int | None) -> _Comparison:
    """Compare two rows by U and E, in the decimals that the board shows."""
    if second is None:
        return "neither"
    digits = SCORE_DIGITS if board_digits is None else board_digits
    (loss, risk), (other_loss, other_risk) = _round_scores(first, digits), _round_scores(second, digits)
    if loss < other_loss:
        if risk == other_risk:
            exact = board_digits is None and _are_equal(first.security, second.security)
            return "as_safe" if exact else "about_as_safe"
        return "both" if risk < other_risk else "more_useful"
    if risk < other_risk:
        if loss == other_loss:
            exact = board_digits is None and _are_equal(first.utility, second.utility)
            return "as_useful" if exact else "about_as_useful"
        return "safer"
    return "neither"


def _are_equal(a: float | None, b: float | None) -> bool:
    """Return whether two scores are equal up to rounding errors; equal shown decimals are not enough."""
    return a is not None and b is not None and abs(a - b) <= _ROUNDING_TOLERANCE
