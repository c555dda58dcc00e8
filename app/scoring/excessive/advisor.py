"""Advice to organizers on the threshold of the rule against excessive anonymization (P2 §4.4)."""

import math
from dataclasses import dataclass

from app.scoring.excessive.bounds import gower_bounds
from app.scoring.excessive.chances import smallest_bound
from app.scoring.release import PreparedOriginal, once

FINEST = 12
"""Most decimals a recommended threshold has."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Thresholds in the open interval (``low``, ``high``) reject random permutations and leave honest room.

    ``fixed``: the l with 1 - q*(l) < 2^-bits; ``low`` = Min / 2; ``high`` = s_lower(l) / n. ``threshold`` is
    None where the interval is empty.
    """

    distance: str
    bits: int
    fixed: int
    low: float
    high: float
    threshold: float | None


def suggest_threshold(original: PreparedOriginal, *, bits: int = 50) -> Advice:
    """Advice for Gower's distance: a random permutation is rejected but with chance 2^-bits."""
    bounds = once(original.kept, ("bounds", "gower"), lambda: gower_bounds(original))
    fixed = smallest_bound(original.rows, bits=bits)
    low, high = bounds.least / 2, bounds.s_lower(fixed) / original.rows
    return Advice("gower", bits, fixed, low, high, largest_round_number(low, high))


def largest_round_number(low: float, high: float) -> float | None:
    """The largest number of two decimals strictly between; failing that of three, four, ... decimals.

    >>> largest_round_number(0.3567, 0.6435)
    0.64
    """
    for decimals in range(2, FINEST + 1):
        unit = 10.0**decimals
        steps = math.ceil(high * unit)
        candidates = (round(step / unit, decimals) for step in (steps, steps - 1))
        found = next((value for value in candidates if low < value < high), None)
        if found is not None:
            return found
    return None
