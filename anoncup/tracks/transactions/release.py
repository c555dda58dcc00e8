"""The tables of a transactions submission, prepared for measuring and for attacking.

As in ``release.py``: what depends on the original alone is kept in :class:`PreparedTransactions`, an attacker
sees a :class:`TransactionTarget`, and :class:`TransactionRelease` adds the answer.
"""

from dataclasses import dataclass, field
from datetime import date

import numpy as np
import pandas as pd
from scipy.sparse import coo_array

from anoncup.geometry.arrays import FloatArray, IntArray, SparseCounts
from anoncup.geometry.encoding import (
    Vocabulary,
    encode,
    extended,
    group_rows,
    numbered,
    renumbered,
    texts,
    vocabulary_of,
)
from anoncup.tracks.memo import Memo, once
from anoncup.tracks.transactions.files import MASTER
from anoncup.tracks.transactions.tables import TransactionTables


@dataclass(frozen=True, slots=True)
class Words:
    """How the texts of both tables are numbered; a release's extends its original's."""

    goods: Vocabulary
    receipts: Vocabulary
    master: tuple[Vocabulary, ...]


@dataclass(frozen=True, slots=True)
class History:
    """A table of transactions as numbers, sorted by owner, price and quantity: sums over a customer's rows
    do not depend on the order of the file.

    ``owner`` (m,): the customer's row in the table of customers; ``goods``, ``receipt`` (m,): numbers of the
    texts; ``day`` (m,): days, counted from a fixed date; ``price`` (m,), ``quantity`` (m,).
    """

    owner: IntArray
    goods: IntArray
    receipt: IntArray
    day: IntArray
    price: FloatArray
    quantity: IntArray


@dataclass(frozen=True, slots=True)
class PreparedTransactions:
    """The original with everything derived from it alone, made on first use and kept; picklable.

    ``master`` (n, 3): each customer's sex, birthday and country as numbers; ``baskets`` (n, goods): how much
    of each good each customer bought in all.
    """

    tables: TransactionTables
    words: Words
    master: IntArray
    history: History
    baskets: SparseCounts
    kept: Memo = field(default_factory=dict, compare=False, repr=False)

    @property
    def rows(self) -> int:
        """Number of individuals."""
        return len(self.tables.customers)


@dataclass(frozen=True, slots=True)
class TransactionTarget:
    """What an attacker sees: the original and the anonymized tables, numbered by the same ``words``.

    ``baskets`` (n', goods of either table): those of the original come first.
    """

    original: PreparedTransactions
    tables: TransactionTables
    words: Words
    master: IntArray
    history: History
    baskets: SparseCounts
    kept: Memo = field(default_factory=dict, compare=False, repr=False)

    @property
    def rows(self) -> int:
        """Number of individuals left."""
        return len(self.tables.customers)


@dataclass(frozen=True, slots=True)
class TransactionRelease:
    """A submission with its secret: customer j of M' is customer ``source[j]`` of M, counted from 0."""

    target: TransactionTarget
    source: IntArray
    kept: Memo = field(default_factory=dict, compare=False, repr=False)

    @property
    def original(self) -> PreparedTransactions:
        return self.target.original


def prepare(tables: TransactionTables) -> PreparedTransactions:
    """Prepare the original tables."""
    columns = Columns.of(tables)
    words = Words(
        goods=vocabulary_of(columns.goods[1]),
        receipts=vocabulary_of(columns.receipts[1]),
        master=tuple(vocabulary_of(texts(tables.customers, name)) for name in MASTER),
    )
    history = history_of(tables, columns, words)
    baskets = baskets_of(history, len(tables.customers), len(words.goods))
    return PreparedTransactions(tables, words, _master(tables, words), history, baskets)


def target_of(original: PreparedTransactions, tables: TransactionTables) -> TransactionTarget:
    """What is published of a submission, numbered by the original's words."""
    columns, known = Columns.of(tables), original.words
    words = Words(
        goods=extended(known.goods, columns.goods[1]),
        receipts=extended(known.receipts, columns.receipts[1]),
        master=tuple(
            extended(words, texts(tables.customers, name))
            for words, name in zip(known.master, MASTER, strict=True)
        ),
    )
    history = history_of(tables, columns, words)
    baskets = baskets_of(history, len(tables.customers), len(words.goods))
    return TransactionTarget(original, tables, words, _master(tables, words), history, baskets)


def release_of(
    original: PreparedTransactions, tables: TransactionTables, source: IntArray
) -> TransactionRelease:
    """A submission; ``source`` (n',) counts the original's customers from 0."""
    return TransactionRelease(target_of(original, tables), np.ascontiguousarray(source, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Columns:
    """The text columns of a table of transactions, each as numbers and the distinct texts."""

    customers: tuple[IntArray, list[str]]
    goods: tuple[IntArray, list[str]]
    receipts: tuple[IntArray, list[str]]
    dates: tuple[IntArray, list[str]]

    @staticmethod
    def of(tables: TransactionTables) -> "Columns":
        names = ("customer_id", "goods", "receipt_id", "date")
        return Columns(*(numbered(tables.transactions[name]) for name in names))


def history_of(tables: TransactionTables, columns: Columns, words: Words) -> History:
    rows = {name: row for row, name in enumerate(texts(tables.customers, "customer_id"))}
    days = {cell: date.fromisoformat(cell).toordinal() for cell in columns.dates[1]}
    owner = renumbered(*columns.customers, rows)
    price = tables.transactions["unit_price"].to_numpy(dtype=np.float64)
    quantity = tables.transactions["quantity"].to_numpy(dtype=np.int64)
    order = np.lexsort((quantity, price, owner))
    return History(
        owner=owner[order],
        goods=renumbered(*columns.goods, words.goods)[order],
        receipt=renumbered(*columns.receipts, words.receipts)[order],
        day=renumbered(*columns.dates, days)[order],
        price=price[order],
        quantity=quantity[order],
    )


def baskets_of(history: History, customers: int, goods: int) -> SparseCounts:
    """How much of each good each customer bought, (customers, goods), sorted, without zeros."""
    entries = (history.quantity, (history.owner, history.goods))
    return coo_array(entries, shape=(customers, goods)).tocsr()


def basket_classes(target: TransactionTarget) -> IntArray:
    """The class of every customer of M', (n',): equal sets of goods, equal number."""

    def number() -> IntArray:
        baskets = target.baskets
        spans = zip(baskets.indptr[:-1], baskets.indptr[1:], strict=True)
        sets = [baskets.indices[start:end].tobytes() for start, end in spans]
        places = {goods: place for place, goods in enumerate(dict.fromkeys(sets))}
        return np.array([places[goods] for goods in sets], dtype=np.int64)

    return once(target.kept, ("basket classes",), number)


def master_classes(target: TransactionTarget) -> IntArray:
    """The class of every customer of M', (n',): equal sex, birthday and country, equal number."""
    return once(target.kept, ("master classes",), lambda: group_rows(target.master).group_of)


def last_day(original: PreparedTransactions) -> int:
    """The last date of the original's transactions."""
    return int(original.history.day.max())


def _master(tables: TransactionTables, words: Words) -> IntArray:
    columns = [
        encode(texts(tables.customers, name), known) for name, known in zip(MASTER, words.master, strict=True)
    ]
    return np.stack(columns, axis=1)


def permuted(tables: TransactionTables, rng: np.random.Generator) -> TransactionTables:
    """Every column of T but the customers', in file order, permuted by itself; M stays."""
    records = tables.transactions
    columns = {
        name: records[name].to_numpy()[rng.permutation(len(records))]
        for name in records.columns
        if name != "customer_id"
    }
    return TransactionTables(
        tables.customers, pd.DataFrame({"customer_id": records["customer_id"], **columns})
    )
