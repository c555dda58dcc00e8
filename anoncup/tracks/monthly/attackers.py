"""Attackers who know part of the original transactions T and compare a few cells as text.

For each known row of T they find the last kept row of the release AT with the same cells, and guess its
pseudonym for the customer and month of the known row. (After the sample attacks of PWS Cup 2017.)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from anoncup.errors import InvalidInput
from anoncup.geometry.arrays import BoolArray, IntArray
from anoncup.geometry.encoding import factorize, group_rows
from anoncup.tracks.memo import Memo, memoize
from anoncup.tracks.monthly.answer import PseudonymTable, make_empty_guess
from anoncup.tracks.monthly.files import KNOWN_GOOD_LENGTH, QUESTIONS
from anoncup.tracks.monthly.knowledge import truncate_goods
from anoncup.tracks.monthly.original import MonthlyOriginal


@dataclass(frozen=True, slots=True)
class MonthlyTarget:
    """Public data for attackers: the kept rows of AT and the rows of T, with truncated goods in both."""

    release_rows: pd.DataFrame
    """The kept rows of AT, (kept, 7). Do not use their order: a published target has a random one."""
    known_rows: pd.DataFrame
    """The rows of T in their order, (rows of T, 7). An attacker knows those of a mask only."""
    known_masks: Mapping[str, BoolArray]
    """For each question, whether a row of T is known, (rows of T,)."""
    customer_row: IntArray
    """The row in M of each row's customer, (rows of T,)."""
    month_index: IntArray
    """The position of each row's month among the months of T, (rows of T,)."""
    empty_guess: PseudonymTable
    """A guess without pseudonyms, to copy and fill in."""
    memo: Memo = field(default_factory=dict, compare=False, repr=False)


def build_target(original: MonthlyOriginal, kept_rows: pd.DataFrame) -> MonthlyTarget:
    """Return the public data for attackers; raise InvalidInput if a table of partial knowledge is missing."""
    missing = [
        f"{table_name}.csv" for table_name in QUESTIONS.values() if table_name not in original.knowledge
    ]
    if missing:
        raise InvalidInput(
            "files of partial knowledge are missing: {names}", code="knowledge_missing", names=tuple(missing)
        )
    return MonthlyTarget(
        release_rows=kept_rows.assign(good=kept_rows["good"].str[:KNOWN_GOOD_LENGTH]),
        known_rows=truncate_goods(original),
        known_masks={question: original.knowledge[table_name] for question, table_name in QUESTIONS.items()},
        customer_row=original.customer_row,
        month_index=original.month_index,
        empty_guess=make_empty_guess(original),
    )


def attack(target: MonthlyTarget, columns: tuple[str, ...]) -> dict[str, PseudonymTable]:
    """Return a guess for each question by comparing the cells in ``columns``.

    If several released rows have the same cells, the last one counts, and so does the last known row of a
    customer and month with a match.
    """
    codes = group_rows(np.stack([_encode_column(target, name) for name in columns], axis=1)).group_ids
    release_codes, known_codes = codes[: len(target.release_rows)], codes[len(target.release_rows) :]
    last_row_by_code = np.full(int(codes.max(initial=-1)) + 1, -1)
    # If a code is repeated, NumPy keeps the last assignment.
    last_row_by_code[release_codes] = np.arange(len(release_codes))
    matches = last_row_by_code[known_codes]
    return {
        question: _build_guess(target, np.where(mask, matches, -1))
        for question, mask in target.known_masks.items()
    }


def _build_guess(target: MonthlyTarget, matches: IntArray) -> PseudonymTable:
    """Build a guess from the matching released row, or -1, of every row of T, (rows of T,)."""
    pseudonyms = target.release_rows["customer"].to_numpy(dtype=object)
    guess, is_match = target.empty_guess.pseudonyms.copy(), matches >= 0
    guess[target.customer_row[is_match], target.month_index[is_match]] = pseudonyms[matches[is_match]]
    return replace(target.empty_guess, pseudonyms=guess)


@memoize
def _encode_column(target: MonthlyTarget, name: str) -> IntArray:
    """Encode the texts of a column as numbers, those of the released rows first, then those of T."""
    return factorize(pd.concat([target.release_rows[name], target.known_rows[name]], ignore_index=True))[0]
