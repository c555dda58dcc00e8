"""Who leads, and why: what a board's first rows say, in the parts of a sentence."""

from dataclasses import dataclass
from typing import Literal

from app.scoring.rules import Rules
from app.scoring.tracks import TRACKS
from app.web.site.notation import SCORE_DIGITS
from app.wire import Board, BoardRow

Comparison = Literal["both", "safer", "more_useful", "neither"]
FIRST = 5


@dataclass(frozen=True, slots=True)
class Leader:
    """``attacker``: who finds the most in the leading release, None if nobody finds anything; ``by_rival``:
    another team does; ``counted``: risk is the share of individuals found; ``told``: whether the reader may
    know who. ``second``: the next rank, None without one; ``comparison``: in what the leader is better than
    it. ``tied``: how many share the first rank. ``digits``: the decimals of all U and E."""

    row: BoardRow
    utility: float
    security: float
    attacker: str | None
    by_rival: bool
    counted: bool
    told: bool
    tied: int
    second: BoardRow | None
    comparison: Comparison
    digits: int

    @property
    def share_found(self) -> str:
        return percent(self.security)


def leader_of(board: Board, rules: Rules) -> Leader | None:
    """The leader of a board; None before anybody has a rank."""
    ranked = [row for row in board.rows if row.rank is not None]
    if not ranked or ranked[0].utility is None or ranked[0].security is None:
        return None
    first, digits = ranked[0], SCORE_DIGITS if board.digits is None else board.digits
    second = next((row for row in ranked if row.rank != first.rank), None)
    return Leader(
        row=first,
        utility=ranked[0].utility,
        security=ranked[0].security,
        attacker=best_attacker(first, rules),
        by_rival=first.rivals is not None and first.rivals > 0 and first.rivals == first.security,
        counted=TRACKS[rules.track].counts(rules),
        told=board.digits is None,
        tied=sum(row.rank == first.rank for row in ranked),
        second=second,
        comparison=compared(first, second, digits),
        digits=digits,
    )


def top(board: Board) -> list[BoardRow]:
    """The first rows that have a rank."""
    return [row for row in board.rows if row.rank is not None][:FIRST]


def best_attacker(row: BoardRow, rules: Rules) -> str | None:
    """The built-in attacker that counts and finds the most; of equal ones the first of the registry."""
    rates = {name: rate for name, rate in row.attackers.items() if rules.counts(name) and rate > 0}
    return max(rates, key=lambda name: rates[name], default=None)


def compared(first: BoardRow, second: BoardRow | None, digits: int) -> Comparison:
    """In what the first is better than the second, as far as ``digits`` decimals tell."""
    if second is None:
        return "neither"
    useful = round(first.utility or 0.0, digits) < round(second.utility or 0.0, digits)
    safer = round(first.security or 0.0, digits) < round(second.security or 0.0, digits)
    if useful and safer:
        return "both"
    return "safer" if safer else "more_useful" if useful else "neither"


def percent(share: float) -> str:
    """A share as a percentage: whole ones, below ten with a decimal."""
    number = 100 * share
    if 0 < number < 0.1:
        return "<0.1"
    return f"{number:.0f}" if number >= 10 or number == 0 else f"{number:.1f}".removesuffix(".0")
