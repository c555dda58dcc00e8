"""Check of a CSV file's header line."""

from collections.abc import Sequence

from anoncup.errors import MAX_VALUE_LENGTH
from anoncup.messages import Message, PluralMessage
from anoncup.tables.csv_text import Problems
from anoncup.tables.foreign_formats import explain_header


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
