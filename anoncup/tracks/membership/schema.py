"""The schema of a table in a competition file: its columns and the values that each may have."""

from dataclasses import dataclass

from anoncup.messages import Message
from anoncup.rules.toml_values import (
    CONTROL_CHARACTER,
    MAX_NUMBER,
    TomlTable,
    build_value_error,
    make_choice_reader,
)

_MAX_NAME_LENGTH = 80
"""Maximum number of characters of a column's name."""


@dataclass(frozen=True, slots=True)
class NumericColumn:
    """A column of finite numbers from ``minimum`` to ``maximum``, both included."""

    name: str
    minimum: float
    maximum: float

    @property
    def example_cells(self) -> tuple[str, str]:
        """Two valid cells."""
        return f"{self.minimum:g}", f"{self.maximum:g}"


@dataclass(frozen=True, slots=True)
class CategoricalColumn:
    """A column of texts out of ``values``; an empty cell is valid if "" is among them."""

    name: str
    values: tuple[str, ...]

    @property
    def example_cells(self) -> tuple[str, str]:
        """Two valid cells."""
        return self.values[0], self.values[-1]


ColumnSchema = NumericColumn | CategoricalColumn


@dataclass(frozen=True, slots=True)
class TableSchema:
    """The columns in the order of the file."""

    columns: tuple[ColumnSchema, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def numeric(self) -> tuple[NumericColumn, ...]:
        return tuple(column for column in self.columns if isinstance(column, NumericColumn))

    @property
    def categorical(self) -> tuple[CategoricalColumn, ...]:
        return tuple(column for column in self.columns if isinstance(column, CategoricalColumn))

    @property
    def example_lines(self) -> tuple[tuple[str, ...], ...]:
        """First lines of an example table: the header and two rows."""
        rows = zip(*(column.example_cells for column in self.columns), strict=True)
        return (self.names, *rows)

    def select(self, *names: str) -> "TableSchema":
        """Return the schema of the named columns, in the order of the file."""
        return TableSchema(tuple(column for column in self.columns if column.name in names))


def parse_schema(table: TomlTable) -> TableSchema:
    """Parse ``NAME = {kind = "numeric", least = 0, most = 9}`` or ``{kind = "categorical", values = ["a"]}``.

    Columns keep their order in the file. InvalidCompetition names the invalid key.
    """
    columns = tuple(_parse_column(name, entry) for name, entry in table.take_tables())
    if not columns:
        raise build_value_error(table.path, Message("a table that names at least one column"))
    return TableSchema(columns)


def _parse_column(name: str, entry: TomlTable) -> ColumnSchema:
    if not name or len(name) > _MAX_NAME_LENGTH or CONTROL_CHARACTER.search(name):
        message = Message(
            "named by 1 to {most} characters, none of them a control character", most=_MAX_NAME_LENGTH
        )
        raise build_value_error(entry.path, message)
    column = (
        _parse_numeric(name, entry)
        if entry.take("kind", _parse_kind) == "numeric"
        else _parse_categorical(name, entry)
    )
    entry.reject_unknown_keys()
    return column


_parse_kind = make_choice_reader("numeric", "categorical")


def _parse_numeric(name: str, entry: TomlTable) -> NumericColumn:
    minimum = entry.take("least", _parse_finite_number)
    maximum = entry.take("most", _parse_finite_number)
    if minimum > maximum:
        raise build_value_error(entry.path_of("most"), Message("no less than {least}", least=minimum))
    return NumericColumn(name, minimum, maximum)


def _parse_categorical(name: str, entry: TomlTable) -> CategoricalColumn:
    return CategoricalColumn(name, entry.take("values", _parse_categories))


def _parse_finite_number(value: object, path: str) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not -MAX_NUMBER <= value <= MAX_NUMBER
    ):
        raise build_value_error(path, Message("a finite number"))
    return float(value)


def _parse_categories(value: object, path: str) -> tuple[str, ...]:
    """Parse the texts of a categorical column."""
    items = value if isinstance(value, list) else []
    texts = tuple(item for item in items if isinstance(item, str) and not CONTROL_CHARACTER.search(item))
    if not texts or len(texts) != len(items) or len(set(texts)) != len(texts):
        raise build_value_error(path, Message("a list of texts without control characters, no two the same"))
    return texts
