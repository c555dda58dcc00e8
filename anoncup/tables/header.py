"""The header line of a CSV file: which columns it names, and which it must."""

from collections.abc import Sequence

from anoncup.errors import LONGEST_VALUE
from anoncup.messages import Counted, Message
from anoncup.tables.csv_text import Problems
from anoncup.tables.foreign_formats import habit_of


def check_header(header: Sequence[str], expected: Sequence[str], file: str) -> None:
    """InvalidUpload unless they are the same; a habit of the program that wrote the file is named as such."""
    problems = Problems(file)
    habit = habit_of(header, expected)
    if habit:
        problems.add("header", habit, line=1)
        problems.check()
    if len(header) != len(expected):
        sizes = {"found": len(header), "needed": len(expected)}
        message = Counted(
            "the header has {found} column instead of {needed}",
            "the header has {found} columns instead of {needed}",
            "found",
            **sizes,
        )
        problems.add("header", message, line=1)
    for place, (found, name) in enumerate(zip(header, expected, strict=False), 1):
        if found != name:
            said = found[:LONGEST_VALUE]
            wrong = Message(
                "column {place} is {found!r}; it must be {name!r}", place=place, found=said, name=name
            )
            problems.add("header", wrong, column=name, line=1, value=said)
    problems.check()
