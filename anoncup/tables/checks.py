"""Checks of rows and cells that all tracks share."""

import re

import pandas as pd
import pyarrow as pa

from anoncup.messages import Message, PluralMessage
from anoncup.tables.csv_text import NUMBER_PATTERN, Problems
from anoncup.tables.files import Remark


def check_row_count(table: pa.Table, problems: Problems, *, minimum: int, maximum: int) -> None:
    if not minimum <= table.num_rows <= maximum:
        sizes = {"found": table.num_rows, "fewest": minimum, "most": maximum}
        message = PluralMessage(
            "the table has {found} row; {fewest} to {most} are possible",
            "the table has {found} rows; {fewest} to {most} are possible",
            "found",
            **sizes,
        )
        shortage_code = "too_few_rows" if table.num_rows else "no_rows"
        problems.add("too_many_rows" if table.num_rows > maximum else shortage_code, message)


def build_duplicate_name_message(name: str) -> Message:
    return Message("the header names {name!r} twice", name=name[:80])


def is_respelled(table: pd.DataFrame, original: pd.DataFrame, name: str) -> bool:
    """Return whether a column spells some numbers in another way than the original (``1.0`` for ``1``)."""
    original_values = set(original[name].unique())
    new_values = set(table[name].unique()) - original_values
    if not new_values:
        return False
    original_numbers = {float(value) for value in original_values if re.match(NUMBER_PATTERN, value)}
    return any(re.match(NUMBER_PATTERN, value) and float(value) in original_numbers for value in new_values)


def build_respelled_remark(name: str) -> Remark:
    message = Message(
        "{name}: some numbers are spelled differently from the original's (such as 1.0 for 1); "
        "quasi-identifiers are compared as text, so these cells count as changed",
        name=name,
    )
    return Remark("respelled", message)
