"""Files uploaded in a contest played in browsers."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from anoncup import shuffle_rows
from anoncup.geometry.arrays import IntArray
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.linkage.permutation import write_guess, write_secret
from tests.support.arena import build_original_table

ROWS = 60
SENSITIVE_COLUMNS = ["income", "rent", "debts"]


def make_table() -> pd.DataFrame:
    """Build a table whose column of debts has so few values that it looks like a quasi-identifier."""
    table = build_original_table(ROWS)
    table["debts"] = np.random.default_rng(5).integers(0, 4, ROWS).astype(float)
    return table


@dataclass(frozen=True, slots=True)
class PreparedRelease:
    table: pd.DataFrame
    source: IntArray

    @property
    def anonymized_file(self) -> bytes:
        return write_csv(self.table)

    @property
    def secret_file(self) -> bytes:
        return write_secret(self.source)

    def make_guess(self, right: int, wrong: int = 0) -> bytes:
        """Build a guess with ``right`` correct rows, ``wrong`` incorrect ones and no answer for the rest."""
        guess = np.full(ROWS, -1)
        guess[:right] = self.source[:right]
        guess[right : right + wrong] = (self.source[right : right + wrong] + 1) % ROWS
        return write_guess(guess)


def make_swapped_release(pairs: int, seed: int) -> PreparedRelease:
    """Build a release where pairs of similar individuals swap their incomes, rents and debts."""
    table = make_table()
    similar_rows = table.sort_values(["sex", "age", "income"]).index.to_numpy()[: 2 * pairs]
    rows, partner_rows = similar_rows, similar_rows.reshape(-1, 2)[:, ::-1].ravel()
    table.loc[rows, SENSITIVE_COLUMNS] = table.loc[partner_rows, SENSITIVE_COLUMNS].to_numpy()
    return PreparedRelease(*shuffle_rows(table, np.arange(ROWS), rng=np.random.default_rng(seed)))


def make_excessive_release() -> PreparedRelease:
    """Build an excessive release, whose secret assigns the rows to random individuals."""
    rng = np.random.default_rng(8)
    table, _ = shuffle_rows(make_table(), np.arange(ROWS), rng=rng)
    return PreparedRelease(table, rng.permutation(ROWS))
