"""What the duels are fought on: generated and shipped data, and the real in ``ANONCUP_REFERENCE_DATA``."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.microdata.example import ROWS, household_columns, household_table
from anoncup.tracks.microdata.release import Target, prepare, target_of
from anoncup.tracks.transactions import release
from anoncup.tracks.transactions.example import derive, tables_of, tc400
from anoncup.tracks.transactions.release import TransactionTarget
from anoncup.tracks.transactions.tables import TransactionTables

REAL = "microdata_8333x25.csv"
RETAIL = "online_retail.parquet"
NOISE = 0.1
SHARE_KEPT = 0.9


def reference_data() -> Path | None:
    """The folder of real data, if it is given."""
    folder = os.environ.get("ANONCUP_REFERENCE_DATA")
    return Path(folder) if folder else None


@dataclass(frozen=True, slots=True)
class Microdata:
    """A table and two releases of it: with quasi-identifiers of X's, and with ones that no row of X has."""

    name: str
    rules: Rules
    table: pd.DataFrame
    source: IntArray
    matched: Target
    unmatched: Target

    @property
    def files(self) -> dict[str, bytes]:
        return {"anonymized": table_csv(self.matched.anonymized)}

    @property
    def unmatched_files(self) -> dict[str, bytes]:
        return {"anonymized": table_csv(self.unmatched.anonymized)}


def microdata(name: str, table: pd.DataFrame) -> Microdata:
    """Released with noise on the sensitive cells, and shuffled."""
    rules, track, rng = parse_competition(template(2015)), TRACKS["microdata"], np.random.default_rng(0)
    method = track.methods["add_noise"]
    noisy = track.anonymize(method, table, rules, rng, {"strength": NOISE})
    released, source = track.shuffle(*noisy, rng=rng)
    target = target_of(prepare(table, household_columns()), released)
    return Microdata(
        name,
        rules,
        table,
        source,
        target,
        unmatched(target),
    )


def real_table(folder: Path) -> pd.DataFrame:
    """The real table under the template's names: 13 quasi-identifiers, 12 sensitive columns."""
    table = pd.read_csv(folder / REAL, dtype=str, keep_default_na=False)
    roles = household_columns()
    table.columns = pd.Index([*roles.quasi_identifiers, *roles.sensitive])
    return table.astype(dict.fromkeys(roles.sensitive, float))


def tables(rows: int = ROWS) -> Iterator[Microdata]:
    """The real table where there is one, and the generated one."""
    folder = reference_data()
    if folder is not None:
        yield microdata("real", real_table(folder).head(rows))
    yield microdata("generated", household_table(rows))


def retail(folder: Path) -> TransactionTables:
    """All 4,334 customers of Online Retail that the recipe of TC400 knows."""
    return tables_of(derive(pd.read_parquet(folder / RETAIL), customers=None))


def customers(name: str, tables: TransactionTables) -> tuple[str, TransactionTarget]:
    """Released with a tenth of the records deleted, and shuffled."""
    track, rng = TRACKS["transactions"], np.random.default_rng(0)
    kept = np.sort(rng.permutation(len(tables.transactions))[: int(SHARE_KEPT * len(tables.transactions))])
    records = tables.transactions.iloc[kept].reset_index(drop=True)
    whole = np.arange(len(tables.customers))
    released, _ = track.shuffle(replace(tables, transactions=records), whole, rng=rng)
    return name, release.target_of(release.prepare(tables), released)


def shipped(most: int) -> tuple[str, TransactionTarget]:
    """TC400, or its first customers."""
    whole = tc400()
    people = whole.customers.head(most)
    theirs = whole.transactions["customer_id"].isin(people["customer_id"])
    return customers("TC400", TransactionTables(people, whole.transactions[theirs].reset_index(drop=True)))


HOSTILE: dict[str, tuple[float, ...]] = {
    "ties": (0.0, 1.0, 2.0),
    "duplicates": (3.5, 1e6),
    "constant": (7.0,),
    "tiny": (-5e-324, 0.0, 5e-324, 1e-200),
    "huge": (-1.7e308, -1e200, 0.0, 1e200),
    "cancelling": (0.0, 1e16, 1e16 + 2, 0.1, 0.3, 1.0),
}
"""The values that the cells of a hostile table are drawn from."""


def hostile_targets(rows: int = 60) -> Iterator[Target]:
    """Equal rows and distances everywhere, and cells of any size; tables of one row."""
    rng = np.random.default_rng(7)
    for values in HOSTILE.values():
        yield _target(_hostile(values, rows, rng), _hostile(values, rows, rng))
    for before, after in ((1, 1), (1, 5), (5, 1)):
        yield _target(_hostile((0.0, 1.0), before, rng), _hostile((0.0, 1.0), after, rng))


def unmatched(target: Target) -> Target:
    """The same with quasi-identifiers that no row of X has."""
    return target_of(target.original, target.anonymized.assign(SetaiKubun="unknown"))


def _hostile(values: tuple[float, ...], rows: int, rng: np.random.Generator) -> pd.DataFrame:
    roles = household_columns()
    # Few classes, but not one: the first columns have two values each, the others one.
    texts = {
        name: rng.choice(["a", "b"], rows) if place < 3 else ["c"] * rows
        for place, name in enumerate(roles.quasi_identifiers)
    }
    numbers: dict[str, FloatArray] = {name: rng.choice(values, rows) for name in roles.sensitive}
    return pd.DataFrame({**texts, **numbers}).astype(dict.fromkeys(roles.quasi_identifiers, "str"))


def _target(before: pd.DataFrame, after: pd.DataFrame) -> Target:
    return target_of(prepare(before, household_columns()), after)


def hostile_customers() -> Iterator[TransactionTarget]:
    """Equal baskets, baskets without goods, goods of one side only; one customer; quantities of any size."""
    rng = np.random.default_rng(8)
    for before, after, most in ((40, 40, 1), (40, 30, 3), (1, 1, 2), (6, 2, 10**9)):
        original = release.prepare(_purchases(before, 12, most, rng))
        yield release.target_of(original, _purchases(after, 14, most, rng))


def _purchases(customers: int, goods: int, most: int, rng: np.random.Generator) -> TransactionTables:
    """About four records each; every fifth customer has none."""
    count = 4 * customers
    names = [f"c{number}" for number in range(customers)]
    buyers = rng.integers(0, customers, count)
    buyers = np.where(buyers % 5 == 4, 0, buyers)
    people = pd.DataFrame({"customer_id": names, "sex": "f", "birthday": "1950-01-01", "country": "France"})
    records = pd.DataFrame(
        {
            "customer_id": [names[buyer] for buyer in buyers],
            "receipt_id": [f"r{number}" for number in range(count)],
            "date": "2011-01-05",
            "time": "08:45",
            "goods": [f"g{number}" for number in rng.integers(0, goods, count)],
            "unit_price": 1.0,
            "quantity": rng.integers(1, most + 1, count),
        }
    )
    return TransactionTables(people.astype("str"), records)


def some_baskets(target: TransactionTarget, rows: slice) -> TransactionTarget:
    """Those baskets of M', and all of M; the attackers by baskets read nothing else."""
    return replace(target, baskets=target.baskets[rows], kept={})
