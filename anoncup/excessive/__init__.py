"""Excessive anonymization (P2): the rule against it, its bounds and the advice on its threshold."""

from collections.abc import Callable

DRAWS = 10_000
"""Permutations of each type that the advisor simulates, unless told otherwise."""

Announce = Callable[[int, int, str], None]


def silent(step: int, of: int, name: str) -> None:
    """Progress that nobody watches."""
