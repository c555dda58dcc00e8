"""Which individuals attackers found, and what they share: an answer about the secret, for its owners alone.

It is computed where the secret is (``anoncup score --fallen``) and stored nowhere; see
``docs/decisions/0042-who-fell-is-told-where-the-secret-is.md``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from anoncup.competition.scoring_versions import attacker_counts
from anoncup.evaluation.attacks import said_to
from anoncup.geometry.arrays import BoolArray, IntArray
from anoncup.rules.model import Rules
from anoncup.tracks.model import Track

MOST_VALUES = 8
"""Of a column of numbers with more than so many a band is told, not a value."""
BANDS = 4
CLASS_SIZES = ((1, 1), (2, 2), (3, 4), (5, 9), (10, None))


@dataclass(frozen=True, slots=True)
class Shared:
    """Individuals of the release with a value in a column: ``there`` of all ``there_of``, of whom ``fell``
    were found; ``finds``: by how many attackers each, added up, of all ``finds_of``.

    ``column`` None: it is the number of individuals in the original who are alike in all of the columns.
    ``excess``: how many more finds they are than if a value told nothing about falling; ``lift``: how many
    times as many.
    """

    column: str | None
    value: str
    there: int
    there_of: int
    fell: int
    finds: int
    finds_of: int

    @property
    def excess(self) -> Fraction:
        return self.finds - Fraction(self.finds_of * self.there, self.there_of)

    @property
    def lift(self) -> float:
        return self.finds * self.there_of / (self.finds_of * self.there)


@dataclass(frozen=True, slots=True)
class Fallen:
    """``right`` (attackers, n): which individuals of the original each attacker that counts finds for
    certain; ``there`` (n,): which of them are in the release."""

    attackers: tuple[str, ...]
    right: BoolArray
    there: BoolArray

    @property
    def fell(self) -> BoolArray:
        """(n,): whom at least one of them finds."""
        return np.asarray(self.right.any(axis=0))

    @property
    def found_by(self) -> IntArray:
        """(n,): by how many attackers each individual is found."""
        return np.asarray(self.right.sum(axis=0), dtype=np.int64)

    def to_json(self, what: Sequence[Shared]) -> dict[str, object]:
        """Numbers alone: who they are is for the file."""
        return {
            "individuals": int(self.fell.sum()),
            "of": int(self.there.sum()),
            "found_by": {str(number): count for number, count in self.counts.items()},
            "shared": [shared_json(one) for one in what],
        }

    @property
    def counts(self) -> dict[int, int]:
        """How many individuals of the release were found by so many attackers, the fewest first."""
        numbers, found = np.unique(self.found_by[self.there], return_counts=True)
        return {int(number): int(count) for number, count in zip(numbers, found, strict=True)}


def shared_json(one: Shared) -> dict[str, object]:
    counts = {"there": one.there, "fell": one.fell, "finds": one.finds}
    return {"column": one.column, "value": one.value, **counts, "lift": one.lift}


def known_of(track: Track, rules: Rules, tables: Any) -> tuple[pd.DataFrame, Sequence[str]]:
    """The individuals of an original, and the columns that an attacker may know of them."""
    return track.frames(tables)[0], track.group_columns(rules)[0]


def fallen(track: Track, rules: Rules, said: Mapping[str, Any], source: IntArray, originals: int) -> Fallen:
    """``said``: what each attacker says of a release whose individual j is ``source[j]`` of the original."""
    judge = track.right(rules)
    if judge is None:
        raise TypeError("a contest that does not ask who the individuals are has nobody who falls")
    names = tuple(name for name in said if attacker_counts(rules, name) and said[name] is not None)
    right = np.zeros((len(names), originals), dtype=np.bool_)
    for row, name in zip(right, names, strict=True):
        (answer,) = said_to(track.attackers[name], said[name]).values()
        row[source] = judge(answer, source) == 1.0
    there = np.zeros(originals, dtype=np.bool_)
    there[source] = True
    return Fallen(names, right, there)


def shared(found: Fallen, table: pd.DataFrame, columns: Sequence[str]) -> list[Shared]:
    """Who was found more often than all of the release, by what they share; the largest excess first.

    ``table`` (n, …): the individuals of the original, ``columns``: what an attacker may know of them.
    """
    named = [(name, values_of(table[name])) for name in columns]
    listed: list[tuple[str | None, pd.Series]] = [(None, classes_of(table, columns)), *named]
    told = [
        shared_by(found, name, value, np.asarray(texts == value))
        for name, texts in listed
        for value in pd.unique(texts)
    ]
    return sorted((one for one in told if one.there and one.excess > 0), key=lambda one: -one.excess)


def shared_by(found: Fallen, column: str | None, value: str, having: BoolArray) -> Shared:
    return Shared(
        column,
        value,
        there=int((found.there & having).sum()),
        there_of=int(found.there.sum()),
        fell=int((found.fell & having).sum()),
        finds=int(found.found_by[having].sum()),
        finds_of=int(found.found_by.sum()),
    )


def individuals_of(found: Fallen, table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Those who fell, whom most attackers find first: row of the original, counted from 1, by whom, and what
    an attacker may know of them."""
    fell = np.flatnonzero(found.fell)
    order = fell[np.argsort(-found.found_by[fell], kind="stable")]
    names = np.array(found.attackers, dtype=object)
    told = {
        "original_row": order + 1,
        "found_by": found.found_by[order],
        "attackers": [" ".join(names[found.right[:, row]]) for row in order],
    }
    known = table.iloc[order].reset_index(drop=True)
    return pd.DataFrame(told | {name: known[name] for name in columns})


def values_of(column: pd.Series) -> pd.Series:
    """A text for each individual: its value, or the band that it lies in."""
    if not pd.api.types.is_numeric_dtype(column) or column.nunique() <= MOST_VALUES:
        return column.astype(str).reset_index(drop=True)
    values = column.to_numpy()
    ordered = np.sort(values)
    limits = np.unique([ordered[len(ordered) * part // BANDS] for part in range(1, BANDS)])
    bands = np.searchsorted(limits, values, side="right")
    ends = {band: (values[bands == band].min(), values[bands == band].max()) for band in np.unique(bands)}
    return pd.Series([band_text(*ends[band]) for band in bands])


def band_text(least: Any, largest: Any) -> str:
    return f"{least}" if least == largest else f"{least}–{largest}"


def classes_of(table: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """How many are alike in all columns, each individual with its own."""
    sizes = table.groupby(list(columns), dropna=False, observed=True)[columns[0]].transform("size")
    return sizes.map(size_text).reset_index(drop=True)


def size_text(size: int) -> str:
    (found,) = ((low, high) for low, high in CLASS_SIZES if low <= size and (high is None or size <= high))
    low, high = found
    return f"{low}" if low == high else f"{low}+" if high is None else f"{low}–{high}"
