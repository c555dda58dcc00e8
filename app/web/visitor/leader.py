"""Who leads a board, and what that is to be told from: its first ranks, and what sets the leader apart."""

from dataclasses import dataclass
from typing import Literal

from anoncup.competition.scoring_versions import attacker_counts
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.schemas import Board, BoardRow
from app.web.site.notation import SCORE_DIGITS

Comparison = Literal[
    "both", "safer", "as_useful", "about_as_useful", "more_useful", "as_safe", "about_as_safe", "neither"
]
"""In what the first is better than the second: in both; in one and worse in the other (``safer``,
``more_useful``); in one and equal, or as far as its decimals tell equal, in the other; in none."""
EQUAL = 1e-9
"""Scores that differ by less differ by rounding only."""
PODIUM = 3


@dataclass(frozen=True, slots=True)
class Leader:
    """``rows``: all on the first rank, the reader's own before the others; ``following``: all on the next.

    Of a single leader, ``attacker``: who finds the most in its release, None if nobody finds anything;
    ``by_rival``: another team does; ``comparison``: in what it is better than the next. ``alike``: those who
    share the rank have the same U and E, as far as the decimals tell. ``counted``: risk is the share of
    individuals found; ``told``: whether the reader may know who found them; ``digits``: the decimals of all
    U and E; ``rule``: of ranking.
    """

    rows: tuple[BoardRow, ...]
    following: tuple[BoardRow, ...]
    attacker: str | None
    by_rival: bool
    comparison: Comparison
    alike: bool
    counted: bool
    told: bool
    digits: int
    rule: str

    @property
    def row(self) -> BoardRow:
        return self.rows[0]


def leader_of(board: Board, rules: Rules) -> Leader | None:
    """Who leads a board; None before anybody has a rank."""
    first = on_rank(board, 1)
    if not first or first[0].utility is None or first[0].security is None:
        return None
    following, row = on_rank(board, len(first) + 1), first[0]
    digits = SCORE_DIGITS if board.digits is None else board.digits
    return Leader(
        rows=first,
        following=following,
        attacker=best_attacker(row, rules),
        by_rival=row.rivals is not None and row.rivals > 0 and row.rivals == row.security,
        comparison=compared(row, following[0] if following else None, board.digits),
        alike=len({shown(each, digits) for each in first}) == 1,
        counted=TRACKS[rules.track].counts(rules),
        told=board.digits is None,
        digits=digits,
        rule=rules.ranking.rule,
    )


def on_rank(board: Board, rank: int) -> tuple[BoardRow, ...]:
    """All who share a rank, the reader's own first."""
    return tuple(sorted((row for row in board.rows if row.rank == rank), key=lambda row: not row.own))


def podium(board: Board, most: int = PODIUM) -> list[BoardRow]:
    """The first rows that have a rank, and the reader's own below them, if it has one."""
    ranked = [row for row in board.rows if row.rank is not None]
    return [row for place, row in enumerate(ranked) if place < most or row.own]


def best_attacker(row: BoardRow, rules: Rules) -> str | None:
    """The built-in attacker that counts and finds the most; of equal ones the first of the registry."""
    rates = {name: rate for name, rate in row.attackers.items() if attacker_counts(rules, name) and rate > 0}
    return max(rates, key=lambda name: rates[name], default=None)


def shown(row: BoardRow, digits: int) -> tuple[float, float]:
    """U and E of a row that has a rank, as far as ``digits`` decimals tell."""
    return round(row.utility or 0.0, digits), round(row.security or 0.0, digits)


def compared(first: BoardRow, second: BoardRow | None, board_digits: int | None) -> Comparison:
    """Return in what the first is better than the second, as far as the decimals of the board tell."""
    if second is None:
        return "neither"
    digits = SCORE_DIGITS if board_digits is None else board_digits
    (loss, risk), (other_loss, other_risk) = shown(first, digits), shown(second, digits)
    if loss < other_loss:
        if risk == other_risk:
            exact = board_digits is None and are_equal(first.security, second.security)
            return "as_safe" if exact else "about_as_safe"
        return "both" if risk < other_risk else "more_useful"
    if risk < other_risk:
        if loss == other_loss:
            exact = board_digits is None and are_equal(first.utility, second.utility)
            return "as_useful" if exact else "about_as_useful"
        return "safer"
    return "neither"


def are_equal(one: float | None, other: float | None) -> bool:
    """Return whether two scores are the same number, not only in the decimals that are shown."""
    return one is not None and other is not None and abs(one - other) <= EQUAL
