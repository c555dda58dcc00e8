"""Adapt the microdata code to the ``Track`` interface."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import PCG64, Generator

from anoncup.geometry.arrays import IntArray
from anoncup.rules.model import Rules
from anoncup.tables.csv_text import write_csv
from anoncup.tables.files import Remark
from anoncup.tracks.files import Files
from anoncup.tracks.microdata import tables
from anoncup.tracks.microdata.columns import require_columns
from anoncup.tracks.microdata.example import DEFAULT_ROWS, generate_households
from anoncup.tracks.microdata.methods import AnonymizedTable
from anoncup.tracks.microdata.release import MicrodataOriginal, ScoredMicrodata, build_release
from anoncup.tracks.parts import Method


def null_release(original: MicrodataOriginal, seed: int) -> ScoredMicrodata:
    """Permute every column independently, in file order, with PCG64(seed); the secret is the identity."""
    rng = Generator(PCG64(seed))
    table = original.table
    columns = {name: table[name].to_numpy()[rng.permutation(original.rows)] for name in table.columns}
    return build_release(original, pd.DataFrame(columns), np.arange(original.rows))


def group_individuals(original: MicrodataOriginal, names: Sequence[str]) -> IntArray:
    """Return the group of every row by the named quasi-identifiers, (n,)."""
    return original.group_by(tuple(names)).group_ids


def subset(original: MicrodataOriginal, rows: IntArray) -> MicrodataOriginal:
    return MicrodataOriginal(original.table.iloc[rows].reset_index(drop=True), original.columns)


def parse_original(files: Files, rules: Rules) -> tuple[MicrodataOriginal, list[Remark]]:
    table, remarks = tables.parse_original(files["original"], require_columns(rules))
    return MicrodataOriginal(table, require_columns(rules)), remarks


def parse_release(
    files: Files,
    original: MicrodataOriginal,
    rules: Rules,
    own_files: Files,
) -> tuple[pd.DataFrame, list[Remark]]:
    return tables.parse_release(files["anonymized"], original.table, require_columns(rules))


def files_of(table: pd.DataFrame) -> dict[str, bytes]:
    return {"anonymized": write_csv(table)}


def identity_release(original: MicrodataOriginal) -> ScoredMicrodata:
    return build_release(original, original.table, np.arange(original.rows))


def anonymize(
    method: Method[AnonymizedTable],
    original: MicrodataOriginal,
    rules: Rules,
    rng: Generator,
    parameters: Mapping[str, Any],
) -> AnonymizedTable:
    return method.apply(original.table, require_columns(rules), rng=rng, **parameters)


def make_example_data(rows: int | None, seed: int) -> dict[str, bytes]:
    """Return a table like that of the 2015 contest, by default with its 8,333 rows."""
    return {"original": write_csv(generate_households(DEFAULT_ROWS if rows is None else rows, seed=seed))}
