"""Data profile of a table: columns, equivalence classes, cross-tables, header and format."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Literal

MIN_COMMON = 5
"""A value shared by fewer rows than this is rare."""
_NEARLY_UNIQUE = Fraction(9, 10)
"""A column with at least this many distinct values per row identifies (nearly) everybody."""
MAX_SMALL_TABLE = 20
"""Tables of at most this many rows are too small to conclude anything from the number of distinct values."""
MAX_UNIQUE_SHARE = Fraction(1, 10)
"""Maximum share of unique rows; with more, a cheat has hardly anybody to swap."""
_SPARSE_SHARE = Fraction(9, 10)
"""Cross-tables with at least this share of empty cells cause a warning."""

IdentifyingReason = Literal["unique", "groups", "name", "text"]


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """Distribution of a column's values.

    ``distinct``: number of values; ``most_common``: rows of the most frequent value; ``rare_values``: values
    in fewer rows than the minimum, with ``rare_rows`` rows.
    """

    rows: int
    distinct: int
    most_common: int
    rare_values: int
    rare_rows: int

    @property
    def is_nearly_unique(self) -> bool:
        """Whether (nearly) every row is unique in this column."""
        return is_nearly_unique(self.distinct, self.rows)


@dataclass(frozen=True, slots=True)
class CrossTable:
    """Number of cells and of occupied cells of a cross-table; ``measures``: those that use it."""

    measures: tuple[str, ...]
    columns: tuple[str, ...]
    cells: int
    occupied: int

    @property
    def empty_share(self) -> Fraction:
        return Fraction(self.cells - self.occupied, self.cells) if self.cells else Fraction(0)

    @property
    def is_sparse(self) -> bool:
        return self.empty_share >= _SPARSE_SHARE

    @property
    def empty_percent(self) -> float:
        """Percentage with one decimal, rounded down: 100 means that all cells are empty."""
        return floor(self.empty_share * 1000) / 10


@dataclass(frozen=True, slots=True)
class EquivalenceClassCounts:
    """Equivalence classes: their ``count``, unique rows, and rows in classes below the minimum size."""

    rows: int
    count: int
    unique_rows: int
    rows_in_small: int

    @property
    def unique_percent(self) -> float:
        return 100 * self.unique_rows / max(self.rows, 1)


@dataclass(frozen=True, slots=True)
class HeaderGuess:
    """First line of a file, and proposed names of its columns.

    ``is_data``: the first line looks like a row. ``names``: one for each column, the required ones where
    needed. ``is_respelled``: they differ from the first line only in case, blanks, full width and the like.
    ``first_rows``: the rows below.
    """

    first_line: tuple[str, ...]
    is_data: bool
    names: tuple[str, ...]
    is_respelled: bool
    first_rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class IdentifyingColumn:
    """A column that identifies individuals, and the reason.

    ``unique``: (nearly) every value is unique; ``groups``: the numbers identify small groups, such as
    households; ``name``: it is named like an identifier; ``text``: most of its texts are different.
    ``leave_out``: whether the set-up suggests dropping it.
    """

    name: str
    distinct: int
    rows: int
    reason: IdentifyingReason
    leave_out: bool = True


@dataclass(frozen=True, slots=True)
class MissingAmounts:
    """A column of amounts, and the number of cells without a number."""

    name: str
    cells: int


@dataclass(frozen=True, slots=True)
class RewrittenColumn:
    """A column whose numbers were converted: its first number before and after."""

    name: str
    original: str
    converted: str


@dataclass(frozen=True, slots=True)
class LocaleFormat:
    """Format of a spreadsheet's table: the separator of its cells, and its converted numbers."""

    separator: str
    numbers: tuple[RewrittenColumn, ...]


def is_nearly_unique(distinct: int, rows: int) -> bool:
    return rows > MAX_SMALL_TABLE and distinct >= _NEARLY_UNIQUE * rows
