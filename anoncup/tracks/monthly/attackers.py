"""Attackers who know a part of the original: each looks up a few cells as they are written.

Who knows a row of T looks for the last kept row of AT with the same cells and names its pseudonym for the
customer and the month. (After the sample attacks of PWS Cup 2017.)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from anoncup.errors import InvalidInput
from anoncup.geometry.arrays import BoolArray, IntArray
from anoncup.geometry.encoding import group_rows, numbered
from anoncup.tracks.memo import Memo, once
from anoncup.tracks.monthly.answer import Named, named, no_names
from anoncup.tracks.monthly.files import KNOWN_CHARACTERS, QUESTIONS
from anoncup.tracks.monthly.knowledge import known_rows
from anoncup.tracks.monthly.original import Original
from anoncup.tracks.monthly.release import Published, Release


@dataclass(frozen=True, slots=True)
class Target:
    """What attackers see: the kept rows of AT in its order, and T, goods cut to their beginning in both.

    ``knows`` (rows of T,): by question which of these rows are known; ``person``, ``month`` (rows of T,): the
    customer's row in M and the month's place; ``nobody``: a guess that names nobody.
    """

    released: pd.DataFrame
    known: pd.DataFrame
    knows: Mapping[str, BoolArray]
    person: IntArray
    month: IntArray
    nobody: Named
    memo: Memo = field(default_factory=dict, compare=False, repr=False)


def target_of(original: Original, release: Release | Published) -> Target:
    """InvalidInput while a table of partial knowledge is missing: nothing can be said of the attackers."""
    missing = [f"{table}.csv" for table in QUESTIONS.values() if table not in original.knowledge]
    if missing:
        raise InvalidInput(
            "files of partial knowledge are missing: {names}", code="knowledge_missing", names=tuple(missing)
        )
    rows = release.kept_rows
    return Target(
        released=rows.assign(good=rows["good"].str[:KNOWN_CHARACTERS]),
        known=once(original.memo, ("known_rows",), lambda: known_rows(original)),
        knows={question: original.knowledge[table] for question, table in QUESTIONS.items()},
        person=original.person,
        month=original.month,
        nobody=named(original, no_names(original)),
    )


def attack(target: Target, columns: tuple[str, ...]) -> dict[str, Named]:
    """The guess by question, by equal cells of the columns: among equals the last row counts.

    That holds twice: of released rows with equal cells, and of known rows of one customer and month.
    """
    codes = group_rows(np.stack([_codes(target, name) for name in columns], axis=1)).group_of
    released, known = codes[: len(target.released)], codes[len(target.released) :]
    last = np.full(int(codes.max(initial=-1)) + 1, -1)
    last[released] = np.arange(len(released))  # of equal places NumPy leaves the last one's value
    found = last[known]
    return {question: _named(target, np.where(knows, found, -1)) for question, knows in target.knows.items()}


def _named(target: Target, found: IntArray) -> Named:
    """The guess by the released row that was found for every row of T, (rows of T,); -1: none."""
    names = target.released["customer"].to_numpy(dtype=object)
    guess, hits = target.nobody.names.copy(), found >= 0
    guess[target.person[hits], target.month[hits]] = names[found[hits]]
    return replace(target.nobody, names=guess)


def _codes(target: Target, name: str) -> IntArray:
    """The texts of a column as numbers, of the released rows, then of T's."""

    def number() -> IntArray:
        return numbered(pd.concat([target.released[name], target.known[name]], ignore_index=True))[0]

    return once(target.memo, ("codes", name), number)
