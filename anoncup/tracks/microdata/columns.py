"""The roles of the columns of a microdata competition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from anoncup.errors import InvalidCompetition
from anoncup.rules.settings import Columns

if TYPE_CHECKING:
    from anoncup.rules.model import Rules


def columns_of(rules: Rules) -> Columns:
    """The roles of the columns, which a microdata competition always names."""
    if rules.columns is None:
        raise InvalidCompetition("the competition names no columns", code="missing_key")
    return rules.columns


def group_columns(rules: Rules) -> tuple[Sequence[str], Sequence[str]]:
    """All quasi-identifiers; and those of the cross-tables that weigh, which a cheat keeps for its utility's
    sake. Where no cross-table weighs, those of any that names its columns."""
    every = columns_of(rules).quasi_identifiers
    tables = [rules.measure(name) for name in ("cross_mean", "cross_count")]
    weighing = [one for one in tables if one.weight] or [one for one in tables if "columns" in one.parameters]
    named = [cast(Sequence[str], one.parameters.get("columns", every)) for one in weighing] or [every]
    return every, [column for column in every if any(column in columns for columns in named)]
