"""Functions of the track. Places are NumPy arrays, (n, 2), in kilometres; row numbers start at 0."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.random import Generator

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.messages import Message
from anoncup.rules.model import Rules
from anoncup.tables.csv_text import Problems
from anoncup.tables.files import Remark
from anoncup.tracks.files import Files
from anoncup.tracks.membership.settings import NumericColumn, TableSchema
from anoncup.tracks.membership.tables import TypedTable, parse_rows, write_table
from anoncup.tracks.model import ReleaseContext
from anoncup.tracks.outcomes import Outcome
from anoncup.tracks.parts import Method, ScoredRelease

SIDE_LENGTH = 1000.0
"""Side length in kilometres of the square that contains all places."""
PLACE_SCHEMA = TableSchema((NumericColumn("x", 0, SIDE_LENGTH), NumericColumn("y", 0, SIDE_LENGTH)))


@dataclass(frozen=True)
class PlacesOriginal:
    """The original; ``rows`` is the number of individuals."""

    places: FloatArray

    @property
    def rows(self) -> int:
        return len(self.places)


@dataclass(frozen=True)
class PlacesTarget:
    """The public data that attackers see."""

    original: PlacesOriginal
    moved: FloatArray


ScoredPlaces: TypeAlias = ScoredRelease[FloatArray, PlacesTarget, IntArray]
"""A release with its true answer: moved place j belongs to person ``answer[j]``."""


def parse_original(files: Files, rules: Rules) -> tuple[PlacesOriginal, list[Remark]]:
    table, remarks = parse_rows(files["places"], PLACE_SCHEMA, file="places")
    return PlacesOriginal(table.numbers), remarks


def parse_release(
    files: Files,
    original: PlacesOriginal,
    rules: Rules,
    own_files: Files,
) -> tuple[FloatArray, list[Remark]]:
    table, remarks = parse_rows(files["moved"], PLACE_SCHEMA, file="moved", max_rows=original.rows)
    return table.numbers, remarks


def files_of(moved: FloatArray) -> dict[str, bytes]:
    return {"moved": write_numbers(PLACE_SCHEMA, moved)}


def write_numbers(schema: TableSchema, numbers: FloatArray) -> bytes:
    return write_table(TypedTable(schema, numbers, np.empty((len(numbers), 0), dtype=np.int64)))


def build_frames(original: PlacesOriginal) -> Sequence[pd.DataFrame]:
    """Return the tables of the original's files for display to organizers."""
    return (pd.DataFrame(original.places, columns=["x", "y"]),)


def shift(scored: ScoredPlaces) -> float:
    """Return the mean shift of a place relative to the diagonal of the square, in [0, 1]; 0 is best."""
    shifts = scored.release - scored.target.original.places[scored.answer]
    return float(np.hypot(*shifts.T).mean() / hypot(SIDE_LENGTH, SIDE_LENGTH))


def left_out(scored: ScoredPlaces) -> float:
    """Return the share of places that the release lacks, in [0, 1]; 0 is best."""
    return 1 - len(scored.release) / scored.target.original.rows


def compute_distances(target: PlacesTarget) -> FloatArray:
    """Return the distances (n', n) from every moved place to every original place."""
    distances: FloatArray = np.hypot(*(target.moved[:, None] - target.original.places[None]).T).T
    return distances


def nearest_place(target: PlacesTarget) -> IntArray:
    """Guess the person with the nearest place for each moved place; ties go to the first person."""
    return np.asarray(compute_distances(target).argmin(axis=1))


def nearest_pairs(target: PlacesTarget) -> IntArray:
    """Guess the pairs (row, person) that are mutually nearest."""
    distances = compute_distances(target)
    nearest_person, nearest_row = distances.argmin(axis=1), distances.argmin(axis=0)
    rows = np.flatnonzero(nearest_row[nearest_person] == np.arange(len(target.moved)))
    return np.column_stack((rows, nearest_person[rows]))


def read_pairs(content: bytes, context: ReleaseContext[PlacesOriginal, FloatArray]) -> IntArray:
    """Parse pairs of row and person as an array, (pairs, 2), numbered from 0 and sorted by row."""
    rows, persons = context.sizes["rows"], context.sizes["originals"]
    schema = TableSchema((NumericColumn("row", 1, rows), NumericColumn("person", 1, persons)))
    table, _ = parse_rows(content, schema, file="guess", max_rows=rows)
    problems = Problems("guess")
    for column_index, name in enumerate(("row", "person")):
        values = table.numbers[:, column_index].tolist()
        for row, value in enumerate(values, 1):
            if value % 1 or value in values[: row - 1]:
                message = Message("{column}, row {row}: a whole number, once", column=name, row=row)
                problems.add("not_a_pair", message, row=row, column=name)
    problems.raise_if_any()
    pairs = table.numbers.astype(np.int64) - 1
    return pairs[np.argsort(pairs[:, 0])]


def write_pairs(pairs: IntArray) -> bytes:
    schema = TableSchema((NumericColumn("row", 1, np.inf), NumericColumn("person", 1, np.inf)))
    return write_numbers(schema, (pairs[np.argsort(pairs[:, 0])] + 1).astype(np.float64))


def judge_pairs(
    pairs: IntArray,
    source: IntArray,
    context: ReleaseContext[PlacesOriginal, FloatArray],
    *,
    cost: float = 1.0,
) -> Outcome:
    """Return (right - cost * wrong) / rows, but at least 0, which is what a blind guess scores."""
    right_count = int((source[pairs[:, 0]] == pairs[:, 1]).sum())
    value = max(0.0, (right_count - cost * (len(pairs) - right_count)) / context.sizes["rows"])
    return Outcome(value, details={"right": float(right_count), "wrong": float(len(pairs) - right_count)})


def make_all_pairs(source: IntArray) -> IntArray:
    return np.column_stack((np.arange(len(source)), source))


def blur(places: FloatArray, *, rng: Generator, km: float = 5.0) -> tuple[FloatArray, IntArray]:
    """Move every place by normal noise with standard deviation ``km`` per axis, clipped to the square."""
    moved = np.clip(places + rng.normal(0, km, places.shape), 0, SIDE_LENGTH)
    return moved, np.arange(len(places))


def anonymize(
    method: Method[tuple[FloatArray, IntArray]],
    original: PlacesOriginal,
    rules: Rules,
    rng: Generator,
    parameters: Mapping[str, Any],
) -> tuple[FloatArray, IntArray]:
    return method.apply(original.places, rng=rng, **parameters)


def shuffle(moved: FloatArray, source: IntArray, *, rng: Generator) -> tuple[FloatArray, IntArray]:
    order = rng.permutation(len(moved))
    return moved[order], source[order]


def make_example_data(rules: Rules, rows: int | None, seed: int) -> dict[str, bytes]:
    """Generate places around eight random towns."""
    rng = np.random.default_rng(seed)
    towns = rng.uniform(100, SIDE_LENGTH - 100, (8, 2))
    places = towns[rng.integers(0, 8, rows or 500)] + rng.normal(0, 30, (rows or 500, 2))
    return {"places": write_numbers(PLACE_SCHEMA, np.clip(places, 0, SIDE_LENGTH).round(2))}
