"""Releases whose losses are tiny next to other numbers of the table, with their values by hand."""

import json
import re

import numpy as np
import pandas as pd
from numpy.random import PCG64, Generator, default_rng

from tests.support.arena import build_competition_toml

GROUPS = "sex", "region"


def build_units_tables(unit: float, other_unit: float) -> tuple[pd.DataFrame, pd.DataFrame, float]:
    """Return X, Y and ``cross_mean`` of hours, which Y moves by 3.9; assets have another unit."""
    rng = default_rng(5)
    cells = [(sex, region) for sex in "fm" for region in "nesw"] * 12
    hours = rng.integers(4, 70, len(cells))
    table = pd.DataFrame(cells, columns=GROUPS).assign(
        assets=rng.integers(1, 4_000, len(cells)) * other_unit, hours=hours * unit
    )
    return table, table.assign(hours=hours * unit + 3.9 * unit), 3.9 * unit


def compute_null_cross_mean(table: pd.DataFrame, target: str) -> float:
    """Return the mean of ``cross_mean`` over the five null releases, cell by cell."""
    differences = []
    for seed in range(5):
        rng = Generator(PCG64(seed))
        permuted = pd.DataFrame({name: table[name].to_numpy()[rng.permutation(len(table))] for name in table})
        for sex in "fm":
            for region in "nesw":
                means = [
                    rows.loc[(rows["sex"] == sex) & (rows["region"] == region), target].mean()
                    for rows in (table, permuted)
                ]
                differences.append(abs(means[0] - (0.0 if np.isnan(means[1]) else means[1])))
    return float(np.mean(differences))


def build_wide_tables(columns: int, values: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return X with many quasi-identifiers, and Y in which each of them is permuted by itself."""
    rng, rows = default_rng(6), 60
    names = [f"q{number}" for number in range(columns)]
    table = pd.DataFrame({name: rng.permutation(np.arange(rows) % values) for name in names})
    permuted = pd.DataFrame({name: rng.permutation(table[name]) for name in names})
    income = rng.integers(100, 1_000, rows)
    return table.assign(income=income), permuted.assign(income=income)


def build_file(table: pd.DataFrame, sensitive: list[str], **weights: float) -> str:
    """Return a competition file with these sensitive columns and weights; all other columns are discrete."""
    measures = "".join(f"[measures.{name}]\nweight = {weight}\n" for name, weight in weights.items())
    return re.sub(
        r"(?s)quasi_identifiers.*(?=\[excessive\])",
        lambda _: (
            f"quasi_identifiers = {json.dumps([*table.columns.drop(sensitive)])}\n"
            f"sensitive = {json.dumps(sensitive)}\n{measures}"
        ),
        build_competition_toml(),
    )
