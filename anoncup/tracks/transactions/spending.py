"""Totals, mean prices and dates of each customer's transactions.

Prices are multiplied by 2**exponent, see :func:`choose_price_exponent`, so that no sum overflows or loses
digits.
"""

import math

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.tracks.transactions.release import TransactionHistory, TransactionOriginal, TransactionTarget

EncodedTables = TransactionOriginal | TransactionTarget
"""M and T of an original or of a target, with their cells as numbers."""
_SCALED_EXPONENT = 900
"""Exponent of the largest price once scaled: a million of them times 10**12 stay below 2**1024."""


def choose_price_exponent(*tables: EncodedTables) -> int:
    """Return the exponent that prices of these tables are scaled by.

    A price loses digits only if another one is 2**1900 times as large.
    """
    largest = max((float(table.history.price.max(initial=0.0)) for table in tables), default=0.0)
    return _SCALED_EXPONENT - math.frexp(largest)[1] if largest > 0 else 0


def has_rows(table: EncodedTables) -> BoolArray:
    """Return whether each customer has a transaction, (customers,)."""
    return np.bincount(table.history.owner, minlength=table.rows) > 0


def average_prices(history: TransactionHistory, customers: int, exponent: int) -> FloatArray:
    """Return every customer's mean unit price, (customers,), or 0 without transactions."""
    sums = np.bincount(history.owner, np.ldexp(history.price, exponent), customers)
    means: FloatArray = sums / np.maximum(np.bincount(history.owner, minlength=customers), 1)
    return means


def sum_spends(history: TransactionHistory, customers: int, exponent: int) -> FloatArray:
    """Return every customer's total of price times quantity, (customers,), or 0 without transactions."""
    totals = np.ldexp(history.price, exponent) * history.quantity
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
