"""Who a team's members are: drawn by the service, and the answer to every question.

The file ``members``: ``candidate``, which row of the candidates it is, counted from 1, and all columns of the
member, in the order of the candidates. Truth that organizers hold, ``hidden``: the hidden column of all
candidates, in their order.
"""

from __future__ import annotations  # rules know their tracks

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from anoncup.errors import InvalidInput
from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.messages import Message
from anoncup.tables.csv_text import Problems, table_csv, unrepeated
from anoncup.tracks.membership.allocation import half
from anoncup.tracks.membership.schema import Numeric, Schema
from anoncup.tracks.membership.settings import PLACE, hidden_of, hidden_schema
from anoncup.tracks.membership.tables import Original, Table, frame, parse_rows
from anoncup.tracks.model import About, Files, Sizes
from anoncup.tracks.parts import Method

if TYPE_CHECKING:
    from anoncup.rules.model import Rules

MEMBERS, HIDDEN = "members", "hidden"
"""The files."""


@dataclass(frozen=True, slots=True)
class Members:
    """``rows`` (N,): which candidates they are, ascending from 0; ``table``: all of their columns.

    ``hidden``: the hidden column of all candidates, (2N rows), where it is at hand. ``original``: the public
    tables they come from.
    """

    rows: IntArray
    table: Table
    hidden: Table | None = None
    original: Original | None = None

    @property
    def among(self) -> BoolArray:
        """Which of the candidates are members, (2N,)."""
        found = np.zeros(2 * len(self.rows), dtype=bool)
        found[self.rows] = True
        return found


def read(content: bytes, about: About) -> Members:
    """A team's own file, held against the candidates; nothing of it is repeated."""
    original: Original = about.original()
    with unrepeated():
        found = parse_members(content, original.candidates, about.rules.settings.schema)
    return replace(found, hidden=hidden_in(about.truth, original, about.rules), original=original)


def parse_members(content: bytes, candidates: Table, schema: Schema) -> Members:
    """Half of the candidates, each once and in their order, with the values that everybody knows of them."""
    place = Numeric(PLACE, 1, candidates.rows)
    count = candidates.rows // 2
    table, _ = parse_rows(content, Schema((place, *schema.columns)), file=MEMBERS, fewest=count, most=count)
    rows = table.numbers[:, 0]
    problems = Problems(MEMBERS)
    wrong = (rows != np.floor(rows)) | (np.diff(rows, prepend=0) <= 0)
    add(problems, wrong, PLACE, "not_a_row_number", Message("not the number of a later candidate"))
    problems.check()
    found = Members(rows.astype(np.int64) - 1, Table(schema, table.numbers[:, 1:], table.codes))
    check_known(found, candidates, problems)
    return found


def check_known(found: Members, candidates: Table, problems: Problems) -> None:
    """What the candidates tell of a member is what its row says."""
    names = candidates.schema.names
    told, known = frame(found.table.only(*names)), frame(candidates.at(found.rows))
    for name in names:
        differ = told[name].to_numpy() != known[name].to_numpy()
        add(problems, differ, name, "not_the_original", Message("not the value of this candidate"))
    problems.check()


def add(problems: Problems, bad: BoolArray, column: str, code: str, what: Message) -> None:
    """A problem for every marked row, which says nothing of what stands there."""
    for row in np.flatnonzero(bad).tolist():
        message = Message("{column}, row {row}: {what}", column=column, row=row + 1, what=what)
        problems.add(code, message, row=row + 1, column=column)


def write(members: Members) -> bytes:
    """The team's own file."""
    table = frame(members.table)
    table.insert(0, PLACE, members.rows + 1)
    return table_csv(table)


def check(members: Members, sizes: Sizes) -> None:
    """InvalidInput unless they are half of so many candidates."""
    found, candidates = len(members.rows), sizes["originals"]
    if 2 * found != candidates:
        raise InvalidInput(
            "{found} members are not half of {candidates} candidates", found=found, candidates=candidates
        )


def make(
    original: Original, truth: Files, rules: Rules, generator: Callable[[str], Generator]
) -> dict[str, bytes]:
    """A team's members, drawn as ``assignment`` says."""
    rows = np.flatnonzero(half(generator(MEMBERS), original.rows))
    hidden = hidden_in(truth, original, rules)
    if hidden is None and hidden_of(rules) is not None:
        raise InvalidInput("the file {name} is needed, and it is not there", name=HIDDEN)
    return {MEMBERS: write(chosen(original, rows, hidden, rules))}


def chosen(original: Original, rows: IntArray, hidden: Table | None, rules: Rules) -> Members:
    """Some of the candidates with all of their columns."""
    table = (
        original.candidates if hidden is None else joined(original.candidates, hidden, rules.settings.schema)
    )
    return Members(rows, table.at(rows), hidden, original)


def anonymize(
    method: Method,
    original: Original,
    rules: Rules,
    rng: Generator,
    parameters: Mapping[str, Any],
    *,
    answer: Members | None = None,
) -> tuple[Table, Members]:
    """A release of the members; where nobody says who they are, of some that are drawn to try it."""
    members = answer or tried(original, rules, rng)
    released: Any = method.apply(members.table, rng=rng, **parameters)
    return released, members


def tried(original: Original, rules: Rules, rng: Generator) -> Members:
    """Members drawn here, for want of a service; a hidden column is invented."""
    rows = np.flatnonzero(half(rng, original.rows))
    if hidden_of(rules) is None:
        return chosen(original, rows, None, rules)
    schema = hidden_schema(rules)
    numbers = [rng.choice([each.least, each.most], original.rows) for each in schema.numeric]
    codes = [rng.integers(0, len(each.values), original.rows) for each in schema.categorical]
    return chosen(original, rows, table_of(schema, numbers, codes, original.rows), rules)


def joined(table: Table, other: Table, schema: Schema) -> Table:
    """The columns of both beside one another, in the order of the schema."""
    numbers = {
        column.name: each.numbers[:, place]
        for each in (table, other)
        for place, column in enumerate(each.schema.numeric)
    }
    codes = {
        column.name: each.codes[:, place]
        for each in (table, other)
        for place, column in enumerate(each.schema.categorical)
    }
    found = [numbers[each.name] for each in schema.numeric]
    return table_of(schema, found, [codes[each.name] for each in schema.categorical], table.rows)


def table_of(schema: Schema, numbers: Sequence[FloatArray], codes: Sequence[IntArray], rows: int) -> Table:
    """Of its columns, each (rows,)."""
    none = np.empty((rows, 0), dtype=np.int64)
    return Table(
        schema, np.column_stack([none.astype(np.float64), *numbers]), np.column_stack([none, *codes])
    )


def hidden_in(truth: Files, original: Original, rules: Rules) -> Table | None:
    """The hidden column of all candidates, where one is asked for and the file is at hand."""
    if hidden_of(rules) is None or HIDDEN not in truth:
        return None
    return parse_hidden(truth[HIDDEN], original, rules)


def parse_hidden(content: bytes, original: Original, rules: Rules) -> Table:
    with unrepeated():
        return parse_rows(
            content, hidden_schema(rules), file=HIDDEN, fewest=original.rows, most=original.rows
        )[0]


def check_truth(name: str, content: bytes, original: Original, rules: Rules) -> None:  # noqa: ARG001
    """InvalidUpload if it is not the hidden column of these candidates."""
    parse_hidden(content, original, rules)
