"""What the parts compute. Tables are pandas DataFrames; rows count from 0."""

import numpy as np


def combinations_lost(release, *, columns=None):
    """The share of the original's combinations of these columns' values that the release lacks; 0 is best."""
    names = list(release.original.columns.quasi_identifiers if columns is None else columns)
    before, after = (
        set(table[names].fillna("").itertuples(index=False, name=None))
        for table in (release.original.table, release.target.anonymized)
    )
    return len(before - after) / len(before)


def nearest_total(target):
    """For each released row the original row with the nearest sum of its values, the first of equals."""
    before, after = target.original.values.sum(axis=1), target.values.sum(axis=1)
    return np.array([np.abs(before - total).argmin() for total in after])


def round_values(table, columns, *, rng, step=10.0):  # noqa: ARG001  # every method is given it
    """Round every sensitive value to a multiple of ``step``; all rows stay, in their order."""
    rounded = table.copy()
    for name in columns.sensitive if step else ():
        rounded[name] = (table[name].astype(float) / step).round() * step
    return rounded, np.arange(len(table))
