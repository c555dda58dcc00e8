"""Checks of headers and rows that all tracks share."""

from collections.abc import Sequence

import pyarrow as pa

from anoncup.errors import MAX_VALUE_LENGTH
from anoncup.messages import Message, PluralMessage
from anoncup.tables.csv_text import Problems
from anoncup.tables.foreign_formats import explain_header


def check_row_count(table: pa.Table, problems: Problems, *, minimum: int, maximum: int) -> None:
    if not minimum <= table.num_rows <= maximum:
        sizes = {"found": table.num_rows, "fewest": minimum, "most": maximum}
        message = (
            PluralMessage(
                "the table has {found} row instead of {most}",
                "the table has {found} rows instead of {most}",
                "found",
                **sizes,
            )
            if minimum == maximum
            else PluralMessage(
                "the table has {found} row; {fewest} to {most} are possible",
                "the table has {found} rows; {fewest} to {most} are possible",
                "found",
                **sizes,
            )
        )
        shortage_code = "too_few_rows" if table.num_rows else "no_rows"
        problems.add("too_many_rows" if table.num_rows > maximum else shortage_code, message)


def build_duplicate_name_message(name: str) -> Message:
    return Message("the header names {name!r} twice", name=name[:80])


def check_header(header: Sequence[str], expected: Sequence[str], file: str) -> None:
    """Raise InvalidUpload unless the names are as expected. Typical mistakes are explained."""
    problems = Problems(file)
    explanation = explain_header(header, expected)
    if explanation:
        problems.add("header", explanation, line=1)
        problems.raise_if_any()
    if len(header) != len(expected):
        sizes = {"found": len(header), "needed": len(expected)}
        message = PluralMessage(
            "the header has {found} column instead of {needed}",
            "the header has {found} columns instead of {needed}",
            "found",
            **sizes,
        )
        problems.add("header", message, line=1)
    for number, (cell, name) in enumerate(zip(header, expected, strict=False), 1):
        if cell != name:
            shown_cell = cell[:MAX_VALUE_LENGTH]
            mismatch = Message(
                "column {place} is {found!r}; it must be {name!r}", place=number, found=shown_cell, name=name
            )
            problems.add("header", mismatch, column=name, line=1, value=shown_cell)
    problems.raise_if_any()
