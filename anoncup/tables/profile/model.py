"""What is seen of a table before it is given out; it is counted in ``looking`` and ``headers``."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Literal

FEWEST = 5
"""Rows that share a value, so that it does not count as rare."""
NEARLY = Fraction(9, 10)
"""A column with as many different values as this share of its rows tells everybody apart."""
SMALL = 20
"""Rows of a table too small to tell anything from how many values are different."""
ALONE = Fraction(1, 10)
"""Of the rows, alone in their classes: with more a cheat has hardly anybody to exchange."""
SPARSE = Fraction(9, 10)
"""The share of empty cells from which on a cross-table is warned about."""

Reason = Literal["unique", "groups", "name", "text"]


@dataclass(frozen=True, slots=True)
class Values:
    """How a column's values are held. ``different``: how many there are; ``common``: in how many rows the
    most common one stands; ``rare``: values in fewer rows than asked, and ``rare_rows`` these rows."""

    rows: int
    different: int
    common: int
    rare: int
    rare_rows: int

    @property
    def tells_apart(self) -> bool:
        """Whether (nearly) everybody is unique by the column."""
        return tells_apart(self.different, self.rows)


@dataclass(frozen=True, slots=True)
class CrossTable:
    """The cells of the table over some columns, and how many of them a row falls in; ``measures``: whose."""

    measures: tuple[str, ...]
    columns: tuple[str, ...]
    cells: int
    filled: int

    @property
    def empty(self) -> Fraction:
        return Fraction(self.cells - self.filled, self.cells) if self.cells else Fraction(0)

    @property
    def is_sparse(self) -> bool:
        return self.empty >= SPARSE

    @property
    def empty_percent(self) -> float:
        """With one decimal, rounded down: 100 says that all are."""
        return floor(self.empty * 1000) / 10


@dataclass(frozen=True, slots=True)
class Classes:
    """Equivalence classes: how many, how many rows are alone in theirs, and how many in one of fewer rows
    than asked."""

    rows: int
    count: int
    alone: int
    few: int

    @property
    def alone_percent(self) -> float:
        return 100 * self.alone / max(self.rows, 1)


@dataclass(frozen=True, slots=True)
class Naming:
    """How a file begins and what its columns could be called.

    ``found``: the first line. ``is_data``: it looks like a row. ``names``: one for each column, required ones
    where the file must have them. ``respelled``: they differ from what was found in capitals, blanks, full
    width and the like only. ``below``: the first rows.
    """

    found: tuple[str, ...]
    is_data: bool
    names: tuple[str, ...]
    respelled: bool
    below: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class IdentifyingColumn:
    """A column that names or numbers individuals, and why it is taken for one.

    ``unique``: (nearly) everybody has an own value; ``groups``: the numbers count small groups, such as
    households; ``name``: it is named like an identifier; ``text``: most of its texts are different.
    ``leave_out``: whether set-up suggests to leave it out.
    """

    name: str
    different: int
    rows: int
    reason: Reason
    leave_out: bool = True


@dataclass(frozen=True, slots=True)
class Gaps:
    """A column of amounts in which so many cells hold no number."""

    name: str
    cells: int


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A column whose numbers were written another way: the first of them before and after."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Foreign:
    """How a spreadsheet wrote a table: what stood between its cells, and its numbers."""

    separator: str
    numbers: tuple[Rewritten, ...]


def tells_apart(different: int, rows: int) -> bool:
    return rows > SMALL and different >= NEARLY * rows
