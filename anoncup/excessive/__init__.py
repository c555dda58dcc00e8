"""The rule against excessive anonymization (P2), its certified bounds, and the advisor on its threshold."""

from collections.abc import Callable

SIMULATED_PERMUTATIONS = 10_000
"""Default number of permutations of each type that the advisor simulates."""

ProgressCallback = Callable[[int, int, str], None]


def ignore_progress(step: int, total: int, name: str) -> None:
    """Discard progress reports."""
