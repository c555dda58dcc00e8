"""The answer F and guesses of it: the pseudonym of every customer in every month.

Both are arrays of texts, (customers, months), in the order of M and of the months; ``DEL`` where there is
none. ``Named`` is such an array that can be written by itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anoncup.errors import InvalidInput
from anoncup.geometry.arrays import BoolArray, IntArray
from anoncup.geometry.encoding import texts
from anoncup.messages import Message
from anoncup.tables.csv_text import Problems, marks, table_csv, text_columns, unrepeated
from anoncup.tables.line_numbers import located
from anoncup.tracks.files import GUESS, SECRET
from anoncup.tracks.model import About, Sizes
from anoncup.tracks.monthly.files import DELETED
from anoncup.tracks.monthly.original import Original
from anoncup.tracks.monthly.release import PSEUDONYM, Release
from anoncup.tracks.outcomes import Outcome
from anoncup.tracks.transactions.tables import read_texts

Names = npt.NDArray[np.object_]


def answer_of(release: Release) -> Names:
    """F, (customers, months): what the kept rows of AT say, DEL where a customer has none in a month."""
    original, kept = release.original, release.records.kept
    found = no_names(original)
    found[original.person[kept], original.month[kept]] = release.kept_rows["customer"].to_numpy(dtype=object)
    return found


def no_names(original: Original) -> Names:
    """The guess that names nobody, (customers, months)."""
    return np.full((len(original.customers), len(original.months)), DELETED, dtype=object)


def parse_answer(content: bytes, release: Release) -> Names:
    """F as its team sent it. What is wrong there is named by row and column and never repeated."""

    def compare(columns: Mapping[str, pa.Array], people: IntArray, problems: Problems) -> None:
        expected = answer_of(release)[people]
        what = Message("does not agree with the release for this customer and month")
        for place, (month, column) in enumerate(columns.items()):
            wrong = marks(pc.not_equal(column, pa.array(expected[:, place], pa.string())))
            problems.add_rows(wrong, month, "not_the_release", what, cells=column)

    with unrepeated():
        return _parsed(content, release.original, SECRET, compare)


def parse_guess(content: bytes, original: Original) -> Names:
    """A guess: a file like F, its customers in any order. Any pseudonym may be named."""
    return _parsed(content, original, GUESS, lambda *_: None)


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """F or a guess: ``names`` (customers, months) of these customers in these months."""

    customers: tuple[str, ...]
    months: tuple[str, ...]
    names: Names


def named(original: Original, names: Names) -> Named:
    return Named(tuple(texts(original.customers, "customer")), original.months, names)


def read_answer(content: bytes, about: About) -> Named:
    """F from its file, held against the release where that is at hand."""
    original: Original = about.original()
    if about.release is None:
        with unrepeated():
            return named(original, _parsed(content, original, SECRET, lambda *_: None))
    return named(original, parse_answer(content, about.release))


def read_guess(content: bytes, about: About) -> Named:
    original: Original = about.original()
    return named(original, parse_guess(content, original))


def write(said: Named) -> bytes:
    """F or a guess as a file, customers in the order of M."""
    frame = pd.DataFrame(said.names, columns=list(said.months))
    frame.insert(0, "customer", list(said.customers))
    return table_csv(frame)


def check(answer: Named, sizes: Sizes) -> None:
    """InvalidInput unless it names every customer of an original of these sizes."""
    if len(answer.customers) != sizes["originals"]:
        raise InvalidInput(
            "the answer names {found} of {customers} customers",
            found=len(answer.customers),
            customers=sizes["originals"],
        )


def answered(guess: Named) -> int:
    """Of how many customers it names a pseudonym."""
    return int(np.count_nonzero((guess.names != DELETED).any(axis=1)))


def judge_named(guess: Named, answer: Named, sizes: Sizes) -> Outcome:
    """The share of customers all of whose months are right; see ``judge``."""
    check(guess, sizes)
    if (guess.customers, guess.months) != (answer.customers, answer.months):
        raise InvalidInput("the guess is about other customers or months")
    return judge(guess.names, answer.names)


def judge(guess: Names, answer: Names) -> Outcome:
    """The share of customers all of whose months equal F, in [0, 1]; nothing is taken off for chance."""
    correct = int(np.count_nonzero((guess == answer).all(axis=1)))
    return Outcome(correct / len(answer), correct=correct, trials=len(answer))


Check = Callable[[Mapping[str, pa.Array], IntArray, Problems], None]


def _parsed(content: bytes, original: Original, file: str, check: Check) -> Names:
    people, header = len(original.customers), ("customer", *original.months)
    with located({file: content}):
        problems = Problems(file)
        table, _ = read_texts(content, header, problems, people, people, required=())
        if table.num_rows != people:
            problems.check()
        columns = dict(text_columns(table))
        places = _people(columns.pop("customer"), original, problems)
        for month, column in columns.items():
            wrong = ~marks(pc.match_substring_regex(column, PSEUDONYM))
            what = Message("neither DEL nor a pseudonym of A-Z, a-z, 0-9, _ and -")
            problems.add_rows(wrong, month, "not_a_pseudonym", what, cells=column)
        problems.check()
        check(columns, places, problems)
        problems.check()
    found = no_names(original)
    for place, column in enumerate(columns.values()):
        found[places, place] = column.to_pylist()
    return found


def _people(column: pa.Array, original: Original, problems: Problems) -> IntArray:
    """The row of M of every line: each is there once."""
    ids = column.to_pandas()
    unknown: BoolArray = ~ids.isin(original.customers["customer"]).to_numpy()
    no_such = Message("this id is not in the customers table")
    problems.add_rows(unknown, "customer", "unknown_customer", no_such, cells=column)
    above = Message("the id is already used in a row above")
    repeated = ids.duplicated().to_numpy() & ~unknown
    problems.add_rows(repeated, "customer", "duplicate_customer", above, cells=column)
    places = {name: row for row, name in enumerate(texts(original.customers, "customer"))}
    return np.array([places.get(name, 0) for name in ids.tolist()], dtype=np.int64)
