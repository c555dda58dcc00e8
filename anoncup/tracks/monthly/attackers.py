"""Attackers who know a part of the original and compare a few cells as text.

For each known row of T they find the last kept row of AT with the same cells, and guess its pseudonym for the
customer and the month. (After the sample attacks of PWS Cup 2017.)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from anoncup.errors import InvalidInput
from anoncup.geometry.arrays import BoolArray, IntArray
from anoncup.geometry.encoding import factorize, group_rows
from anoncup.tracks.memo import Memo, memoize
from anoncup.tracks.monthly.answer import PseudonymTable, build_pseudonym_table, empty_guess
from anoncup.tracks.monthly.files import KNOWN_GOOD_LENGTH, QUESTIONS
from anoncup.tracks.monthly.knowledge import build_known_rows
from anoncup.tracks.monthly.original import MonthlyOriginal
from anoncup.tracks.monthly.release import MonthlyRelease, PublishedPurchases


@dataclass(frozen=True, slots=True)
class MonthlyTarget:
    """Public data for attackers: the kept rows of AT in its order, and T, with truncated goods in both.

    ``known_masks``: whether each row of T is known, (rows of T,), by question. ``person`` and ``month`` (rows
    of T,): the customer's row in M and the index of the month. ``empty_guess``: a guess without pseudonyms.
    """

    release_rows: pd.DataFrame
    known_rows: pd.DataFrame
    known_masks: Mapping[str, BoolArray]
    person: IntArray
    month: IntArray
    empty_guess: PseudonymTable
    memo: Memo = field(default_factory=dict, compare=False, repr=False)


def target_of(original: MonthlyOriginal, release: MonthlyRelease | PublishedPurchases) -> MonthlyTarget:
    """Return the public data for attackers; raise InvalidInput if a table of partial knowledge is missing."""
    missing = [f"{table}.csv" for table in QUESTIONS.values() if table not in original.knowledge]
    if missing:
        raise InvalidInput(
            "files of partial knowledge are missing: {names}", code="knowledge_missing", names=tuple(missing)
        )
    rows = release.kept_rows
    return MonthlyTarget(
        release_rows=rows.assign(good=rows["good"].str[:KNOWN_GOOD_LENGTH]),
        known_rows=memoize(original.memo, ("known_rows",), lambda: build_known_rows(original)),
        known_masks={question: original.knowledge[table] for question, table in QUESTIONS.items()},
        person=original.customer_row,
        month=original.month_index,
        empty_guess=build_pseudonym_table(original, empty_guess(original)),
    )


def attack(target: MonthlyTarget, columns: tuple[str, ...]) -> dict[str, PseudonymTable]:
    """Guess by equal cells in ``columns``, for each question; among equal rows the last one counts.

    This holds for released rows with equal cells, and for known rows of one customer and month.
    """
    codes = group_rows(np.stack([_encode_column(target, name) for name in columns], axis=1)).group_ids
    release_codes, known_codes = codes[: len(target.release_rows)], codes[len(target.release_rows) :]
    last_row = np.full(int(codes.max(initial=-1)) + 1, -1)
    # For repeated codes NumPy keeps the last row.
    last_row[release_codes] = np.arange(len(release_codes))
    matches = last_row[known_codes]
    return {
        question: _build_guess(target, np.where(mask, matches, -1))
        for question, mask in target.known_masks.items()
    }


def _build_guess(target: MonthlyTarget, matches: IntArray) -> PseudonymTable:
    """Build a guess from the matching released row of every row of T, (rows of T,); -1: none."""
    names = target.release_rows["customer"].to_numpy(dtype=object)
    guess, is_match = target.empty_guess.names.copy(), matches >= 0
    guess[target.person[is_match], target.month[is_match]] = names[matches[is_match]]
    return replace(target.empty_guess, names=guess)


def _encode_column(target: MonthlyTarget, name: str) -> IntArray:
    """Encode the texts of a column as numbers: first the released rows, then those of T."""

    def encode() -> IntArray:
        return factorize(pd.concat([target.release_rows[name], target.known_rows[name]], ignore_index=True))[
            0
        ]

    return memoize(target.memo, ("codes", name), encode)
