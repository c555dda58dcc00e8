"""The columns of the anonymization board, grouped by what they count for."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from app.language import Words
from app.scoring.registry import Track
from app.scoring.rules import Rules
from app.web.site import notation
from app.wire import Board, BoardRow


@dataclass(frozen=True, slots=True)
class Column:
    """A measure or an attacker. ``weight``: in U; None where it has none."""

    kind: Literal["measure", "attacker"]
    name: str
    higher_is_better: bool = False
    weight: float | None = None

    def value(self, row: BoardRow) -> float | None:
        return (row.measures if self.kind == "measure" else row.attackers).get(self.name)

    def written(self, row: BoardRow, t: Words) -> str:
        """What the board shows of a row: rates and scores are written as such, measures by their size."""
        value = self.value(row)
        return t.written(notation.numeral(value) if self.kind == "measure" else notation.score(value))


@dataclass(frozen=True, slots=True)
class Group:
    """Columns under one heading: the word ``columns_<name>``; ``sets_risk``: the largest of them may be E."""

    name: str
    columns: tuple[Column, ...]
    sets_risk: bool = False

    @property
    def size(self) -> int:
        return len(self.columns)


def groups(rules: Rules, track: Track) -> tuple[Group, ...]:
    """What makes U and E first, then what is only reported; no group is empty."""
    measures, attackers = list(measure_columns(rules, track)), list(track.attackers)
    count = {name for name in attackers if rules.counts(name)}
    found = (
        Group("in_utility", tuple(one for one in measures if one.weight)),
        Group("in_security", tuple(Column("attacker", one) for one in attackers if one in count), True),
        Group("measures_only", tuple(one for one in measures if not one.weight)),
        Group("attackers_only", tuple(Column("attacker", one) for one in attackers if one not in count)),
    )
    return tuple(group for group in found if group.columns)


def measure_columns(rules: Rules, track: Track) -> Iterator[Column]:
    for name, measure in track.measures.items():
        weight = rules.weight(name)
        yield Column("measure", name, measure.higher_is_better, weight or None)


def own_row(board: Board) -> BoardRow | None:
    return next((row for row in board.rows if row.own), None)


def ranked_teams(board: Board) -> int:
    return sum(row.rank is not None for row in board.rows)


def has_rivals(board: Board) -> bool:
    """Whether a guess of a rival is visible on any row."""
    return any(row.rivals is not None for row in board.rows)
