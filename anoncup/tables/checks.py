"""Checks of rows and cells that all tracks share."""

import pyarrow as pa

from anoncup.messages import Message, PluralMessage
from anoncup.tables.csv_text import Problems


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
