"""Inputs of the duels: generated and shipped data, and the real data in ``ANONCUP_REFERENCE_DATA``."""

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
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.microdata.example import DEFAULT_ROWS, generate_households, get_household_columns
from anoncup.tracks.microdata.release import MicrodataOriginal, MicrodataTarget, build_target
from anoncup.tracks.transactions import release
from anoncup.tracks.transactions.example import derive_tc400, load_tc400, split_tables
from anoncup.tracks.transactions.release import TransactionTarget
from anoncup.tracks.transactions.tables import TransactionTables

_REAL_FILE = "microdata_8333x25.csv"
_RETAIL_FILE = "online_retail.parquet"
_NOISE = 0.1
_KEPT_RECORD_SHARE = 0.9


def get_reference_folder() -> Path | None:
    """Return the folder of real data, or None."""
    folder = os.environ.get("ANONCUP_REFERENCE_DATA")
    return Path(folder) if folder else None


@dataclass(frozen=True, slots=True)
class Microdata:
    """A table X and two releases: one with quasi-identifiers of X, one with values that do not occur in X."""

    name: str
    rules: Rules
    table: pd.DataFrame
    source: IntArray
    matched: MicrodataTarget
    unmatched: MicrodataTarget

    @property
    def files(self) -> dict[str, bytes]:
        return {"anonymized": write_csv(self.matched.anonymized)}

    @property
    def unmatched_files(self) -> dict[str, bytes]:
        return {"anonymized": write_csv(self.unmatched.anonymized)}


def make_microdata(name: str, table: pd.DataFrame) -> Microdata:
    """Release a table with noise on the sensitive columns, shuffled."""
    rules, track, rng = parse_competition(template(2015)), TRACKS["microdata"], np.random.default_rng(0)
    method = track.methods["add_noise"]
    noisy = track.anonymize(
        method, MicrodataOriginal(table, get_household_columns()), rules, rng, {"strength": _NOISE}
    )
    released, source = track.shuffle(*noisy, rng=rng)
    target = build_target(MicrodataOriginal(table, get_household_columns()), released)
    return Microdata(
        name,
        rules,
        table,
        source,
        target,
        make_unmatched(target),
    )


def load_real_table(folder: Path) -> pd.DataFrame:
    """Load the real table under the template's names: 13 quasi-identifiers, 12 sensitive columns."""
    table = pd.read_csv(folder / _REAL_FILE, dtype=str, keep_default_na=False)
    roles = get_household_columns()
    table.columns = pd.Index([*roles.quasi_identifiers, *roles.sensitive])
    return table.astype(dict.fromkeys(roles.sensitive, float))


def list_microdata(rows: int = DEFAULT_ROWS) -> Iterator[Microdata]:
    """Yield the real table, if there is one, and the generated one."""
    folder = get_reference_folder()
    if folder is not None:
        yield make_microdata("real", load_real_table(folder).head(rows))
    yield make_microdata("generated", generate_households(rows))


def load_retail(folder: Path) -> TransactionTables:
    """Load all 4,334 customers of Online Retail that the recipe of TC400 accepts."""
    return split_tables(derive_tc400(pd.read_parquet(folder / _RETAIL_FILE), customers=None))


def make_customer_target(name: str, tables: TransactionTables) -> tuple[str, TransactionTarget]:
    """Return the name and a shuffled release with a tenth of the records deleted."""
    track, rng = TRACKS["transactions"], np.random.default_rng(0)
    row_positions = np.sort(
        rng.permutation(len(tables.transactions))[: int(_KEPT_RECORD_SHARE * len(tables.transactions))]
    )
    records = tables.transactions.iloc[row_positions].reset_index(drop=True)
    all_customers = np.arange(len(tables.customers))
    released, _ = track.shuffle(replace(tables, transactions=records), all_customers, rng=rng)
    return name, release.build_target(release.TransactionOriginal(tables), released)


def make_shipped_target(max_customers: int) -> tuple[str, TransactionTarget]:
    """Return a release of TC400's first ``max_customers`` customers."""
    all_tables = load_tc400()
    people = all_tables.customers.head(max_customers)
    is_included = all_tables.transactions["customer_id"].isin(people["customer_id"])
    return make_customer_target(
        "TC400", TransactionTables(people, all_tables.transactions[is_included].reset_index(drop=True))
    )


_HOSTILE_VALUES: dict[str, tuple[float, ...]] = {
    "ties": (0.0, 1.0, 2.0),
    "duplicates": (3.5, 1e6),
    "constant": (7.0,),
    "tiny": (-1e-30, 0.0, 1e-30, 1e-20),
    "huge": (-1e30, -1e20, 0.0, 1e20),
    "cancelling": (0.0, 1e16, 1e16 + 2, 0.1, 0.3, 1.0),
}
"""Values for the cells of hostile tables."""


def make_hostile_targets(rows: int = 60) -> Iterator[MicrodataTarget]:
    """Yield targets with many equal rows and distances, extreme values, and tables of one row."""
    rng = np.random.default_rng(7)
    for values in _HOSTILE_VALUES.values():
        yield _make_target(_make_hostile_table(values, rows, rng), _make_hostile_table(values, rows, rng))
    for original_rows, anonymized_rows in ((1, 1), (1, 5), (5, 1)):
        yield _make_target(
            _make_hostile_table((0.0, 1.0), original_rows, rng),
            _make_hostile_table((0.0, 1.0), anonymized_rows, rng),
        )


def make_unmatched(target: MicrodataTarget) -> MicrodataTarget:
    """Return the target with quasi-identifiers that no row of X has."""
    return build_target(target.original, target.anonymized.assign(SetaiKubun="unknown"))


def _make_hostile_table(values: tuple[float, ...], rows: int, rng: np.random.Generator) -> pd.DataFrame:
    roles = get_household_columns()
    # Several classes, but few: the first three columns have two values each, the others one.
    texts = {
        name: rng.choice(["a", "b"], rows) if position < 3 else ["c"] * rows
        for position, name in enumerate(roles.quasi_identifiers)
    }
    numbers: dict[str, FloatArray] = {name: rng.choice(values, rows) for name in roles.sensitive}
    return pd.DataFrame({**texts, **numbers}).astype(dict.fromkeys(roles.quasi_identifiers, "str"))


def _make_target(original: pd.DataFrame, anonymized: pd.DataFrame) -> MicrodataTarget:
    return build_target(MicrodataOriginal(original, get_household_columns()), anonymized)


def make_hostile_customers() -> Iterator[TransactionTarget]:
    """Yield targets with equal or empty baskets, goods in one table only, one customer, large quantities."""
    rng = np.random.default_rng(8)
    for original_count, anonymized_count, max_quantity in (
        (40, 40, 1),
        (40, 30, 3),
        (1, 1, 2),
        (6, 2, 10**9),
    ):
        original = release.TransactionOriginal(_make_purchases(original_count, 12, max_quantity, rng))
        yield release.build_target(original, _make_purchases(anonymized_count, 14, max_quantity, rng))


def _make_purchases(
    customers: int, goods: int, max_quantity: int, rng: np.random.Generator
) -> TransactionTables:
    """Generate about four records for each customer; every fifth customer has none."""
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
            "quantity": rng.integers(1, max_quantity + 1, count),
        }
    )
    return TransactionTables(people.astype("str"), records)


def select_baskets(target: TransactionTarget, rows: slice) -> TransactionTarget:
    """Return a target with some customers of M' and all of M."""
    customers, records = target.tables.customers[rows], target.tables.transactions
    is_included = records["customer_id"].isin(customers["customer_id"])
    return release.build_target(target.original, TransactionTables(customers, records[is_included]))
