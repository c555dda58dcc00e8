"""Individuals that attackers re-identified, and traits that these individuals share.

Only a team may learn this about its own release. It is therefore computed on the team's machine, where the
secret is (``anoncup score --reidentified``), and never stored; see
``docs/decisions/0042-reidentified-individuals.md``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from anoncup.competition.scoring_versions import counts_towards_security
from anoncup.evaluation.attacks import get_answers_by_question
from anoncup.geometry.arrays import BoolArray, IntArray
from anoncup.rules.model import Rules
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import HasRows

_MAX_DISTINCT = 8
"""Numeric columns with more distinct values than this are reported in bands."""
_BAND_COUNT = 4
_CLASS_SIZES = ((1, 1), (2, 2), (3, 4), (5, 9), (10, None))


@dataclass(frozen=True, slots=True)
class SharedTrait:
    """Individuals of the release that share a value in a column.

    ``present`` of ``present_total`` individuals have the value, and ``reidentified`` of these were found by
    at least one attacker. A hit is a pair of an individual and an attacker who found it: ``hits`` of
    ``hits_total`` hits concern individuals with the value. ``excess``: hits above the number expected if the
    value made no difference; ``lift``: hits divided by that number.

    If ``column`` is None, the value is the size of an individual's equivalence class in the original.
    """

    column: str | None
    value: str
    present: int
    present_total: int
    reidentified: int
    hits: int
    hits_total: int

    @property
    def excess(self) -> Fraction:
        return self.hits - Fraction(self.hits_total * self.present, self.present_total)

    @property
    def lift(self) -> float:
        return self.hits * self.present_total / (self.hits_total * self.present)


@dataclass(frozen=True, slots=True)
class ReidentifiedIndividuals:
    """Results of the attackers that count, for each individual of the original.

    ``is_hit`` (attackers, n): whether the attacker is right with certainty. ``is_present`` (n,): whether the
    individual is in the release.
    """

    attackers: tuple[str, ...]
    is_hit: BoolArray
    is_present: BoolArray

    @property
    def is_reidentified(self) -> BoolArray:
        """Whether at least one attacker re-identified each individual, (n,)."""
        return np.asarray(self.is_hit.any(axis=0))

    @property
    def hit_counts(self) -> IntArray:
        """Number of attackers that re-identified each individual, (n,)."""
        return np.asarray(self.is_hit.sum(axis=0), dtype=np.int64)

    def to_json(self, traits: Sequence[SharedTrait]) -> dict[str, object]:
        """Return counts and traits, without the individuals, which are only written to the file."""
        return {
            "individuals": int(self.is_reidentified.sum()),
            "of": int(self.is_present.sum()),
            "found_by": {str(number): count for number, count in self.individuals_by_hits.items()},
            "shared": [_serialize_trait(trait) for trait in traits],
        }

    @property
    def individuals_by_hits(self) -> dict[int, int]:
        """Number of released individuals by the number of attackers that re-identified them, ascending."""
        hits, individuals = np.unique(self.hit_counts[self.is_present], return_counts=True)
        return {int(hit_count): int(count) for hit_count, count in zip(hits, individuals, strict=True)}


def _serialize_trait(trait: SharedTrait) -> dict[str, object]:
    counts = {"present": trait.present, "reidentified": trait.reidentified, "hits": trait.hits}
    return {"column": trait.column, "value": trait.value, **counts, "lift": trait.lift}


def get_attacker_knowledge(
    track: AnyTrack, rules: Rules, original: HasRows
) -> tuple[pd.DataFrame, Sequence[str]]:
    """Return the individuals of an original, and the columns that an attacker may know."""
    return track.build_frames(original)[0], track.distances.group_columns(rules)[0]


def find_reidentified(
    track: AnyTrack, rules: Rules, answers: Mapping[str, object], source: IntArray, original_count: int
) -> ReidentifiedIndividuals:
    """Find the individuals that attackers re-identified in a release.

    ``answers``: each attacker's answer, by name. Individual j of the release is row ``source[j]`` of the
    original. Raises TypeError if the contest has no question about the identity of individuals.
    """
    compute_hit_probabilities = track.select_hit_probabilities(rules)
    if compute_hit_probabilities is None:
        raise TypeError("a contest that does not ask who the individuals are has nobody who falls")
    names = tuple(
        name for name in answers if counts_towards_security(rules, name) and answers[name] is not None
    )
    is_hit = np.zeros((len(names), original_count), dtype=np.bool_)
    for attacker_hits, name in zip(is_hit, names, strict=True):
        (answer,) = get_answers_by_question(track.attackers[name], answers[name]).values()
        attacker_hits[source] = compute_hit_probabilities(answer, source) == 1.0
    is_present = np.zeros(original_count, dtype=np.bool_)
    is_present[source] = True
    return ReidentifiedIndividuals(names, is_hit, is_present)


def find_shared_traits(
    reidentified: ReidentifiedIndividuals, table: pd.DataFrame, columns: Sequence[str]
) -> list[SharedTrait]:
    """Return the traits whose individuals are re-identified more often than average, largest excess first.

    ``table``: the individuals of the original; ``columns``: the columns that an attacker may know.
    """
    texts_by_column = [(name, describe_values(table[name])) for name in columns]
    traits_by_column: list[tuple[str | None, pd.Series]] = [
        (None, _describe_class_sizes(table, columns)),
        *texts_by_column,
    ]
    traits = [
        _count_trait(reidentified, name, value, np.asarray(texts == value))
        for name, texts in traits_by_column
        for value in pd.unique(texts)
    ]
    return sorted(
        (trait for trait in traits if trait.present and trait.excess > 0), key=lambda trait: -trait.excess
    )


def _count_trait(
    reidentified: ReidentifiedIndividuals, column: str | None, value: str, has_value: BoolArray
) -> SharedTrait:
    return SharedTrait(
        column,
        value,
        present=int((reidentified.is_present & has_value).sum()),
        present_total=int(reidentified.is_present.sum()),
        reidentified=int((reidentified.is_reidentified & has_value).sum()),
        hits=int(reidentified.hit_counts[has_value].sum()),
        hits_total=int(reidentified.hit_counts.sum()),
    )


def list_reidentified(
    reidentified: ReidentifiedIndividuals, table: pd.DataFrame, columns: Sequence[str]
) -> pd.DataFrame:
    """Return a table of the re-identified individuals, most hits first.

    Its columns are the row in the original, counted from 1, the number and names of the attackers, and what
    an attacker may know.
    """
    rows = np.flatnonzero(reidentified.is_reidentified)
    sorted_rows = rows[np.argsort(-reidentified.hit_counts[rows], kind="stable")]
    attacker_names = np.array(reidentified.attackers, dtype=object)
    content = {
        "original_row": sorted_rows + 1,
        "found_by": reidentified.hit_counts[sorted_rows],
        "attackers": [" ".join(attacker_names[reidentified.is_hit[:, row]]) for row in sorted_rows],
    }
    knowledge = table.iloc[sorted_rows].reset_index(drop=True)
    return pd.DataFrame(content | {name: knowledge[name] for name in columns})


def describe_values(column: pd.Series) -> pd.Series:
    """Return each individual's value as a text; numbers with many distinct values become bands."""
    if not pd.api.types.is_numeric_dtype(column) or column.nunique() <= _MAX_DISTINCT:
        return column.astype(str).reset_index(drop=True)
    values = column.to_numpy()
    ordered = np.sort(values)
    band_limits = np.unique(
        [ordered[len(ordered) * band_index // _BAND_COUNT] for band_index in range(1, _BAND_COUNT)]
    )
    bands = np.searchsorted(band_limits, values, side="right")
    band_ends = {
        band: (values[bands == band].min(), values[bands == band].max()) for band in np.unique(bands)
    }
    return pd.Series([_format_band(*band_ends[band]) for band in bands])


def _format_band(low: Any, high: Any) -> str:
    return f"{low}" if low == high else f"{low}–{high}"


def _describe_class_sizes(table: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """Return the size of each individual's equivalence class, as a text."""
    sizes = table.groupby(list(columns), dropna=False, observed=True)[columns[0]].transform("size")
    return sizes.map(_format_class_size).reset_index(drop=True)


def _format_class_size(size: int) -> str:
    (bounds,) = ((low, high) for low, high in _CLASS_SIZES if low <= size and (high is None or size <= high))
    low, high = bounds
    return f"{low}" if low == high else f"{low}+" if high is None else f"{low}–{high}"
