"""The columns of a membership contest, read off a table of candidates."""

from __future__ import annotations  # rules know their tracks

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from anoncup.errors import InvalidUpload, Problem
from anoncup.messages import Message
from anoncup.rules.toml_text import key_text, table_text
from anoncup.tables.csv_text import Problems, cells, decoded, header_of, numbers, text_columns
from anoncup.tables.profile.identifiers import AMOUNTS, amounts
from anoncup.tracks.membership.schema import Categorical, Column, Numeric
from anoncup.tracks.membership.settings import PLACE, Settings, hidden_of

if TYPE_CHECKING:
    from anoncup.rules.model import Rules

MOST_VALUES = 1_000
"""Of a categorical column: more are names or texts, in which nobody is like anybody."""


def fitted(content: bytes, rules: Rules) -> str:
    """The table ``[membership]`` for candidates of other columns; the hidden column stays as it is stated."""
    text, _ = decoded(content, "candidates")
    header = header_of(text, "candidates")
    hidden = hidden_of(rules)
    known = [one for one in rules.settings.schema.columns if one.name == hidden and hidden not in header]
    found = [column_of(name, column) for name, column in text_columns(cells(text, header, "candidates"))]
    return written(rules.settings, [*found, *known])


def column_of(name: str, column: pa.Array) -> Column:
    """Numbers of many values lie between the least and the largest; all else is one of what occurs."""
    if (amounts(column) or 0) > AMOUNTS:
        values = numbers(column, name, Problems("candidates"))
        return Numeric(name, float(values.min()), float(values.max()))
    texts: list[str] = sorted(pc.unique(column).to_pylist())
    if len(texts) > MOST_VALUES:
        held: dict[str, str | int] = {"column": name[:80], "found": len(texts), "most": MOST_VALUES}
        message = Message(
            "the column {column!r} holds {found} different texts, and at most {most} are possible: "
            "leave it out, or put coarser values into it",
            **held,
        )
        raise InvalidUpload([Problem("candidates", None, name[:80], "header", message, 1)])
    if name == PLACE or not texts:
        message = Message("the column {column!r} cannot be used in a membership contest", column=name[:80])
        raise InvalidUpload([Problem("candidates", None, name[:80], "header", message, 1)])
    return Categorical(name, tuple(texts))


def written(settings: Settings, columns: list[Column]) -> str:
    own = {name: getattr(settings, name) for name in ("shared", "fewest_rows", "most_rows")}
    tables = [table_text(f"membership.columns.{key_text(one.name)}", entry_of(one)) for one in columns]
    return "\n\n".join([table_text("membership", own), *tables])


def entry_of(column: Column) -> dict[str, object]:
    if isinstance(column, Numeric):
        return {"kind": "numeric", "least": column.least, "most": column.most}
    return {"kind": "categorical", "values": column.values}
