"""What is done with the tables of the microdata track."""

from __future__ import annotations  # rules know their tracks

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.random import PCG64, Generator

from anoncup.geometry.arrays import IntArray
from anoncup.tables.csv_text import table_csv
from anoncup.tables.files import Remark
from anoncup.tracks.memo import once
from anoncup.tracks.microdata import release, tables
from anoncup.tracks.microdata.columns import columns_of
from anoncup.tracks.microdata.example import ROWS, household_table
from anoncup.tracks.microdata.release import PreparedOriginal, Release, release_of
from anoncup.tracks.model import Files
from anoncup.tracks.parts import Method

if TYPE_CHECKING:
    from anoncup.rules.model import Rules


def null_release(original: PreparedOriginal, draw: int) -> Release:
    """Every column, in file order, permuted by itself with the generator PCG64(draw); secret = identity."""
    rng = Generator(PCG64(draw))
    table = original.table
    columns = {name: table[name].to_numpy()[rng.permutation(original.rows)] for name in table.columns}
    return release_of(original, pd.DataFrame(columns), np.arange(original.rows))


def largest_cell(original: PreparedOriginal) -> float:
    """The largest absolute sensitive value."""
    values = original.values
    return once(original.kept, ("largest cell",), lambda: float(np.abs(values).max(initial=0.0)))


def groups(original: PreparedOriginal, names: Sequence[str]) -> IntArray:
    """The group of every row by the named quasi-identifiers, (n,)."""
    return original.grouping(names).group_of


def part(original: PreparedOriginal, rows: IntArray) -> pd.DataFrame:
    return original.table.iloc[rows].reset_index(drop=True)


def parse_original(files: Files, rules: Rules) -> tuple[pd.DataFrame, list[Remark]]:
    return tables.parse_original(files["original"], columns_of(rules))


def parse_release(files: Files, original: pd.DataFrame, rules: Rules) -> tuple[pd.DataFrame, list[Remark]]:
    return tables.parse_release(files["anonymized"], original, columns_of(rules))


def files_of(table: pd.DataFrame) -> dict[str, bytes]:
    return {"anonymized": table_csv(table)}


def prepare(table: pd.DataFrame, rules: Rules) -> PreparedOriginal:
    return release.prepare(table, columns_of(rules))


def untouched(original: PreparedOriginal) -> Release:
    return release_of(original, original.table, np.arange(original.rows))


def anonymize(
    method: Method,
    table: pd.DataFrame,
    rules: Rules,
    rng: Generator,
    parameters: Mapping[str, Any],
) -> tuple[pd.DataFrame, IntArray]:
    return method.apply(table, columns_of(rules), rng=rng, **parameters)


def example_data(rows: int | None, seed: int) -> dict[str, bytes]:
    """A table of the 2015 contest's shape, 8,333 rows where nobody says."""
    return {"original": table_csv(household_table(ROWS if rows is None else rows, seed=seed))}
