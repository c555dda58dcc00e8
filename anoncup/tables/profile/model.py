"""The parts of a table's data profile: columns, equivalence classes, cross-tables, header and format."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Literal

MIN_COMMON = 5
"""A value shared by fewer rows than this is rare."""
_NEARLY_UNIQUE_SHARE = Fraction(9, 10)
"""Minimum number of distinct values per row of a column that identifies (nearly) everybody."""
MAX_SMALL_TABLE = 20
"""Maximum number of rows of a small table, in which the number of distinct values means nothing."""
MAX_UNIQUE_SHARE = Fraction(1, 10)
"""Maximum share of unique rows. With more, hardly any individuals can be swapped within their class."""
_MIN_SPARSE_SHARE = Fraction(9, 10)
"""Minimum share of empty cells of a sparse cross-table."""

IdentifyingReason = Literal["unique", "groups", "name", "text"]


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """Counts of a column's values.

    ``distinct``: number of distinct values. ``most_common``: number of rows with the most frequent value.
    ``rare_values``: number of values that occur in too few rows. ``rare_rows``: number of these rows.
    """

    rows: int
    distinct: int
    most_common: int
    rare_values: int
    rare_rows: int

    @property
    def is_nearly_unique(self) -> bool:
        """Whether (nearly) every row has its own value."""
        return is_nearly_unique(self.distinct, self.rows)


@dataclass(frozen=True, slots=True)
class CrossTable:
    """Number of cells and of occupied cells of a cross-table; ``measures``: the measures that use it."""

    measures: tuple[str, ...]
    columns: tuple[str, ...]
    cells: int
    occupied: int

    @property
    def empty_share(self) -> Fraction:
        return Fraction(self.cells - self.occupied, self.cells) if self.cells else Fraction(0)

    @property
    def is_sparse(self) -> bool:
        return self.empty_share >= _MIN_SPARSE_SHARE

    @property
    def empty_percent(self) -> float:
        """Percentage with one decimal, rounded down: 100 means that all cells are empty."""
        return floor(self.empty_share * 1000) / 10


@dataclass(frozen=True, slots=True)
class EquivalenceClassCounts:
    """The number (``count``) of equivalence classes, of unique rows, and of rows in too small classes."""

    rows: int
    count: int
    unique_rows: int
    rows_in_small_classes: int

    @property
    def unique_percent(self) -> float:
        return 100 * self.unique_rows / max(self.rows, 1)


@dataclass(frozen=True, slots=True)
class HeaderGuess:
    """First line of a file, and the proposed names of its columns.

    - ``is_data``: whether the first line looks like a row of data.
    - ``names``: the proposed name of each column.
    - ``is_respelled``: whether the names differ from the first line only in case, blanks and the like.
    - ``first_rows``: the first rows below the first line.
    """

    first_line: tuple[str, ...]
    is_data: bool
    names: tuple[str, ...]
    is_respelled: bool
    first_rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class IdentifyingColumn:
    """A column that identifies individuals, and the reason.

    - ``unique``: (nearly) every row has its own value.
    - ``groups``: the numbers identify small groups, such as households.
    - ``name``: the column has the name of an identifier.
    - ``text``: most of its texts are different.

    ``should_drop``: whether the pages suggest dropping the column.
    """

    name: str
    distinct: int
    rows: int
    reason: IdentifyingReason
    should_drop: bool = True


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
    return rows > MAX_SMALL_TABLE and distinct >= _NEARLY_UNIQUE_SHARE * rows
