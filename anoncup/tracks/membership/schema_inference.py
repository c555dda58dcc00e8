"""Infer the columns of a membership contest from a table of candidates."""

import pyarrow as pa
import pyarrow.compute as pc

from anoncup.errors import FileProblem, InvalidUpload
from anoncup.messages import Message
from anoncup.rules.model import Rules
from anoncup.rules.toml_text import format_key, format_table
from anoncup.tables.csv_text import (
    Problems,
    decode_upload,
    iterate_text_columns,
    parse_numbers,
    read_cells,
    read_header,
)
from anoncup.tables.profile.identifiers import MAX_CATEGORIES, count_distinct_numbers
from anoncup.tracks.membership.schema import CategoricalColumn, ColumnSchema, NumericColumn
from anoncup.tracks.membership.settings import (
    CANDIDATE_COLUMN,
    MembershipSettings,
    get_hidden_column_name,
    get_settings,
)

_MAX_CATEGORY_VALUES = 1_000
"""A categorical column with more values holds names or free text, where hardly any two rows are equal."""


def infer_settings(content: bytes, rules: Rules) -> str:
    """Return the table ``[membership]`` as TOML for candidates with other columns than it states.

    The hidden column keeps its entry.
    """
    text, _ = decode_upload(content, "candidates")
    header = read_header(text, "candidates")
    hidden_name = get_hidden_column_name(rules)
    hidden_columns = [
        schema_column
        for schema_column in get_settings(rules).schema.columns
        if schema_column.name == hidden_name and hidden_name not in header
    ]
    columns = [
        _infer_column(name, column)
        for name, column in iterate_text_columns(read_cells(text, header, "candidates"))
    ]
    return _write_settings(get_settings(rules), [*columns, *hidden_columns])


def _infer_column(name: str, column: pa.Array) -> ColumnSchema:
    """Return a numeric column if there are many distinct numbers, else a categorical one."""
    if (count_distinct_numbers(column) or 0) > MAX_CATEGORIES:
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
