"""Totals, mean prices and dates of each customer's transactions."""

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.tracks.transactions.release import TransactionHistory, TransactionOriginal, TransactionTarget

EncodedTables = TransactionOriginal | TransactionTarget
"""M and T of an original or of a target, with their cells as numbers."""


def has_rows(table: EncodedTables) -> BoolArray:
    """Return whether each customer has a transaction, (customers,)."""
    return np.bincount(table.history.owner, minlength=table.rows) > 0


def average_prices(history: TransactionHistory, customers: int) -> FloatArray:
    """Return every customer's mean unit price, (customers,), or 0 without transactions."""
    sums = np.bincount(history.owner, history.price, customers)
    means: FloatArray = sums / np.maximum(np.bincount(history.owner, minlength=customers), 1)
    return means


def sum_spends(history: TransactionHistory, customers: int) -> FloatArray:
    """Return every customer's total of price times quantity, (customers,), or 0 without transactions."""
    totals = history.price * history.quantity
    return np.bincount(history.owner, totals, customers).astype(np.float64)


def count_receipts(history: TransactionHistory, customers: int) -> IntArray:
    """Return the number of receipts of each customer, (customers,)."""
    width = int(history.receipt.max(initial=0)) + 1
    return np.bincount(np.unique(history.owner * width + history.receipt) // width, minlength=customers)


def find_last_purchase_days(history: TransactionHistory, customers: int) -> IntArray:
    """Return the day of every customer's last transaction, (customers,), or 0 without transactions."""
    last_day_of = np.zeros(customers, dtype=np.int64)
    np.maximum.at(last_day_of, history.owner, history.day)
    return last_day_of
