"""Example data: a year of TC400 as the files of the monthly track, and a release of it."""

import numpy as np
import pandas as pd
from numpy.random import PCG64, Generator

from app.scoring.data import tc400
from app.scoring.tracks.monthly.files import (
    CUSTOMER_COLUMNS,
    MOST_MONTHS,
    TRANSACTION_COLUMNS,
)
from app.scoring.tracks.monthly.original import Original
from app.scoring.tracks.monthly.release import with_deletions
from app.scoring.transaction_tables import TransactionTables, files_of

SEED = 2017


def example_files() -> dict[str, bytes]:
    """M and T: those customers of TC400 who bought in its first twelve months, and what they bought then."""
    tables = tc400()
    month = tables.transactions["date"].str[:7]
    rows = tables.transactions[month.isin(sorted(month.unique())[:MOST_MONTHS])]
    customers = tables.customers[tables.customers["customer_id"].isin(rows["customer_id"])]
    return files_of(
        TransactionTables(
            customers.set_axis(CUSTOMER_COLUMNS, axis=1), rows.set_axis(TRANSACTION_COLUMNS, axis=1)
        )
    )


def example_release(original: Original, *, seed: int = SEED) -> pd.DataFrame:
    """AT, (rows, 7) texts: random pseudonyms, each tenth row deleted, nothing else changed."""
    rng = Generator(PCG64(seed))
    spells, spell = np.unique(original.spell, return_inverse=True)
    names = np.array([f"p{number:06}" for number in rng.permutation(len(spells))], dtype=object)
    kept = rng.permutation(original.records.rows) >= original.records.rows // 10
    cells = original.records.cells
    return with_deletions(cells.assign(customer=pd.Series(names[spell], index=cells.index)), kept)
