"""Infer the columns of a membership contest from a table of candidates."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from anoncup.errors import FileProblem, InvalidUpload
from anoncup.messages import Message
from anoncup.rules.model import Rules
from anoncup.rules.toml_text import format_key, format_table
from anoncup.tables.csv_text import (
    Problems,
    iterate_text_columns,
    parse_numbers,
    read_cells,
    read_header,
)
from anoncup.tables.identifiers import MAX_CATEGORIES, count_distinct_numbers, find_identifying_reason
from anoncup.tracks.membership.settings import (
    CANDIDATE_COLUMN,
    CategoricalColumn,
    ColumnSchema,
    MembershipSettings,
    NumericColumn,
    get_hidden_column_name,
    get_public_schema,
    get_settings,
)

_MAX_CATEGORY_VALUES = 1_000
"""A categorical column with more values holds names or free text, where hardly any two rows are equal."""


def suggest_roles(content: bytes, rules: Rules) -> dict[str, str]:
    """Suggest the kind of each column of a table of candidates.

    The columns of the competition file keep their kinds. Of others, those that identify individuals are left
    out, and those with many distinct numbers are numeric.
    """
    columns = _read_columns(content)
    stored_kinds = _list_kinds(rules)
    if stored_kinds.keys() == columns.keys():
        return stored_kinds
    return {
        name: ""
        if find_identifying_reason(name, column, pc.unique(column))
        else "numeric"
        if (count_distinct_numbers(column) or 0) > MAX_CATEGORIES
        else "categorical"
        for name, column in columns.items()
    }


def infer_settings(content: bytes, roles: Mapping[str, str], rules: Rules) -> str:
    """Return the table ``[membership]`` as TOML for candidates with columns of these kinds.

    Columns with the names and kinds of the competition file keep all entries. The hidden column keeps its
    entry in any case.
    """
    columns, settings = _read_columns(content), get_settings(rules)
    if roles == _list_kinds(rules):
        return _write_settings(settings, list(settings.schema.columns))
    hidden_name = get_hidden_column_name(rules)
    hidden_columns = [
        schema_column
        for schema_column in settings.schema.columns
        if schema_column.name == hidden_name and hidden_name not in columns
    ]
    new_columns = [_infer_column(name, column, roles[name]) for name, column in columns.items()]
    return _write_settings(settings, [*new_columns, *hidden_columns])


def _read_columns(content: bytes) -> dict[str, pa.Array]:
    table = read_cells(content, read_header(content, "candidates"), "candidates")
    return dict(iterate_text_columns(table))


def _list_kinds(rules: Rules) -> dict[str, str]:
    """Return the kinds of the public columns in the competition file."""
    return {
        column.name: "numeric" if isinstance(column, NumericColumn) else "categorical"
        for column in get_public_schema(rules).columns
    }


def _infer_column(name: str, column: pa.Array, kind: str) -> ColumnSchema:
    """Return a numeric column with its range, or a categorical one with its values."""
    if kind == "numeric":
        problems = Problems("candidates")
        values = parse_numbers(column, name, problems)
        problems.raise_if_any()
        return NumericColumn(name, float(values.min()), float(values.max()))
    texts: list[str] = sorted(pc.unique(column).to_pylist())
    if len(texts) > _MAX_CATEGORY_VALUES:
        message_values: dict[str, str | int] = {
            "column": name[:80],
            "found": len(texts),
            "most": _MAX_CATEGORY_VALUES,
        }
        message = Message(
            "the column {column!r} holds {found} different texts, and at most {most} are possible: "
            "leave it out, or put coarser values into it",
            **message_values,
        )
        raise InvalidUpload([FileProblem("candidates", None, name[:80], "header", message, 1)])
    if name == CANDIDATE_COLUMN or not texts:
        message = Message("the column {column!r} cannot be used in a membership contest", column=name[:80])
        raise InvalidUpload([FileProblem("candidates", None, name[:80], "header", message, 1)])
    return CategoricalColumn(name, tuple(texts))


def _write_settings(settings: MembershipSettings, columns: list[ColumnSchema]) -> str:
    scalars = {name: getattr(settings, name) for name in ("shared", "fewest_rows", "most_rows")}
    tables = [
        format_table(f"membership.columns.{format_key(column.name)}", _build_column_entry(column))
        for column in columns
    ]
    return "\n\n".join([format_table("membership", scalars), *tables])


def _build_column_entry(column: ColumnSchema) -> dict[str, object]:
    if isinstance(column, NumericColumn):
        return {"kind": "numeric", "least": column.minimum, "most": column.maximum}
    return {"kind": "categorical", "values": column.values}
