"""What is uploaded in a contest that is played by clicking, and what it must come to."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from anoncup import TRACKS, Verdict, evaluate, parse_competition, shuffle_rows
from anoncup.geometry.arrays import IntArray
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.linkage.permutation import guess_csv, secret_csv
from tests.support.arena import original_table

ROWS = 60
SECRETS = ["income", "rent", "debts"]


def the_table() -> pd.DataFrame:
    """An organizer's own; the debts take so few values that they look like a quasi-identifier."""
    table = original_table(ROWS)
    table["debts"] = np.random.default_rng(5).integers(0, 4, ROWS).astype(float)
    return table


@dataclass(frozen=True, slots=True)
class Release:
    table: pd.DataFrame
    source: IntArray

    @property
    def anonymized(self) -> bytes:
        return table_csv(self.table)

    @property
    def secret(self) -> bytes:
        return secret_csv(self.source)

    def guess(self, right: int, wrong: int = 0) -> bytes:
        """The first ``right`` rows found, the next ``wrong`` mistaken, no answer for the others."""
        guess = np.full(ROWS, -1)
        guess[:right] = self.source[:right]
        guess[right : right + wrong] = (self.source[right : right + wrong] + 1) % ROWS
        return guess_csv(guess)

    def verdict(self, file: str) -> Verdict:
        """By the rules of the competition's file, on this machine."""
        rules = parse_competition(file)
        original = TRACKS[rules.track].prepare(the_table(), rules)
        return evaluate(rules, original, self.table, self.source)


def exchanged(pairs: int, seed: int) -> Release:
    """Pairs of people who are much alike have their incomes, rents and debts exchanged."""
    table = the_table()
    alike = table.sort_values(["sex", "age", "income"]).index.to_numpy()[: 2 * pairs]
    own, others = alike, alike.reshape(-1, 2)[:, ::-1].ravel()
    table.loc[own, SECRETS] = table.loc[others, SECRETS].to_numpy()
    return Release(*shuffle_rows(table, np.arange(ROWS), rng=np.random.default_rng(seed)))


def excessive() -> Release:
    """Everybody gets the data of somebody else."""
    rng = np.random.default_rng(8)
    table, _ = shuffle_rows(the_table(), np.arange(ROWS), rng=rng)
    return Release(table, rng.permutation(ROWS))
