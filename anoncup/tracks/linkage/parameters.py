"""Parameters and strengths that attackers and methods of the linkage tracks share."""

from collections.abc import Mapping, Sequence
from typing import Any

from anoncup.rules.parameters import Parameter
from anoncup.tracks.parts import Strengths

DENSE_LIMIT = 1000
"""Largest number of original rows for which a full matrix is matched: 0.1 s, or 1 s if all of Y is equal."""
DENSE_LIMIT_PARAMETER = Parameter("dense_limit", "whole", default=DENSE_LIMIT)
"""Parameter of attackers: the largest number of individuals for a full matrix."""
SHARE_PARAMETER = Parameter("share", "share", default=0.01)
"""Parameter of methods: the share of rows to delete."""


def vary_parameter(name: str, *values: Any) -> Strengths:
    return lambda rows, columns: [{name: value} for value in values]  # noqa: ARG005


SHARE_STRENGTHS = vary_parameter("share", 0.01, 0.1)


def keep_columns(rows: int, columns: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    """Return one strength, in which a permutation keeps the given columns."""
    return [{"columns": list(columns)}]
