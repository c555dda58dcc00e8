"""Checks of rows and cells that all tracks share."""

import re

import pandas as pd
import pyarrow as pa

from anoncup.messages import Counted, Message
from anoncup.tables.csv_text import NUMBER, Problems
from anoncup.tables.files import Remark


def check_rows(table: pa.Table, problems: Problems, *, fewest: int, most: int) -> None:
    if not fewest <= table.num_rows <= most:
        sizes = {"found": table.num_rows, "fewest": fewest, "most": most}
        message = Counted(
            "the table has {found} row; {fewest} to {most} are possible",
            "the table has {found} rows; {fewest} to {most} are possible",
            "found",
            **sizes,
        )
        few = "too_few_rows" if table.num_rows else "no_rows"
        problems.add("too_many_rows" if table.num_rows > most else few, message)


def named_twice(name: str) -> Message:
    return Message("the header names {name!r} twice", name=name[:80])


def is_respelled(table: pd.DataFrame, original: pd.DataFrame, name: str) -> bool:
    """Whether values are new as text but equal values of the original as numbers (``1.0`` for ``1``)."""
    known = set(original[name].unique())
    new = set(table[name].unique()) - known
    if not new:
        return False
    amounts = {float(value) for value in known if re.match(NUMBER, value)}
    return any(re.match(NUMBER, value) and float(value) in amounts for value in new)


def respelled(name: str) -> Remark:
    message = Message(
        "{name}: some numbers are spelled differently from the original's (such as 1.0 for 1); "
        "quasi-identifiers are compared as text, so these cells count as changed",
        name=name,
    )
    return Remark("respelled", message)
