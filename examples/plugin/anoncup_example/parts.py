"""Functions of the measure, the attacker and the method. Row numbers start at 0."""

import numpy as np


def combinations_lost(scored, *, columns=None):
    """Return the share of the original's value combinations that the release lacks, in [0, 1]; 0 is best."""
    names = list(scored.original.columns.quasi_identifiers if columns is None else columns)
    original_combinations, release_combinations = (
        set(table[names].fillna("").itertuples(index=False, name=None))
        for table in (scored.original.table, scored.release)
    )
    return len(original_combinations - release_combinations) / len(original_combinations)


def nearest_total(target):
    """Guess the original row with the nearest sum of sensitive values; ties go to the first row."""
    original_totals, release_totals = target.original.values.sum(axis=1), target.values.sum(axis=1)
    return np.array([np.abs(original_totals - total).argmin() for total in release_totals])


def round_values(table, columns, *, rng, step=10.0):
    """Round every sensitive value to a multiple of ``step``; 0 changes nothing. Rows keep their order."""
    rounded = table.copy()
    for name in columns.sensitive if step else ():
        rounded[name] = (table[name].astype(float) / step).round() * step
    return rounded, np.arange(len(table))
