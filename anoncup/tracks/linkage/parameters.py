"""Parameters and strengths that attackers and methods of the linkage tracks share."""

from collections.abc import Mapping, Sequence
from typing import Any

from anoncup.rules.parameters import Parameter
from anoncup.tracks.parts import Strengths

DENSE_LIMIT = 1000
"""Rows of the original up to which a full matrix is matched: 0.1 s, or 1 s where all rows of Y are equal."""
DENSE_LIMIT_PARAMETER = Parameter("dense_limit", "whole", default=DENSE_LIMIT)
"""Individuals."""
SHARE = Parameter("share", "share", default=0.01)
"""Of the rows."""


def each_of(name: str, *values: Any) -> Strengths:
    return lambda rows, columns: [{name: value} for value in values]  # noqa: ARG005


def no_strengths(rows: int, columns: Sequence[str]) -> Sequence[Mapping[str, Any]]:  # noqa: ARG001
    return ()


SHARES = each_of("share", 0.01, 0.05, 0.1)
