"""Adapt the transactions code to the ``Track`` interface."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import PCG64, Generator

from anoncup.geometry.arrays import IntArray
from anoncup.geometry.encoding import group_rows
from anoncup.rules.model import Rules
from anoncup.tracks.parts import Method
from anoncup.tracks.transactions.files import MASTER_COLUMNS
from anoncup.tracks.transactions.methods import AnonymizedTransactions, select_customers
from anoncup.tracks.transactions.release import (
    ScoredTransactions,
    TransactionOriginal,
    build_release,
)
from anoncup.tracks.transactions.tables import TransactionTables


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
