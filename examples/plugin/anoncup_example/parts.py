"""Functions of the parts. Tables are pandas DataFrames; row numbers start at 0."""

import numpy as np


def combinations_lost(release, *, columns=None):
    """Return the share of the original's value combinations that the release lacks, in [0, 1]; 0 is best."""
    names = list(release.original.columns.quasi_identifiers if columns is None else columns)
    before, after = (
        set(table[names].fillna("").itertuples(index=False, name=None))
        for table in (release.original.table, release.target.anonymized)
    )
    return len(before - after) / len(before)


def nearest_total(target):
    """Return for each released row the original row with the nearest sum of values; ties: the first."""
    before, after = target.original.values.sum(axis=1), target.values.sum(axis=1)
    return np.array([np.abs(before - total).argmin() for total in after])


def round_values(table, columns, *, rng, step=10.0):  # noqa: ARG001  # every method is given it
    """Round every sensitive value to a multiple of ``step``; rows keep their order."""
    rounded = table.copy()
    for name in columns.sensitive if step else ():
        rounded[name] = (table[name].astype(float) / step).round() * step
    return rounded, np.arange(len(table))
