"""The tables of a transactions submission, prepared for measures and attackers.

M is the original table of customers and M' the anonymized one. All that is derived from the original alone is
memoized in :class:`TransactionOriginal`. Attackers get a :class:`TransactionTarget`, measures
:class:`ScoredRelease` tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.random import PCG64, Generator

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray, SparseCounts
from anoncup.geometry.encoding import (
    Vocabulary,
    build_vocabulary,
    extend_vocabulary,
    factorize,
    get_column_texts,
    group_rows,
    translate_codes,
)
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

    All arrays are (m,): ``owner`` is the customer's row in the table of ``customers`` customers, ``goods``
    and ``receipt`` are numbers of texts, ``day`` counts days from a fixed date. Methods return a value for
    each customer, (customers,), which is 0 for those without transactions.
    """

    customers: int
    owner: IntArray
    goods: IntArray
    receipt: IntArray
    day: IntArray
    price: FloatArray
    quantity: IntArray

    def has_rows(self) -> BoolArray:
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
        width = int(self.receipt.max(initial=0)) + 1
        return np.bincount(np.unique(self.owner * width + self.receipt) // width, minlength=self.customers)

    def find_last_days(self) -> IntArray:
        """Return the day of each customer's last purchase."""
        last_days = np.zeros(self.customers, dtype=np.int64)
        np.maximum.at(last_days, self.owner, self.day)
        return last_days


@dataclass(frozen=True, slots=True)
class TransactionVocabularies:
    """Numberings of the texts of both tables; the vocabularies of a release extend those of its original."""

    goods: Vocabulary
    receipts: Vocabulary
    master: tuple[Vocabulary, ...]


_NO_TEXTS = TransactionVocabularies({}, {}, tuple({} for _ in MASTER_COLUMNS))


@dataclass(frozen=True, slots=True)
class TablesAsNumbers:
    """Both tables as numbers of the ``vocabularies``; ``master`` has sex, birthday and country, (n, 3)."""

    vocabularies: TransactionVocabularies
    master: IntArray
    history: TransactionHistory


@dataclass(frozen=True, slots=True)
class TransactionOriginal:
    """The original and all that is derived from it alone, memoized on first use; picklable.

    Later changes of the caller's tables have no effect.
    """

    tables: TransactionTables
    memo: Memo = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        own_tables = TransactionTables(self.tables.customers.copy(), self.tables.transactions.copy())
        object.__setattr__(self, "tables", own_tables)

    @property
    def rows(self) -> int:
        """Number of individuals."""
        return len(self.tables.customers)

    @property
    def vocabularies(self) -> TransactionVocabularies:
        return self._encode().vocabularies

    @property
    def history(self) -> TransactionHistory:
        return self._encode().history

    @property
    def master(self) -> IntArray:
        """Each customer's sex, birthday and country as numbers, (n, 3)."""
        return self._encode().master

    @property
    @memoize
    def baskets(self) -> SparseCounts:
        """The total quantity of each good that each customer bought, (n, goods)."""
        return _build_baskets(self._encode())

    @memoize
    def _encode(self) -> TablesAsNumbers:
        return _encode_tables(self.tables, _NO_TEXTS)


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

    def find_buyers(self) -> IntArray:
        """Return the customers of M' whose basket is not empty."""
        return np.flatnonzero(np.diff(self.baskets.indptr))


EncodedTables = TransactionOriginal | TransactionTarget
"""M and T, or M' and T', with their cells as numbers."""

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
    numbers = _encode_tables(tables, original.vocabularies)
    return TransactionTarget(
        original,
        tables,
        vocabularies=numbers.vocabularies,
        master=numbers.master,
        history=numbers.history,
        baskets=_build_baskets(numbers),
    )


def build_release(
    original: TransactionOriginal, tables: TransactionTables, source: IntArray
) -> ScoredTransactions:
    """Return a submission with its secret ``source`` (n',), which counts the original's customers from 0."""
    return ScoredRelease(tables, build_target(original, tables), normalize_source(source))


def _encode_tables(tables: TransactionTables, known_texts: TransactionVocabularies) -> TablesAsNumbers:
    """Number the texts; new ones get the numbers after the known ones."""
    customers, records = tables.customers, tables.transactions
    goods, goods_texts = _encode_column(records["goods"], known_texts.goods)
    receipts, receipt_texts = _encode_column(records["receipt_id"], known_texts.receipts)
    master_columns = [
        _encode_column(customers[name], known)
        for name, known in zip(MASTER_COLUMNS, known_texts.master, strict=True)
    ]
    customer_ids = build_vocabulary(get_column_texts(customers, "customer_id"))
    history = TransactionHistory(
        customers=len(customers),
        owner=_encode_column(records["customer_id"], customer_ids)[0],
        goods=goods,
        receipt=receipts,
        day=_count_days(records["date"]),
        price=records["unit_price"].to_numpy(dtype=np.float64),
        quantity=records["quantity"].to_numpy(dtype=np.int64),
    )
    vocabularies = TransactionVocabularies(
        goods_texts, receipt_texts, tuple(texts for _, texts in master_columns)
    )
    return TablesAsNumbers(vocabularies, np.column_stack([codes for codes, _ in master_columns]), history)


def _encode_column(column: pd.Series, known_texts: Vocabulary) -> tuple[IntArray, Vocabulary]:
    codes, distinct = factorize(column)
    vocabulary = extend_vocabulary(known_texts, distinct)
    return translate_codes(codes, distinct, vocabulary), vocabulary


def _count_days(dates: pd.Series) -> IntArray:
    """Return ISO dates as numbers of days from a fixed date."""
    codes, distinct = factorize(dates)
    days = [date.fromisoformat(text).toordinal() for text in distinct]
    return np.array(days, dtype=np.int64)[codes]


def _build_baskets(numbers: TablesAsNumbers) -> SparseCounts:
    """Return the quantity of each good that each customer bought, (customers, goods), without zeros."""
    from scipy.sparse import coo_array  # noqa: PLC0415  # parsing does not need scipy

    history = numbers.history
    entries = (history.quantity, (history.owner, history.goods))
    return coo_array(entries, shape=(history.customers, len(numbers.vocabularies.goods))).tocsr()


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
