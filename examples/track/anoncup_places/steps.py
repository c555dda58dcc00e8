"""Functions of the track. Places are NumPy arrays, (n, 2), in kilometres; row numbers start at 0."""

from dataclasses import dataclass
from math import hypot

import numpy as np
import pandas as pd

from anoncup.messages import Message
from anoncup.tables.csv_text import Problems
from anoncup.tracks.membership.schema import NumericColumn, TableSchema
from anoncup.tracks.membership.tables import TypedTable, parse_rows, write_table
from anoncup.tracks.outcomes import Outcome

SIDE_LENGTH = 1000.0
"""Side length in kilometres of the square that contains all places."""
PLACE_SCHEMA = TableSchema((NumericColumn("x", 0, SIDE_LENGTH), NumericColumn("y", 0, SIDE_LENGTH)))


@dataclass(frozen=True)
class PlacesOriginal:
    """The prepared original; ``rows`` is the number of individuals."""

    places: np.ndarray

    @property
    def rows(self):
        return len(self.places)


@dataclass(frozen=True)
class PlacesTarget:
    """The public data that attackers see."""

    original: np.ndarray
    moved: np.ndarray


@dataclass(frozen=True)
class PlacesRelease:
    """A target with its true answer: moved place j belongs to person ``source[j]``."""

    target: PlacesTarget
    source: np.ndarray


def parse_original(files, rules):  # noqa: ARG001  # the rules do not change how places are read
    table, remarks = parse_rows(files["places"], PLACE_SCHEMA, file="places")
    return table.numbers, remarks


def parse_release(files, original, rules):  # noqa: ARG001
    table, remarks = parse_rows(files["moved"], PLACE_SCHEMA, file="moved", max_rows=len(original))
    return table.numbers, remarks


def files_of(places):
    return {"moved": write_numbers(PLACE_SCHEMA, places)}


def write_numbers(schema, numbers):
    return write_table(TypedTable(schema, numbers, np.empty((len(numbers), 0), dtype=np.int64)))


def build_frames(places):
    """Return the tables of the original's files for display to organizers."""
    return (pd.DataFrame(places, columns=["x", "y"]),)


def prepare(places, rules):  # noqa: ARG001
    return PlacesOriginal(places)


def build_target(original, moved):
    return PlacesTarget(original.places, moved)


def build_release(original, moved, source):
    return PlacesRelease(build_target(original, moved), source)


def shift(release):
    """Return the mean shift of a place relative to the diagonal of the square, in [0, 1]; 0 is best."""
    shifts = release.target.moved - release.target.original[release.source]
    return float(np.hypot(*shifts.T).mean() / hypot(SIDE_LENGTH, SIDE_LENGTH))


def left_out(release):
    """Return the share of places that the release lacks, in [0, 1]; 0 is best."""
    return 1 - len(release.target.moved) / len(release.target.original)


def compute_distances(target):
    """Return the distances (n', n) from every moved place to every original place."""
    return np.hypot(*(target.moved[:, None] - target.original[None]).T).T


def nearest_place(target):
    """Guess the person with the nearest place for each moved place; ties go to the first person."""
    return compute_distances(target).argmin(axis=1)


def nearest_pairs(target):
    """Guess the pairs (row, person) that are mutually nearest."""
    distances = compute_distances(target)
    nearest_person, nearest_row = distances.argmin(axis=1), distances.argmin(axis=0)
    rows = np.flatnonzero(nearest_row[nearest_person] == np.arange(len(target.moved)))
    return np.column_stack((rows, nearest_person[rows]))


def read_pairs(content, context):
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


def write_pairs(pairs):
    schema = TableSchema((NumericColumn("row", 1, np.inf), NumericColumn("person", 1, np.inf)))
    return write_numbers(schema, pairs[np.argsort(pairs[:, 0])] + 1.0)


def judge_pairs(pairs, source, sizes, *, cost=1.0):
    """Return (right - cost * wrong) / rows, but at least 0, which is what a blind guess scores."""
    right_count = int((source[pairs[:, 0]] == pairs[:, 1]).sum())
    value = max(0.0, (right_count - cost * (len(pairs) - right_count)) / sizes["rows"])
    return Outcome(value, details={"right": float(right_count), "wrong": float(len(pairs) - right_count)})


def make_all_pairs(source):
    return np.column_stack((np.arange(len(source)), source))


def blur(places, *, rng, km=5.0):
    """Move every place by normal noise with standard deviation ``km`` per axis, clipped to the square."""
    moved = np.clip(places + rng.normal(0, km, places.shape), 0, SIDE_LENGTH)
    return moved, np.arange(len(places))


def anonymize(method, places, rules, rng, parameters):  # noqa: ARG001
    return method.apply(places, rng=rng, **parameters)


def shuffle(moved, source, *, rng):
    order = rng.permutation(len(moved))
    return moved[order], source[order]


def make_example_data(rows, seed):
    """Generate places around eight random towns."""
    rng = np.random.default_rng(seed)
    towns = rng.uniform(100, SIDE_LENGTH - 100, (8, 2))
    places = towns[rng.integers(0, 8, rows or 500)] + rng.normal(0, 30, (rows or 500, 2))
    return {"places": write_numbers(PLACE_SCHEMA, np.clip(places, 0, SIDE_LENGTH).round(2))}
