"""A table of transactions as numbers, and what each customer did in it."""

from dataclasses import dataclass

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray


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
