"""The roles of the columns of a microdata competition."""

from collections.abc import Sequence
from typing import cast

from anoncup.errors import InvalidCompetition
from anoncup.rules.model import Rules
from anoncup.rules.settings import Columns


def require_columns(rules: Rules) -> Columns:
    """Return the roles of the columns; raise InvalidCompetition if the competition has none."""
    if rules.columns is None:
        raise InvalidCompetition("the competition names no columns", code="missing_key")
    return rules.columns


def group_columns(rules: Rules) -> tuple[Sequence[str], Sequence[str]]:
    """Return all quasi-identifiers, and those that appear in a cross-table with a weight.

    Cheaters leave the latter unchanged, because changes reduce the utility. If no cross-table has a weight,
    those that name columns count, and if there is none, all quasi-identifiers are returned twice.
    """
    quasi_identifiers = require_columns(rules).quasi_identifiers
    cross_tables = [rules.measure_settings(name) for name in ("cross_mean", "cross_count")]
    relevant_settings = [settings for settings in cross_tables if settings.weight] or [
        settings for settings in cross_tables if "columns" in settings.parameters
    ]
    column_sets = [
        cast(Sequence[str], settings.parameters.get("columns", quasi_identifiers))
        for settings in relevant_settings
    ] or [quasi_identifiers]
    return quasi_identifiers, [
        column for column in quasi_identifiers if any(column in columns for columns in column_sets)
    ]
