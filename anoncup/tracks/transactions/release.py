"""The tables of a transactions submission, prepared for measures and attackers.

M is the original table of customers and M' the anonymized one. All that is derived from the original alone is
memoized in :class:`TransactionOriginal`. Attackers get a :class:`TransactionTarget`, measures
:class:`ScoredRelease` tables.
"""

from dataclasses import dataclass, field
from datetime import date
from typing import TypeAlias

import numpy as np
import pandas as pd

from anoncup.geometry.arrays import FloatArray, IntArray, SparseCounts
from anoncup.geometry.encoding import (
    RowGroups,
    Vocabulary,
    build_vocabulary,
    copy_table,
    encode,
    extend_vocabulary,
    factorize,
    get_column_texts,
    group_rows,
    translate_codes,
)
from anoncup.tables.files import Remark
from anoncup.tracks.files import Files
from anoncup.tracks.linkage.permutation import normalize_source
from anoncup.tracks.memo import Memo, memoize
from anoncup.tracks.parts import ScoredRelease
from anoncup.tracks.transactions import tables as table_files
from anoncup.tracks.transactions.files import MASTER_COLUMNS
from anoncup.tracks.transactions.tables import TransactionTables


@dataclass(frozen=True, slots=True)
class TransactionVocabularies:
    """Numberings of the texts of both tables; the vocabularies of a release extend those of its original."""

    goods: Vocabulary
    receipts: Vocabulary
    master: tuple[Vocabulary, ...]


@dataclass(frozen=True, slots=True)
class TransactionHistory:
    """A table of transactions as numbers, in the order of the file.

    All arrays are (m,):
    ``owner`` is the customer's row in the table of customers, ``goods`` and ``receipt`` are numbers of texts,
    ``day`` counts days from a fixed date.
    """

    owner: IntArray
    goods: IntArray
    receipt: IntArray
    day: IntArray
    price: FloatArray
    quantity: IntArray


@dataclass(frozen=True, slots=True)
class TransactionOriginal:
    """The original and all that is derived from it alone, memoized on first use; picklable.

    Later changes of the caller's tables have no effect.
    """

    tables: TransactionTables
    memo: Memo = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        own_tables = TransactionTables(
            copy_table(self.tables.customers), copy_table(self.tables.transactions)
        )
        object.__setattr__(self, "tables", own_tables)

    @property
    def rows(self) -> int:
        """Number of individuals."""
        return len(self.tables.customers)

    @property
    def vocabularies(self) -> TransactionVocabularies:
        return self._encode()[0]

    @property
    def history(self) -> TransactionHistory:
        return self._encode()[1]

    @property
    @memoize
    def master(self) -> IntArray:
        """Each customer's sex, birthday and country as numbers, (n, 3)."""
        return _encode_master(self.tables, self.vocabularies)

    @memoize
    def group_by_master(self) -> RowGroups:
        """Return the groups of customers with equal sex, birthday and country."""
        return group_rows(self.master)

    @property
    @memoize
    def baskets(self) -> SparseCounts:
        """The total quantity of each good that each customer bought, (n, goods)."""
        return _build_baskets(self.history, self.rows, len(self.vocabularies.goods))

    @memoize
    def _encode(self) -> tuple[TransactionVocabularies, TransactionHistory]:
        columns, customers = EncodedColumns.encode(self.tables), self.tables.customers
        vocabularies = TransactionVocabularies(
            goods=build_vocabulary(columns.goods[1]),
            receipts=build_vocabulary(columns.receipts[1]),
            master=tuple(build_vocabulary(get_column_texts(customers, name)) for name in MASTER_COLUMNS),
        )
        return vocabularies, _build_history(self.tables, columns, vocabularies)


@dataclass(frozen=True, slots=True)
class TransactionTarget:
    """Public part of a submission, for attackers: the original and the anonymized tables.

    The ``vocabularies`` number the texts of both. In ``baskets`` (n', goods of either), the goods of the
    original come first.
    """

    original: TransactionOriginal
    tables: TransactionTables
    vocabularies: TransactionVocabularies
    master: IntArray
    history: TransactionHistory
    baskets: SparseCounts
    memo: Memo = field(default_factory=dict, compare=False, repr=False)

    @property
    def rows(self) -> int:
        """Number of remaining individuals."""
        return len(self.tables.customers)


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
    """Return the public part of a submission, with the original's vocabularies extended."""
    columns, original_vocabularies = EncodedColumns.encode(tables), original.vocabularies
    vocabularies = TransactionVocabularies(
        goods=extend_vocabulary(original_vocabularies.goods, columns.goods[1]),
        receipts=extend_vocabulary(original_vocabularies.receipts, columns.receipts[1]),
        master=tuple(
            extend_vocabulary(vocabularies, get_column_texts(tables.customers, name))
            for vocabularies, name in zip(original_vocabularies.master, MASTER_COLUMNS, strict=True)
        ),
    )
    history = _build_history(tables, columns, vocabularies)
    baskets = _build_baskets(history, len(tables.customers), len(vocabularies.goods))
    return TransactionTarget(
        original, tables, vocabularies, _encode_master(tables, vocabularies), history, baskets
    )


def build_release(
    original: TransactionOriginal, tables: TransactionTables, source: IntArray
) -> ScoredTransactions:
    """Return a submission with its secret ``source`` (n',), which counts the original's customers from 0."""
    target = build_target(original, tables)
    return ScoredRelease(tables, target, normalize_source(source))


@dataclass(frozen=True, slots=True)
class EncodedColumns:
    """The text columns of a table of transactions, each as numbers and the distinct texts."""

    customers: tuple[IntArray, list[str]]
    goods: tuple[IntArray, list[str]]
    receipts: tuple[IntArray, list[str]]
    dates: tuple[IntArray, list[str]]

    @staticmethod
    def encode(tables: TransactionTables) -> "EncodedColumns":
        names = ("customer_id", "goods", "receipt_id", "date")
        return EncodedColumns(*(factorize(tables.transactions[name]) for name in names))


def _build_history(
    tables: TransactionTables, columns: EncodedColumns, vocabularies: TransactionVocabularies
) -> TransactionHistory:
    customer_rows = {name: row for row, name in enumerate(get_column_texts(tables.customers, "customer_id"))}
    day_by_date = {date_text: date.fromisoformat(date_text).toordinal() for date_text in columns.dates[1]}
    return TransactionHistory(
        owner=translate_codes(*columns.customers, customer_rows),
        goods=translate_codes(*columns.goods, vocabularies.goods),
        receipt=translate_codes(*columns.receipts, vocabularies.receipts),
        day=translate_codes(*columns.dates, day_by_date),
        price=tables.transactions["unit_price"].to_numpy(dtype=np.float64),
        quantity=tables.transactions["quantity"].to_numpy(dtype=np.int64),
    )


def _build_baskets(history: TransactionHistory, customers: int, goods: int) -> SparseCounts:
    """Return the quantity of each good that each customer bought, (customers, goods), without zeros."""
    from scipy.sparse import coo_array  # noqa: PLC0415  # parsing does not need scipy

    entries = (history.quantity, (history.owner, history.goods))
    return coo_array(entries, shape=(customers, goods)).tocsr()


@memoize
def group_by_basket(target: TransactionTarget) -> IntArray:
    """Return the class of every customer of M' by the set of goods, (n',)."""
    baskets = target.baskets
    row_bounds = zip(baskets.indptr[:-1], baskets.indptr[1:], strict=True)
    classes, _ = pd.factorize(
        np.array([baskets.indices[start:end].tobytes() for start, end in row_bounds], dtype=object)
    )
    return np.asarray(classes, dtype=np.int64)


@memoize
def group_by_master(target: TransactionTarget) -> IntArray:
    """Return the class of every customer of M' by sex, birthday and country, (n',)."""
    return group_rows(target.master).group_ids


def find_last_day(original: TransactionOriginal) -> int:
    """Return the last date of the original's transactions."""
    return int(original.history.day.max())


def _encode_master(tables: TransactionTables, vocabularies: TransactionVocabularies) -> IntArray:
    columns = [
        encode(get_column_texts(tables.customers, name), vocabulary)
        for name, vocabulary in zip(MASTER_COLUMNS, vocabularies.master, strict=True)
    ]
    return np.stack(columns, axis=1)


def permute_columns(tables: TransactionTables, rng: np.random.Generator) -> TransactionTables:
    """Permute every column of T except the customers' independently, in file order; M is unchanged."""
    records = tables.transactions
    columns = {
        name: records[name].to_numpy()[rng.permutation(len(records))]
        for name in records.columns
        if name != "customer_id"
    }
    return TransactionTables(
        tables.customers, pd.DataFrame({"customer_id": records["customer_id"], **columns})
    )
