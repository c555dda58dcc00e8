"""Attackers who know a part of the original: each looks up a few cells as they are written.

Who knows a row of T looks for the last kept row of AT with the same cells and names its pseudonym for the
customer and the month. (After the sample attacks of PWS Cup 2017.)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from app.scoring.arrays import BoolArray, IntArray
from app.scoring.encoding import group_rows, numbered
from app.scoring.release import Memo, once
from app.scoring.tracks.monthly.answer import Names, no_names
from app.scoring.tracks.monthly.files import KNOWN_CHARACTERS
from app.scoring.tracks.monthly.knowledge import known_rows
from app.scoring.tracks.monthly.original import Original
from app.scoring.tracks.monthly.release import Release

ATTACKERS: Mapping[str, tuple[str, ...]] = {
    "date_quantity": ("date", "quantity"),
    "good_price": ("good", "price"),
    "good_quantity": ("good", "quantity"),
    "date_good": ("date", "good"),
    "good_price_quantity": ("good", "price", "quantity"),
    "good_date_quantity": ("good", "date", "quantity"),
}
"""The cells that each compares, of a good its first two characters."""


@dataclass(frozen=True, slots=True)
class Target:
    """What an attacker sees: the kept rows of AT in its order, and the kept rows of a table of knowledge.

    ``person``, ``month`` (known rows,): the known customer's row in M and the month's place; ``nobody``
    (customers, months): a guess that names nobody.
    """

    released: pd.DataFrame
    known: pd.DataFrame
    person: IntArray
    month: IntArray
    nobody: Names
    memo: Memo = field(default_factory=dict, compare=False, repr=False)


def target_of(release: Release, knows: BoolArray) -> Target:
    """The release beside the rows of T that a table of knowledge keeps, (rows,)."""
    original: Original = release.original
    rows = release.kept_rows
    return Target(
        released=rows.assign(good=rows["good"].str[:KNOWN_CHARACTERS]),
        known=known_rows(original)[knows],
        person=original.person[knows],
        month=original.month[knows],
        nobody=no_names(original),
    )


def attack(target: Target, columns: tuple[str, ...]) -> Names:
    """The guess, (customers, months), by equal cells of the columns: among equals the last row counts.

    That holds twice: of released rows with equal cells, and of known rows of one customer and month.
    """
    codes = group_rows(np.stack([_codes(target, name) for name in columns], axis=1)).group_of
    released, known = codes[: len(target.released)], codes[len(target.released) :]
    last = np.full(int(codes.max(initial=-1)) + 1, -1)
    last[released] = np.arange(len(released))  # of equal places NumPy leaves the last one's value
    found = last[known]
    names = target.released["customer"].to_numpy(dtype=object)
    guess, hits = target.nobody.copy(), found >= 0
    guess[target.person[hits], target.month[hits]] = names[found[hits]]
    return guess


def _codes(target: Target, name: str) -> IntArray:
    """The texts of a column as numbers, of the released rows, then of the known ones."""

    def number() -> IntArray:
        return numbered(pd.concat([target.released[name], target.known[name]], ignore_index=True))[0]

    return once(target.memo, ("codes", name), number)
