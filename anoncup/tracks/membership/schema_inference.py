"""Infer the columns of a membership contest from a table of candidates."""

from __future__ import annotations  # avoids an import cycle with rules

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from anoncup.errors import FileProblem, InvalidUpload
from anoncup.messages import Message
from anoncup.rules.toml_text import format_key, format_table
from anoncup.tables.csv_text import (
    Problems,
    decode_upload,
    parse_numbers,
    read_cells,
    read_header,
    text_columns,
)
from anoncup.tables.profile.identifiers import MAX_CATEGORIES, count_distinct_numbers
from anoncup.tracks.membership.schema import CategoricalColumn, ColumnSchema, NumericColumn
from anoncup.tracks.membership.settings import CANDIDATE_COLUMN, MembershipSettings, hidden_column_name

if TYPE_CHECKING:
    from anoncup.rules.model import Rules

_MAX_VALUES = 1_000
"""A categorical column with more values holds names or free text, in which hardly two rows are alike."""


def infer_settings(content: bytes, rules: Rules) -> str:
    """Return the table ``[membership]`` for candidates with other columns; the hidden column is unchanged."""
    text, _ = decode_upload(content, "candidates")
    header = read_header(text, "candidates")
    hidden_name = hidden_column_name(rules)
    hidden_columns = [
        schema_column
        for schema_column in rules.settings.schema.columns
        if schema_column.name == hidden_name and hidden_name not in header
    ]
    columns = [
        _infer_column(name, column) for name, column in text_columns(read_cells(text, header, "candidates"))
    ]
    return _write_settings(rules.settings, [*columns, *hidden_columns])


def _infer_column(name: str, column: pa.Array) -> ColumnSchema:
    """Return a numeric column if there are many distinct numbers, else a categorical one."""
    if (count_distinct_numbers(column) or 0) > MAX_CATEGORIES:
        values = parse_numbers(column, name, Problems("candidates"))
        return NumericColumn(name, float(values.min()), float(values.max()))
    texts: list[str] = sorted(pc.unique(column).to_pylist())
    if len(texts) > _MAX_VALUES:
        values_in_message: dict[str, str | int] = {
            "column": name[:80],
            "found": len(texts),
            "most": _MAX_VALUES,
        }
        message = Message(
            "the column {column!r} holds {found} different texts, and at most {most} are possible: "
            "leave it out, or put coarser values into it",
            **values_in_message,
        )
        raise InvalidUpload([FileProblem("candidates", None, name[:80], "header", message, 1)])
    if name == CANDIDATE_COLUMN or not texts:
        message = Message("the column {column!r} cannot be used in a membership contest", column=name[:80])
        raise InvalidUpload([FileProblem("candidates", None, name[:80], "header", message, 1)])
    return CategoricalColumn(name, tuple(texts))


def _write_settings(settings: MembershipSettings, columns: list[ColumnSchema]) -> str:
    scalars = {name: getattr(settings, name) for name in ("shared", "fewest_rows", "most_rows")}
    tables = [
        format_table(f"membership.columns.{format_key(column.name)}", _build_entry(column))
        for column in columns
    ]
    return "\n\n".join([format_table("membership", scalars), *tables])


def _build_entry(column: ColumnSchema) -> dict[str, object]:
    if isinstance(column, NumericColumn):
        return {"kind": "numeric", "least": column.minimum, "most": column.maximum}
    return {"kind": "categorical", "values": column.values}
