"""The microdata track: PWS Cup 2015."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.random import PCG64, Generator

from app.errors import InvalidCompetition
from app.scoring import all_pairs, tables
from app.scoring.anonymity import ANONYMITY
from app.scoring.arrays import IntArray
from app.scoring.attackers import ATTACKERS
from app.scoring.competition import Columns, Competition, MeasureSettings
from app.scoring.csv_text import Remark, table_csv
from app.scoring.distances import gower_nearest_other, gower_rows
from app.scoring.magnitude import finite_mean, standard_deviation
from app.scoring.methods import METHODS
from app.scoring.methods.permutations import shuffle_rows
from app.scoring.registry import Distance, Files, Method, Track
from app.scoring.release import PreparedOriginal, Release, prepare, release_of, target_of
from app.scoring.utility import UTILITIES

AVERAGES = frozenset({"cor_mae", "information_loss", "sort"})
SIGNATURES = {
    "k_anonymize": frozenset({"cross_mean", "cross_count", "k_min", "k_mean", "id_rand"}),
    "add_noise": frozenset({"mean_mae", "cross_mean", "cor_mae", "information_loss", "sort"}),
    "cheating_permutation": frozenset({"information_loss", "id_rand", "sort"}),
    "unify_columns (in the cross-tables)": frozenset({"cross_mean", "cross_count", "k_mean", "id_rand"}),
    "unify_columns (others)": frozenset({"k_mean", "id_rand"}),
    "microaggregate": AVERAGES,
    "swap_within_classes": AVERAGES,
    "delete_rows": frozenset({"mean_mae", "cross_mean", "cross_count", "cor_mae", "row_difference", "sort"}),
}
"""What each method of P0 changes in its Tables 12 and 13, among the measures and attackers that tell."""


def columns_of(competition: Competition) -> Columns:
    """The roles of the columns, which a microdata competition always names."""
    if competition.columns is None:
        raise InvalidCompetition("the competition names no columns", code="missing_key")
    return competition.columns


def null_release(original: PreparedOriginal, draw: int) -> Release:
    """Every column, in file order, permuted by itself with the generator PCG64(draw); secret = identity."""
    rng = Generator(PCG64(draw))
    table = original.table
    columns = {name: table[name].to_numpy()[rng.permutation(original.rows)] for name in table.columns}
    return release_of(original, pd.DataFrame(columns), np.arange(original.rows))


def mean_deviation(original: PreparedOriginal) -> float:
    """The scale of ``mean_mae``, which no permutation moves: mean deviation of the sensitive columns."""
    return finite_mean(standard_deviation(column) for column in np.ascontiguousarray(original.values.T))


def original_rows(original: PreparedOriginal) -> float:
    """The scale of ``row_difference``: the number of original rows."""
    return float(original.rows)


def largest_cell(original: PreparedOriginal) -> float:
    """The largest absolute sensitive value."""
    return float(np.abs(original.values).max(initial=0.0))


def group_columns(competition: Competition) -> tuple[Sequence[str], Sequence[str]]:
    """All quasi-identifiers; and those of the cross-tables that weigh, which a cheat keeps for its utility's
    sake. Where no cross-table weighs, those of any that names its columns."""
    every = columns_of(competition).quasi_identifiers
    tables = [competition.measures.get(name, MeasureSettings()) for name in ("cross_mean", "cross_count")]
    weighing = [one for one in tables if one.weight] or [one for one in tables if "columns" in one.parameters]
    named = [cast(Sequence[str], one.parameters.get("columns", every)) for one in weighing] or [every]
    return every, [column for column in every if any(column in columns for columns in named)]


def groups(original: PreparedOriginal, names: Sequence[str]) -> IntArray:
    """The group of every row by the named quasi-identifiers, (n,)."""
    return original.grouping(names).group_of


def _parse_original(files: Files, competition: Competition) -> tuple[pd.DataFrame, list[Remark]]:
    return tables.parse_original(files["original"], columns_of(competition))


def _parse_release(
    files: Files, original: pd.DataFrame, competition: Competition
) -> tuple[pd.DataFrame, list[Remark]]:
    return tables.parse_release(files["anonymized"], original, columns_of(competition))


def _anonymize(
    method: Method,
    table: pd.DataFrame,
    competition: Competition,
    rng: Generator,
    parameters: Mapping[str, Any],
) -> tuple[pd.DataFrame, IntArray]:
    return method.apply(table, columns_of(competition), rng=rng, **parameters)


MICRODATA = Track(
    name="microdata",
    files=("anonymized",),
    original_files=("original",),
    check_part=lambda files, competition: None,  # noqa: ARG005 - the only file is the whole
    parse_original=_parse_original,
    parse_release=_parse_release,
    files_of=lambda table: {"anonymized": table_csv(table)},
    canonical_files=lambda table: {"anonymized": table_csv(table)},
    individuals=len,
    prepare=lambda table, competition: prepare(table, columns_of(competition)),
    target_of=target_of,
    release_of=release_of,
    measures={**UTILITIES, **ANONYMITY},
    attackers=ATTACKERS,
    methods=METHODS,
    distances={
        "gower": Distance(
            "gower",
            gower_rows,
            all_pairs.gower_to_others,
            gower_nearest_other,
            all_pairs.gower_matrix,
            all_pairs.gower_pairs,
        ),
        "euclidean": Distance(
            "euclidean",
            all_pairs.euclidean_rows,
            all_pairs.euclidean_to_others,
            all_pairs.euclidean_nearest_other,
            all_pairs.euclidean_matrix,
            all_pairs.euclidean_pairs,
            bounded=False,
        ),
    },
    anonymize=_anonymize,
    shuffle=shuffle_rows,
    untouched=lambda original: release_of(original, original.table, np.arange(original.rows)),
    null_release=null_release,
    own_scales={"mean_mae": mean_deviation, "row_difference": original_rows},
    largest_cell=largest_cell,
    group_columns=group_columns,
    groups=groups,
    signatures=SIGNATURES,
)
