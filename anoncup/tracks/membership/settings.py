"""The table ``[membership]`` of a competition file."""

from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from anoncup.errors import InvalidCompetition
from anoncup.messages import Message
from anoncup.rules.model import Rules
from anoncup.rules.parameters import Roles
from anoncup.rules.settings import count_required_rows
from anoncup.rules.toml_values import (
    CONTROL_CHARACTER,
    MAX_NUMBER,
    TomlTable,
    build_value_error,
    make_choice_reader,
    read_flag,
    read_number,
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


CANDIDATE_COLUMN = "candidate"
"""The column of a team's own file with the row number of the candidate."""
ATTRIBUTE_QUESTION = "attribute"
"""The name of the question about a hidden column."""


@dataclass(frozen=True, slots=True)
class MembershipSettings:
    """The settings of a membership contest.

    ``schema`` describes all columns of a member. ``shared``: several teams may have the same members.
    ``fewest_rows`` and ``most_rows`` limit the number of released rows, as multiples of the members' number.
    """

    schema: TableSchema
    shared: bool = False
    fewest_rows: float = 0.5
    most_rows: float = 2.0

    def compute_row_limits(self, candidate_count: int) -> tuple[int, int]:
        """Return the smallest and largest number of rows of a release for this number of candidates."""
        member_count = candidate_count // 2
        min_rows = max(1, count_required_rows(self.fewest_rows, member_count))
        return min_rows, max(min_rows, int(Fraction(repr(self.most_rows)) * member_count))


def read_settings(table: TomlTable) -> MembershipSettings:
    """Parse the table ``[membership]``; InvalidCompetition names the invalid key."""
    columns = table.take_table("columns")
    schema = parse_schema(columns)
    if CANDIDATE_COLUMN in schema.names:
        raise build_value_error(
            columns.path_of(CANDIDATE_COLUMN),
            Message("a column with another name, because this one says who is a member"),
        )
    default = MembershipSettings(schema)
    settings = MembershipSettings(
        schema,
        table.take("shared", read_flag, default.shared),
        table.take("fewest_rows", read_number, default.fewest_rows),
        table.take("most_rows", read_number, default.most_rows),
    )
    if settings.most_rows < settings.fewest_rows:
        raise build_value_error(
            table.path_of("most_rows"), Message("no less than {least}", least=settings.fewest_rows)
        )
    table.reject_unknown_keys()
    return settings


def get_settings(rules: Rules) -> MembershipSettings:
    """Return the settings that ``read_settings`` has read."""
    return cast(MembershipSettings, rules.settings)


def list_columns_by_role(_: object, settings: object) -> Roles:
    """Return all columns, the numeric and the categorical ones, for parameters that name columns."""
    schema = cast(MembershipSettings, settings).schema
    return {
        "columns": schema.names,
        "numeric": tuple(column.name for column in schema.numeric),
        "categorical": tuple(column.name for column in schema.categorical),
    }


def get_hidden_column_name(rules: Rules) -> str | None:
    """Return the name of the hidden column; None if the competition has none."""
    if ATTRIBUTE_QUESTION not in rules.questions:
        return None
    first_name = get_settings(rules).schema.names[0]
    return str(rules.questions[ATTRIBUTE_QUESTION].get("hidden", first_name))


def get_hidden_schema(rules: Rules) -> TableSchema:
    """Return the schema of the hidden column, which the competition must have."""
    return get_settings(rules).schema.select(str(get_hidden_column_name(rules)))


def get_public_schema(rules: Rules) -> TableSchema:
    """Return the schema of the public columns of a candidate."""
    schema = get_settings(rules).schema
    hidden_name = get_hidden_column_name(rules)
    return schema.select(*(name for name in schema.names if name != hidden_name))


def check_rules(rules: Rules) -> None:
    """Raise InvalidCompetition if candidates have no column other than the hidden one."""
    if not get_public_schema(rules).columns:
        raise InvalidCompetition(
            "{key}: candidates need a column beside {column}, which is hidden",
            code="wrong_value",
            key=f"questions.{ATTRIBUTE_QUESTION}.hidden",
            column=get_hidden_column_name(rules),
        )
