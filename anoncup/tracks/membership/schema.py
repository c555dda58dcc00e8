"""The columns of a table and the values that each may have, as a competition file states them."""

from dataclasses import dataclass
from typing import cast

from anoncup.messages import Message
from anoncup.rules.toml_values import CONTROL, LARGEST, Table, choice, wrong

LONGEST_NAME = 80
"""Characters of a column's name."""


@dataclass(frozen=True, slots=True)
class Numeric:
    """Finite numbers from ``least`` to ``most``, both included."""

    name: str
    least: float
    most: float

    @property
    def cells(self) -> tuple[str, str]:
        """Two that it may have."""
        return f"{self.least:g}", f"{self.most:g}"


@dataclass(frozen=True, slots=True)
class Categorical:
    """One of ``values``, texts as they are written; an empty cell is a value where "" is among them."""

    name: str
    values: tuple[str, ...]

    @property
    def cells(self) -> tuple[str, str]:
        """Two that it may have."""
        return self.values[0], self.values[-1]


Column = Numeric | Categorical


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns in the order of the file."""

    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def numeric(self) -> tuple[Numeric, ...]:
        return tuple(column for column in self.columns if isinstance(column, Numeric))

    @property
    def categorical(self) -> tuple[Categorical, ...]:
        return tuple(column for column in self.columns if isinstance(column, Categorical))

    @property
    def lines(self) -> tuple[tuple[str, ...], ...]:
        """How a table of these columns may begin: its header, and two rows."""
        rows = zip(*(column.cells for column in self.columns), strict=True)
        return (self.names, *rows)

    def only(self, *names: str) -> "Schema":
        """Those of the columns, in the order of the file."""
        return Schema(tuple(column for column in self.columns if column.name in names))


def read_schema(table: Table) -> Schema:
    """``NAME = {kind = "numeric", least = 0, most = 9}`` or ``{kind = "categorical", values = ["a"]}``.

    Columns in the order in which they are listed. InvalidCompetition names the key that is wrong.
    """
    columns = tuple(_column(name, entry) for name, entry in table.tables())
    if not columns:
        raise wrong(table.path, Message("a table that names at least one column"))
    return Schema(columns)


def _column(name: str, entry: Table) -> Column:
    if not name or len(name) > LONGEST_NAME or CONTROL.search(name):
        what = Message("named by 1 to {most} characters, none of them a control character", most=LONGEST_NAME)
        raise wrong(entry.path, what)
    column = _numeric(name, entry) if entry.take("kind", _kind) == "numeric" else _categorical(name, entry)
    entry.finish()
    return column


_kind = choice("numeric", "categorical")


def _numeric(name: str, entry: Table) -> Numeric:
    least, most = cast(float, entry.take("least", signed)), cast(float, entry.take("most", signed))
    if least > most:
        raise wrong(entry.at("most"), Message("no less than {least}", least=least))
    return Numeric(name, least, most)


def _categorical(name: str, entry: Table) -> Categorical:
    return Categorical(name, cast(tuple[str, ...], entry.take("values", categories)))


def signed(value: object, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST <= value <= LARGEST:
        raise wrong(path, Message("a finite number"))
    return float(value)


def categories(value: object, path: str) -> tuple[str, ...]:
    """The texts of a categorical column."""
    listed = value if isinstance(value, list) else []
    texts = tuple(each for each in listed if isinstance(each, str) and not CONTROL.search(each))
    if not texts or len(texts) != len(listed) or len(set(texts)) != len(texts):
        raise wrong(path, Message("a list of texts without control characters, no two the same"))
    return texts
