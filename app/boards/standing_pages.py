"""Columns of the anonymization board, and what separates a team from the next better one."""

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeVar

from anoncup.competition.scoring_versions import counts_towards_security
from anoncup.rules.model import Rules
from anoncup.schemas import AttackersBoard, AttackersRow, Board, BoardRow
from anoncup.tracks.model import AnyTrack
from app.core.locale.language import Translator
from app.core.pages import notation

RowT = TypeVar("RowT", BoardRow, AttackersRow)
_PODIUM_SIZE = 3


class BoardColumn(NamedTuple):
    """The column of a score, measure or attacker. ``weight`` is its weight in U, or None if it has none."""

    kind: Literal["score", "measure", "attacker"]
    name: str
    higher_is_better: bool = False
    weight: float | None = None

    def value(self, row: BoardRow) -> float | None:
        if self.kind == "score":
            score: float | None = getattr(row, self.name)
            return score
        return (row.measures if self.kind == "measure" else row.attackers).get(self.name)

    def format_value(self, row: BoardRow, t: Translator) -> str:
        """Format the value of a row: attackers have fixed decimals, measures have not."""
        value = self.value(row)
        return t.localize_numbers(
            notation.format_number(value) if self.kind == "measure" else notation.format_score(value)
        )


class ColumnGroup(NamedTuple):
    """Columns with a common heading, the label ``columns_<name>``.

    ``sets_risk`` means that the largest value of the group may determine E.
    """

    name: str
    columns: tuple[BoardColumn, ...]
    sets_risk: bool = False


SCORE_COLUMNS = tuple(BoardColumn("score", name) for name in ("overall", "utility", "security"))


def group_columns(rules: Rules, track: AnyTrack) -> tuple[ColumnGroup, ...]:
    """Return the groups of columns that make up U and E, then those only reported. Omit empty groups."""
    measures = [
        BoardColumn("measure", name, measure.higher_is_better, rules.weight(name) or None)
        for name, measure in track.measures.items()
    ]
    attackers = [BoardColumn("attacker", name) for name in track.attackers]
    counted = tuple(column for column in attackers if counts_towards_security(rules, column.name))
    column_groups = (
        ColumnGroup("in_utility", tuple(column for column in measures if column.weight)),
        ColumnGroup("in_security", counted, True),
        ColumnGroup("measures_only", tuple(column for column in measures if not column.weight)),
        ColumnGroup("attackers_only", tuple(column for column in attackers if column not in counted)),
    )
    return tuple(group for group in column_groups if group.columns)


def find_own_row(rows: Iterable[RowT]) -> RowT | None:
    return next((row for row in rows if row.own), None)


def select_podium(board: Board) -> list[BoardRow]:
    """Return the first ranked rows, and below them the reader's own row if it has a rank."""
    ranked_rows = [row for row in board.rows if row.rank is not None]
    return [row for index, row in enumerate(ranked_rows) if index < _PODIUM_SIZE or row.own]


def compute_distance_to_next(board: Board, own_row: BoardRow, *, by_formula: bool) -> float | None:
    """Return by how much the reader's score differs from that of the next better rank.

    None if there is no better rank or if the values of the formula are hidden.
    """
    better_rows = [row for row in board.rows if row.rank and own_row.rank and row.rank < own_row.rank]
    if not better_rows:
        return None
    own_score, next_score = (
        row.score if by_formula else round(row.overall or 0.0, notation.SCORE_DIGITS)
        for row in (own_row, better_rows[-1])
    )
    return None if own_score is None or next_score is None else abs(own_score - next_score)


def count_ranked_teams(board: Board | AttackersBoard) -> int:
    return sum(row.rank is not None for row in board.rows)


def get_display_name(row: BoardRow, t: Translator) -> str:
    """Return the name of a team, or the title of a baseline."""
    return t.label(f"method_{row.team}", row.team) if row.baseline else row.team
