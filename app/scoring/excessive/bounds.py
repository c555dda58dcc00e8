"""Bounds on how far a permutation must move individuals (P2 §4.3): mdis, Min and s_lower."""

from dataclasses import dataclass

import numpy as np

from app.scoring.arrays import FloatArray
from app.scoring.distances import gower_nearest_other
from app.scoring.release import PreparedOriginal


@dataclass(frozen=True, slots=True)
class Bounds:
    """``ascending`` (n,): every individual's distance to its nearest other (mdis), sorted."""

    ascending: FloatArray

    @property
    def least(self) -> float:
        """Min, the smallest distance between two individuals."""
        return float(self.ascending[0])

    def s_lower(self, fixed: int) -> float:
        """Sum of the n - ``fixed`` smallest mdis: no permutation with that many fixed points moves less."""
        return float(self.ascending[: len(self.ascending) - fixed].sum())


def gower_bounds(original: PreparedOriginal) -> Bounds:
    """Bounds by Gower's distance over all columns; a table of one row has nobody to be moved to (0)."""
    nearest = gower_nearest_other(original)
    return Bounds(np.sort(np.where(np.isfinite(nearest), nearest, 0.0)))
