"""Functions of the track. Places are NumPy arrays (n, 2) in kilometres; row numbers start at 0."""

from dataclasses import dataclass
from math import hypot

import numpy as np
import pandas as pd

from anoncup.messages import Message
from anoncup.tables.csv_text import Problems
from anoncup.tracks.membership.schema import NumericColumn, TableSchema
from anoncup.tracks.membership.tables import TypedTable, parse_rows, write_table
from anoncup.tracks.outcomes import Outcome

WIDTH = 1000.0
"""Side length in kilometres of the square that contains all places."""
PLACE = TableSchema((NumericColumn("x", 0, WIDTH), NumericColumn("y", 0, WIDTH)))


@dataclass(frozen=True)
class Original:
    """The prepared original that releases are compared with; ``rows`` is the number of individuals."""

    places: np.ndarray

    @property
    def rows(self):
        return len(self.places)


@dataclass(frozen=True)
class Target:
    """The data that attackers see."""

    original: np.ndarray
    moved: np.ndarray


@dataclass(frozen=True)
class Release:
    """A target with its true answer: moved place j belongs to person ``source[j]``."""

    target: Target
    source: np.ndarray


def parse_original(files, rules):  # noqa: ARG001  # other tracks' rules say how to read them
    table, remarks = parse_rows(files["places"], PLACE, file="places")
    return table.numbers, remarks


def parse_release(files, original, rules):  # noqa: ARG001
    table, remarks = parse_rows(files["moved"], PLACE, file="moved", max_rows=len(original))
    return table.numbers, remarks


def files_of(places):
    return {"moved": as_file(PLACE, places)}


def as_file(schema, numbers):
    return write_table(TypedTable(schema, numbers, np.empty((len(numbers), 0), dtype=np.int64)))


def frames(places):
    """Return the tables of the original's files for display to organizers."""
    return (pd.DataFrame(places, columns=["x", "y"]),)


def prepare(places, rules):  # noqa: ARG001
    return Original(places)


def target_of(original, moved):
    return Target(original.places, moved)


def release_of(original, moved, source):
    return Release(target_of(original, moved), source)


def shift(release):
    """Return the mean shift of a place relative to the diagonal of the square, in [0, 1]; 0 is best."""
    ways = release.target.moved - release.target.original[release.source]
    return float(np.hypot(*ways.T).mean() / hypot(WIDTH, WIDTH))


def left_out(release):
    """Return the share of places that the release lacks, in [0, 1]; 0 is best."""
    return 1 - len(release.target.moved) / len(release.target.original)


def apart(target):
    """Return the distances (n', n) from every moved place to every original place."""
    return np.hypot(*(target.moved[:, None] - target.original[None]).T).T


def nearest_place(target):
    """Return for each moved place the person with the nearest place; ties: the first person."""
    return apart(target).argmin(axis=1)


def nearest_pairs(target):
    """Return the pairs (row, person) that are mutually nearest."""
    ways = apart(target)
    person, row = ways.argmin(axis=1), ways.argmin(axis=0)
    rows = np.flatnonzero(row[person] == np.arange(len(target.moved)))
    return np.column_stack((rows, person[rows]))


def read_pairs(content, context):
    """Return pairs of row and person, numbered from 0, as an array (pairs, 2) sorted by row."""
    rows, persons = context.sizes["rows"], context.sizes["originals"]
    schema = TableSchema((NumericColumn("row", 1, rows), NumericColumn("person", 1, persons)))
    table, _ = parse_rows(content, schema, file="guess", max_rows=rows)
    problems = Problems("guess")
    for place, name in enumerate(("row", "person")):
        cells = table.numbers[:, place].tolist()
        for line, value in enumerate(cells, 1):
            if value % 1 or value in cells[: line - 1]:
                said = Message("{column}, row {row}: a whole number, once", column=name, row=line)
                problems.add("not_a_pair", said, row=line, column=name)
    problems.check()
    pairs = table.numbers.astype(np.int64) - 1
    return pairs[np.argsort(pairs[:, 0])]


def write_pairs(pairs):
    schema = TableSchema((NumericColumn("row", 1, np.inf), NumericColumn("person", 1, np.inf)))
    return as_file(schema, pairs[np.argsort(pairs[:, 0])] + 1.0)


def judge_pairs(pairs, source, sizes, *, cost=1.0):
    """Return (right - cost * wrong) / rows, but at least 0, so that a blind guess scores 0."""
    right = int((source[pairs[:, 0]] == pairs[:, 1]).sum())
    value = max(0.0, (right - cost * (len(pairs) - right)) / sizes["rows"])
    return Outcome(value, details={"right": float(right), "wrong": float(len(pairs) - right)})


def all_pairs(source):
    return np.column_stack((np.arange(len(source)), source))


def blur(places, *, rng, km=5.0):
    """Move every place by normal noise with standard deviation ``km`` per axis, clipped to the square."""
    moved = np.clip(places + rng.normal(0, km, places.shape), 0, WIDTH)
    return moved, np.arange(len(places))


def anonymize(method, places, rules, rng, parameters):  # noqa: ARG001
    return method.apply(places, rng=rng, **parameters)


def shuffle(moved, source, *, rng):
    order = rng.permutation(len(moved))
    return moved[order], source[order]


def example_data(rows, seed):
    """Generate places around eight towns."""
    rng = np.random.default_rng(seed)
    towns = rng.uniform(100, WIDTH - 100, (8, 2))
    places = towns[rng.integers(0, 8, rows or 500)] + rng.normal(0, 30, (rows or 500, 2))
    return {"places": as_file(PLACE, np.clip(places, 0, WIDTH).round(2))}
