"""Attackers that any linkage track can list."""

from typing import Protocol

import numpy as np

from anoncup.geometry.arrays import IntArray


class Rows(Protocol):
    """A target, of which the number of rows is known."""

    @property
    def rows(self) -> int: ...


def own_row(target: Rows) -> IntArray:
    """Row j for row j: what a release gives away whose rows were never shuffled."""
    return np.arange(target.rows)
