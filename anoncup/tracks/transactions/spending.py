"""What each customer paid and when: sums over his transactions.

``room``: prices are taken times 2**room, by :func:`room_of`, so that no sum overflows and no digit is lost.
"""

import math

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.tracks.transactions.release import History, PreparedTransactions, TransactionTarget

Table = PreparedTransactions | TransactionTarget


ROOM = 900
"""Exponent of the largest price once scaled: a million of them times 10**12 stay below 2**1024."""


def room_of(*tables: Table) -> int:
    """The exponent to scale the prices of these tables by. Only a price 2**1900 times another loses it."""
    largest = max((float(table.history.price.max(initial=0.0)) for table in tables), default=0.0)
    return ROOM - math.frexp(largest)[1] if largest > 0 else 0


def has_rows(table: Table) -> BoolArray:
    """Which customers have a transaction, (customers,)."""
    return np.bincount(table.history.owner, minlength=table.rows) > 0


def mean_prices(history: History, customers: int, room: int) -> FloatArray:
    """Every customer's mean unit price, (customers,); 0 without rows."""
    sums = np.bincount(history.owner, np.ldexp(history.price, room), customers)
    means: FloatArray = sums / np.maximum(np.bincount(history.owner, minlength=customers), 1)
    return means


def spends(history: History, customers: int, room: int) -> FloatArray:
    """Every customer's total of price times quantity, (customers,); 0 without rows."""
    totals = np.ldexp(history.price, room) * history.quantity
    return np.bincount(history.owner, totals, customers).astype(np.float64)


def receipts(history: History, customers: int) -> IntArray:
    """How many receipts each customer has, (customers,)."""
    width = int(history.receipt.max(initial=0)) + 1
    return np.bincount(np.unique(history.owner * width + history.receipt) // width, minlength=customers)


def last_days(history: History, customers: int) -> IntArray:
    """The day of every customer's last transaction, (customers,); 0 without rows."""
    last = np.zeros(customers, dtype=np.int64)
    np.maximum.at(last, history.owner, history.day)
    return last
