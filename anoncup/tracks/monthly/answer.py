"""Answers and guesses of the monthly track: the pseudonym of every customer in every month.

Customers and months have the order of the original; DEL means that there is no pseudonym. The competition's
papers call the answer F and the released table of transactions AT.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anoncup.errors import InvalidInput
from anoncup.geometry.arrays import IntArray
from anoncup.geometry.encoding import factorize, get_column_texts
from anoncup.messages import Message
from anoncup.tables.csv_text import Problems, convert_to_mask, iterate_text_columns, redact_values, write_csv
from anoncup.tables.line_numbers import add_line_numbers
from anoncup.tracks.files import GUESS_FILE, SECRET_FILE
from anoncup.tracks.model import ReleaseContext, Sizes
from anoncup.tracks.monthly.files import DELETED_MARK
from anoncup.tracks.monthly.original import MonthlyOriginal
from anoncup.tracks.monthly.release import PSEUDONYM_PATTERN, MonthlyRelease
from anoncup.tracks.outcomes import Outcome
from anoncup.tracks.transactions.tables import add_repeated_ids, add_unknown_ids, read_text_table

PseudonymArray = npt.NDArray[np.object_]


@dataclass(frozen=True, slots=True, eq=False)
class PseudonymTable:
    """F or a guess of it."""

    customers: tuple[str, ...]
    """The ids of M, in its order."""
    months: tuple[str, ...]
    """The months of T as ``YYYY-MM``, ascending."""
    pseudonyms: PseudonymArray
    """The text of each customer and month, ``DEL`` if there is none. (customers, months)"""


def make_empty_guess(original: MonthlyOriginal) -> PseudonymTable:
    """Return a guess without any pseudonym."""
    customers = tuple(get_column_texts(original.customers, "customer"))
    pseudonyms = np.full((len(customers), len(original.months)), DELETED_MARK, dtype=object)
    return PseudonymTable(customers, original.months, pseudonyms)


def extract_answer(release: MonthlyRelease) -> PseudonymTable:
    """Return the answer from the kept rows of the release."""
    original, is_kept, answer = release.original, release.records.is_kept, make_empty_guess(release.original)
    answer.pseudonyms[original.customer_row[is_kept], original.month_index[is_kept]] = release.kept_rows[
        "customer"
    ].to_numpy(dtype=object)
    return answer


def read_answer(content: bytes, context: ReleaseContext[MonthlyOriginal, MonthlyRelease]) -> PseudonymTable:
    """Parse F and check it against the release, if there is one; errors name no cell."""
    expected = None if context.release is None else extract_answer(context.release)
    with redact_values():
        return _parse_pseudonyms(content, context.original(), SECRET_FILE, expected)


def read_guess(content: bytes, context: ReleaseContext[MonthlyOriginal, object]) -> PseudonymTable:
    """Parse a guess, which is a file like F with customers in any order; any pseudonym may be guessed."""
    return _parse_pseudonyms(content, context.original(), GUESS_FILE, None)


def write_pseudonyms(table: PseudonymTable) -> bytes:
    """Return F or a guess as a file, with customers in the order of M."""
    frame = pd.DataFrame(table.pseudonyms, columns=list(table.months))
    frame.insert(0, "customer", list(table.customers))
    return write_csv(frame)


def check_answer(answer: PseudonymTable, sizes: Sizes) -> None:
    """Raise InvalidInput unless the answer covers every customer of an original of these sizes."""
    if len(answer.customers) != sizes["originals"]:
        raise InvalidInput(
            "the answer names {found} of {customers} customers",
            found=len(answer.customers),
            customers=sizes["originals"],
        )


def count_answered(guess: PseudonymTable) -> int:
    """Return the number of customers with at least one guessed pseudonym."""
    return int(np.count_nonzero((guess.pseudonyms != DELETED_MARK).any(axis=1)))


def judge_guess(
    guess: PseudonymTable, answer: PseudonymTable, context: ReleaseContext[MonthlyOriginal, MonthlyRelease]
) -> Outcome:
    """Return the share of customers whose months all equal F, in [0, 1], without adjustment for chance."""
    if (guess.customers, guess.months) != (answer.customers, answer.months):
        raise InvalidInput("the guess is about other customers or months")
    correct = int(np.count_nonzero((guess.pseudonyms == answer.pseudonyms).all(axis=1)))
    return Outcome(correct / len(answer.customers), correct=correct, trials=len(answer.customers))


def _parse_pseudonyms(
    content: bytes, original: MonthlyOriginal, file: str, expected: PseudonymTable | None
) -> PseudonymTable:
    """Parse a table of pseudonyms, which must equal ``expected`` in the order of the original's customers."""
    customer_count, header = len(original.customers), ("customer", *original.months)
    with add_line_numbers({file: content}):
        problems = Problems(file)
        cells, _ = read_text_table(content, header, problems, customer_count, customer_count, required=())
        if cells.num_rows != customer_count:
            problems.raise_if_any()
        columns = dict(iterate_text_columns(cells))
        customer_rows = _find_customer_rows(columns.pop("customer"), original, problems)
        for month, column in columns.items():
            is_wrong = ~convert_to_mask(pc.match_substring_regex(column, PSEUDONYM_PATTERN))
            message = Message("neither DEL nor a pseudonym of A-Z, a-z, 0-9, _ and -")
            problems.add_rows(is_wrong, month, "not_a_pseudonym", message, cells=column)
        problems.raise_if_any()
        if expected is not None:
            _check_equal(columns, expected.pseudonyms[customer_rows], problems)
        problems.raise_if_any()
    table = make_empty_guess(original)
    for index, column in enumerate(columns.values()):
        table.pseudonyms[customer_rows, index] = column.to_pylist()
    return table


def _check_equal(columns: Mapping[str, pa.Array], expected: PseudonymArray, problems: Problems) -> None:
    message = Message("does not agree with the release for this customer and month")
    for index, (month, column) in enumerate(columns.items()):
        is_wrong = convert_to_mask(pc.not_equal(column, pa.array(expected[:, index], pa.string())))
        problems.add_rows(is_wrong, month, "not_the_release", message, cells=column)


def _find_customer_rows(column: pa.Array, original: MonthlyOriginal, problems: Problems) -> IntArray:
    """Return the row of M for every line of the file; each customer must occur once."""
    add_unknown_ids(column, original.customers["customer"], "customer", problems)
    add_repeated_ids(column, "customer", problems)
    rows, _ = factorize(column.to_pandas(), get_column_texts(original.customers, "customer"))
    return np.where(rows < original.rows, rows, 0)
