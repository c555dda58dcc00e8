"""The roles of the columns of a microdata competition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from anoncup.errors import InvalidCompetition
from anoncup.rules.settings import Columns

if TYPE_CHECKING:
    from anoncup.rules.model import Rules


def require_columns(rules: Rules) -> Columns:
    """Return the roles of the columns; raise InvalidCompetition if the competition has none."""
    if rules.columns is None:
        raise InvalidCompetition("the competition names no columns", code="missing_key")
    return rules.columns


def group_columns(rules: Rules) -> tuple[Sequence[str], Sequence[str]]:
    """Return all quasi-identifiers, and those of the weighted cross-tables.

    A cheater keeps the latter unchanged for the sake of utility. If no cross-table has a weight, the columns
    of all cross-tables that name columns are returned.
    """
    quasi_identifiers = require_columns(rules).quasi_identifiers
    cross_tables = [rules.measure_settings(name) for name in ("cross_mean", "cross_count")]
    relevant = [measure for measure in cross_tables if measure.weight] or [
        measure for measure in cross_tables if "columns" in measure.parameters
    ]
    column_sets = [
        cast(Sequence[str], measure.parameters.get("columns", quasi_identifiers)) for measure in relevant
    ] or [quasi_identifiers]
    return quasi_identifiers, [
        column for column in quasi_identifiers if any(column in columns for columns in column_sets)
    ]
