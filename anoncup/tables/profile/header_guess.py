"""The header line of a table that organizers bring: whether it is one, and how it could be made right."""

import csv
import io
import re
import unicodedata
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from anoncup.errors import InvalidUpload, Problem
from anoncup.messages import Message
from anoncup.tables.csv_text import CONTROL, NUMBER, cells, decoded, header_of, table_csv, text_columns
from anoncup.tables.profile.model import Naming

LOOKED_AT = 200
"""Rows below the first line that it is held against."""
SHOWN = 3
LONGEST_NAME = 80
BLANKS = re.compile(r"[\s_\-\u200b-\u200d\u2060\ufeff]+")
LINE_END = re.compile(rb"\r\n|\n|\r")


def naming(content: bytes, file: str, required: Sequence[str] | None, known: Sequence[str] = ()) -> Naming:
    """``required``: the columns that the file must have; ``known``: those of the competition, if it may have
    others."""
    first, *below = beginning(decoded(content, file)[0], file)
    wanted = known if required is None and alike(first, known) else required or ()
    is_data = looks_like_data(first, below) and not is_named(first, required or known)
    names = proposed(first, wanted, is_data=is_data)
    respelled = not is_data and names != tuple(first) and spelled_alike(first, names)
    return Naming(tuple(first), is_data, names, respelled, tuple(map(tuple, below[:SHOWN])))


def beginning(text: bytes, file: str) -> list[list[str]]:
    """The first line, then rows below it as far as they can be read."""
    rows = [header_of(text, file)]
    line = LINE_END.search(text)
    rest = text[line.end() : line.end() + (1 << 20)] if line else b""
    try:
        for row in csv.reader(io.StringIO(rest.decode(errors="ignore"), newline=""), strict=True):
            rows.append(row)
            if len(rows) > LOOKED_AT:
                break
    except csv.Error:
        pass  # what cannot be read is told when the whole file is
    return rows


def looks_like_data(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a line could be one more row: in columns of numbers it has numbers, and nothing speaks for
    names; or one of its words stands in the same column again.

    >>> looks_like_data(["31", "f"], [["40", "m"], ["23", "f"]])
    True
    >>> looks_like_data(["age", "sex"], [["40", "m"], ["23", "f"]])
    False
    """
    votes = [
        vote(cell, [row[place] for row in below if place < len(row)]) for place, cell in enumerate(first)
    ]
    return "name" not in votes and "row" in votes


def vote(cell: str, column: Sequence[str]) -> str:
    """What a cell of the first line looks like beside those below it."""
    filled = [each for each in column if each]
    if not cell or not filled:
        return ""
    if all(re.match(NUMBER, each) for each in filled):
        return "row" if re.match(NUMBER, cell) else "name"
    return "row" if cell in filled else ""


def spelled(name: str) -> str:
    """What is left of a name without capitals, blanks, full width and signs that nobody sees."""
    return BLANKS.sub("", unicodedata.normalize("NFKC", name)).casefold()


def spelled_alike(some: Sequence[str], others: Sequence[str]) -> bool:
    return [spelled(name) for name in some] == [spelled(name) for name in others]


def alike(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether they are the same names in any order, however they are spelled."""
    return sorted(map(spelled, some)) == sorted(map(spelled, others))


def is_named(first: Sequence[str], wanted: Sequence[str]) -> bool:
    return bool({spelled(name) for name in first} & {spelled(name) for name in wanted})


def proposed(found: Sequence[str], wanted: Sequence[str], *, is_data: bool) -> tuple[str, ...]:
    """A name for each column, none twice: the wanted ones, by their spelling, then by their place."""
    by_spelling = {spelled(name): name for name in wanted}
    names = ["" if is_data else by_spelling.pop(spelled(cell), "") for cell in found]
    left = iter([name for name in wanted if name not in names])
    if is_data or len(found) == len(wanted):
        names = [name or next(left, "") for name in names]
    own = ["" if is_data else cell.replace("\ufeff", "").strip() for cell in found]
    taken: list[str] = []
    for place, (name, cell) in enumerate(zip(names, own, strict=True), 1):
        said = name or re.sub(CONTROL, "", cell)[:LONGEST_NAME]
        taken.append(unlike(said, place, (*taken, *filter(None, names[place:]))))
    return tuple(taken)


def unlike(name: str, place: int, others: Sequence[str]) -> str:
    """The name, or one by its place if it is empty or taken."""
    if name and name not in others:
        return name
    number = next(
        number for number in range(place, place + len(others) + 1) if f"column_{number}" not in others
    )
    return f"column_{number}"


def check_names(names: Sequence[str], file: str) -> None:
    """Refuses names that no table can have."""
    for place, name in enumerate(names, 1):
        if not name.strip() or len(name) > LONGEST_NAME or re.search(CONTROL, name):
            needed = {"place": place, "most": LONGEST_NAME}
            message = Message("column {place}: a name of 1 to {most} characters is needed", **needed)
            raise InvalidUpload([Problem(file, None, None, "header", message, 1)])
        if name in names[: place - 1]:
            message = Message("the header names {name!r} twice", name=name)
            raise InvalidUpload([Problem(file, None, name, "header", message, 1)])


def check_first_line(content: bytes, file: str, known: Sequence[str]) -> None:
    """Refuses a file that begins with a row: one finding in place of one for each of its cells.

    ``known``: names that some column may have; a line with one of them is a header.
    """
    if naming(content, file, None, known).is_data:
        message = Message("the first line looks like data, not like names of columns")
        raise InvalidUpload([Problem(file, None, None, "no_header", message, 1)])


def with_names(content: bytes, names: Sequence[str], file: str, *, first_is_data: bool) -> bytes:
    """The file in UTF-8 under these names; the line that it began with stays as a row, or goes."""
    check_names(names, file)
    text, _ = decoded(content, file)
    line = LINE_END.search(text)
    rest = text if first_is_data else text[line.end() :] if line else b""
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerow(names)
    return written.getvalue().encode() + rest


def arranged(content: bytes, sources: Mapping[str, int | str], file: str, *, first_is_data: bool) -> bytes:
    """A table of these columns in this order: each is one of the file, by its place from 0, or holds the same
    text in every row."""
    text, _ = decoded(content, file)
    places = [str(place) for place in range(len(header_of(text, file)))]
    table = cells(",".join(places).encode() + b"\n" + text if first_is_data else text, places, file)
    columns = [
        table.column(source) if isinstance(source, int) else pa.array([source] * table.num_rows, pa.string())
        for source in sources.values()
    ]
    return table_csv(pa.table(columns, names=list(sources)).to_pandas())


def without(content: bytes, left_out: Sequence[str], file: str) -> bytes:
    """The table without some of its columns, every other cell as it was."""
    text, _ = decoded(content, file)
    header = header_of(text, file)
    table = cells(text, header, file)
    return table_csv(table.select([name for name in header if name not in left_out]).to_pandas())


def with_zeros(content: bytes, filled: Sequence[str], file: str) -> bytes:
    """Return the table with 0 in those cells of some columns that hold no number."""
    text, _ = decoded(content, file)
    table = cells(text, header_of(text, file), file)
    for place, (name, column) in enumerate(text_columns(table)):
        if name in filled:
            numbers = pc.match_substring_regex(column, NUMBER)
            table = table.set_column(place, name, pc.if_else(numbers, column, "0"))
    return table_csv(table.to_pandas())
