"""The tables of a transactions submission, prepared for measures and attackers.

M is the original table of customers and M' the anonymized one. Attackers get a ``TransactionTarget``,
measures ``ScoredRelease`` tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.random import PCG64, Generator

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray, SparseCounts
from anoncup.geometry.encoding import factorize, get_column_texts, group_rows
from anoncup.rules.model import Rules
from anoncup.tables.files import Remark
from anoncup.tracks.files import Files
from anoncup.tracks.linkage.permutation import normalize_source
from anoncup.tracks.memo import Memo, memoize
from anoncup.tracks.parts import Method, ScoredRelease
from anoncup.tracks.transactions import tables as table_files
from anoncup.tracks.transactions.files import MASTER_COLUMNS
from anoncup.tracks.transactions.tables import AnonymizedTransactions, TransactionTables, select_customers


@dataclass(frozen=True, slots=True)
class TransactionHistory:
    """A table of transactions as numbers, in the order of the file.

    All arrays are (m,). Methods return a value for each customer, (customers,), which is 0 for those without
    transactions.
    """

    customers: int
    """The number of customers."""
    owner: IntArray
    """The customer's row in the table of customers, counted from 0."""
    goods: IntArray
    """The good as a number by the vocabulary ``goods``."""
    receipt: IntArray
    """The receipt as a number by the vocabulary ``receipt_id``."""
    day: IntArray
    """The date as ``datetime.date.toordinal`` counts it."""
    price: FloatArray
    """The price of one piece."""
    quantity: IntArray

    def has_rows(self) -> BoolArray:
        """Return whether each customer has transactions."""
        return np.bincount(self.owner, minlength=self.customers) > 0

    def average_prices(self) -> FloatArray:
        """Return the mean unit price of each customer's rows."""
        sums = np.bincount(self.owner, self.price, self.customers)
        means: FloatArray = sums / np.maximum(np.bincount(self.owner, minlength=self.customers), 1)
        return means

    def sum_spends(self) -> FloatArray:
        """Return each customer's total of price times quantity."""
        totals = self.price * self.quantity
        return np.bincount(self.owner, totals, self.customers).astype(np.float64)

    def count_receipts(self) -> IntArray:
        """Return the number of each customer's receipts."""
        width = int(self.receipt.max(initial=0)) + 1
        return np.bincount(np.unique(self.owner * width + self.receipt) // width, minlength=self.customers)

    def find_last_days(self) -> IntArray:
        """Return the day of each customer's last purchase."""
        last_days = np.zeros(self.customers, dtype=np.int64)
        np.maximum.at(last_days, self.owner, self.day)
        return last_days


@dataclass(frozen=True, slots=True)
class EncodedTables:
    """M and T, or M' and T', and their cells as numbers, memoized on first use; picklable."""

    tables: TransactionTables
    memo: Memo = field(default_factory=dict, compare=False, repr=False, kw_only=True)

    @property
    def rows(self) -> int:
        """Number of individuals."""
        return len(self.tables.customers)

    @property
    def earlier_tables(self) -> "EncodedTables | None":
        """Tables whose texts keep their numbers in these."""
        return None

    @memoize
    def number_texts(self, column: str) -> tuple[IntArray, list[str]]:
        """Return a column's cells as numbers of texts, and the texts in the order of their numbers."""
        table = self.tables.customers if column in MASTER_COLUMNS else self.tables.transactions
        known_texts = self.earlier_tables.number_texts(column)[1] if self.earlier_tables else ()
        return factorize(table[column], known_texts)

    @property
    @memoize
    def history(self) -> TransactionHistory:
        """T as numbers."""
        customers, records = self.tables.customers, self.tables.transactions
        return TransactionHistory(
            customers=len(customers),
            owner=factorize(records["customer_id"], get_column_texts(customers, "customer_id"))[0],
            goods=self.number_texts("goods")[0],
            receipt=self.number_texts("receipt_id")[0],
            day=_count_days(records["date"]),
            price=records["unit_price"].to_numpy(dtype=np.float64),
            quantity=records["quantity"].to_numpy(dtype=np.int64),
        )

    @property
    @memoize
    def master(self) -> IntArray:
        """Each customer's sex, birthday and country as numbers, (n, 3)."""
        return np.column_stack([self.number_texts(name)[0] for name in MASTER_COLUMNS])

    @property
    @memoize
    def baskets(self) -> SparseCounts:
        """The total quantity of each good that each customer bought, (n, goods), without zeros.

        The columns of a release begin with the goods of the original.
        """
        from scipy.sparse import coo_array  # noqa: PLC0415  # parsing does not need scipy

        history = self.history
        entries = (history.quantity, (history.owner, history.goods))
        return coo_array(entries, shape=(self.rows, len(self.number_texts("goods")[1]))).tocsr()


@dataclass(frozen=True, slots=True)
class TransactionOriginal(EncodedTables):
    """The original. Later changes of the caller's tables have no effect."""

    def __post_init__(self) -> None:
        own_tables = TransactionTables(self.tables.customers.copy(), self.tables.transactions.copy())
        object.__setattr__(self, "tables", own_tables)


@dataclass(frozen=True, slots=True)
class TransactionTarget(EncodedTables):
    """Public part of a submission, for attackers: the anonymized tables, and the original."""

    original: TransactionOriginal

    @property
    def earlier_tables(self) -> EncodedTables:
        return self.original

    def find_buyers(self) -> IntArray:
        """Return the customers of M' whose basket is not empty."""
        return np.flatnonzero(np.diff(self.baskets.indptr))


ScoredTransactions: TypeAlias = ScoredRelease[TransactionTables, TransactionTarget, IntArray]
"""A submission with its secret: customer j of M' is customer ``answer[j]`` of M, counted from 0."""


def parse_original(files: Files, rules: object) -> tuple[TransactionOriginal, list[Remark]]:
    parsed, remarks = table_files.parse_original(files)
    return TransactionOriginal(parsed), remarks


def parse_release(
    files: Files,
    original: TransactionOriginal,
    rules: object,
    own_files: Files,
) -> tuple[TransactionTables, list[Remark]]:
    return table_files.parse_release(files, original.tables)


def build_target(original: TransactionOriginal, tables: TransactionTables) -> TransactionTarget:
    """Return the public part of a submission."""
    return TransactionTarget(tables, original)


def build_release(
    original: TransactionOriginal, tables: TransactionTables, source: IntArray
) -> ScoredTransactions:
    """Return a submission with its secret ``source`` (n',), which counts the original's customers from 0."""
    return ScoredRelease(tables, build_target(original, tables), normalize_source(source))


def _count_days(dates: pd.Series) -> IntArray:
    """Return ISO dates as numbers of days from a fixed date."""
    codes, distinct = factorize(dates)
    days = [date.fromisoformat(text).toordinal() for text in distinct]
    return np.array(days, dtype=np.int64)[codes]


def null_release(original: TransactionOriginal, seed: int) -> ScoredTransactions:
    """Permute each column of T except the customers' independently, in file order, with PCG64(seed)."""
    rng, records = Generator(PCG64(seed)), original.tables.transactions
    columns = {
        name: records[name].to_numpy()[rng.permutation(len(records))]
        for name in records.columns
        if name != "customer_id"
    }
    permuted = pd.DataFrame({"customer_id": records["customer_id"], **columns})
    tables = TransactionTables(original.tables.customers, permuted)
    return build_release(original, tables, np.arange(original.rows))


def group_individuals(original: TransactionOriginal, names: Sequence[str]) -> IntArray:
    """Return the group of every customer, (n,), by the named columns of the customers table."""
    column_indices = [MASTER_COLUMNS.index(name) for name in names]
    return group_rows(original.master[:, column_indices]).group_ids


def subset(original: TransactionOriginal, rows: IntArray) -> TransactionOriginal:
    return TransactionOriginal(select_customers(original.tables, rows))


def identity_release(original: TransactionOriginal) -> ScoredTransactions:
    return build_release(original, original.tables, np.arange(original.rows))


def anonymize(
    method: Method[AnonymizedTransactions],
    original: TransactionOriginal,
    rules: Rules,
    rng: Generator,
    parameters: Mapping[str, Any],
) -> AnonymizedTransactions:
    return method.apply(original.tables, rng=rng, **parameters)
