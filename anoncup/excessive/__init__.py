"""The rule against excessive anonymization, bounds for it, and advice on its threshold.

All are from Nojima et al., "How to Handle Excessively Anonymized Datasets" (2018). The modules of this
package cite the paper as P2.
"""

from collections.abc import Callable

SIMULATED_PERMUTATIONS = 10_000
"""Default number of simulated permutations of each type."""

ProgressCallback = Callable[[int, int, str], None]


def ignore_progress(step: int, total: int, name: str) -> None:
    """Discard progress reports."""
