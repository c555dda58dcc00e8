"""Totals, mean prices and dates of each customer's transactions.

Prices are multiplied by 2**exponent, see :func:`price_exponent`, so that no sum overflows or loses digits.
"""

import math

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.tracks.transactions.release import PreparedTransactions, TransactionHistory, TransactionTarget

PreparedTables = PreparedTransactions | TransactionTarget


_SCALED_EXPONENT = 900
"""Exponent of the largest price once scaled: a million of them times 10**12 stay below 2**1024."""


def price_exponent(*tables: PreparedTables) -> int:
    """Return the exponent to scale the prices of these tables by.

    Prices lose digits only if another price is 2**1900 times as large.
    """
    largest = max((float(table.history.price.max(initial=0.0)) for table in tables), default=0.0)
    return _SCALED_EXPONENT - math.frexp(largest)[1] if largest > 0 else 0


def has_rows(table: PreparedTables) -> BoolArray:
    """Return whether each customer has a transaction, (customers,)."""
    return np.bincount(table.history.owner, minlength=table.rows) > 0


def mean_prices(history: TransactionHistory, customers: int, exponent: int) -> FloatArray:
    """Return every customer's mean unit price, (customers,); 0 without rows."""
    sums = np.bincount(history.owner, np.ldexp(history.price, exponent), customers)
    means: FloatArray = sums / np.maximum(np.bincount(history.owner, minlength=customers), 1)
    return means


def total_spends(history: TransactionHistory, customers: int, exponent: int) -> FloatArray:
    """Return every customer's total of price times quantity, (customers,); 0 without rows."""
    totals = np.ldexp(history.price, exponent) * history.quantity
    return np.bincount(history.owner, totals, customers).astype(np.float64)


def count_receipts(history: TransactionHistory, customers: int) -> IntArray:
    """Return the number of receipts of each customer, (customers,)."""
    width = int(history.receipt.max(initial=0)) + 1
    return np.bincount(np.unique(history.owner * width + history.receipt) // width, minlength=customers)


def last_purchase_days(history: TransactionHistory, customers: int) -> IntArray:
    """Return the day of every customer's last transaction, (customers,); 0 without rows."""
    last_day_of = np.zeros(customers, dtype=np.int64)
    np.maximum.at(last_day_of, history.owner, history.day)
    return last_day_of
