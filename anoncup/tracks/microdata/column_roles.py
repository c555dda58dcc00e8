"""Suggest the roles of the columns of an uploaded table."""

import pyarrow as pa
import pyarrow.compute as pc

from anoncup.rules.model import Rules
from anoncup.tables.csv_text import iterate_text_columns, read_cells, read_header
from anoncup.tables.identifiers import (
    count_distinct_numbers,
    find_identifying_reason,
    has_leading_zeros,
    is_amount,
    is_attribute_name,
)

QUASI_IDENTIFIER, SENSITIVE, LEFT_OUT = "quasi_identifiers", "sensitive", ""


def suggest_roles(content: bytes, rules: Rules) -> dict[str, str]:
    """Suggest roles for the columns of a table.

    Columns of the competition file keep their roles. Columns that identify individuals are left out, other
    amounts without gaps are sensitive, and all else is a quasi-identifier. If nothing is sensitive, the
    numbers with the most values are. If everything is, the column with the fewest values becomes a
    quasi-identifier, because the others single out more people.
    """
    table = read_cells(content, read_header(content, "original"), "original")
    columns = dict(iterate_text_columns(table))
    counts = {name: count_distinct_numbers(column) or 0 for name, column in columns.items()}
    stored_roles = _list_stored_roles(rules)
    roles = {name: stored_roles.get(name) or _suggest_role(name, column) for name, column in columns.items()}
    numeric = [name for name, role in roles.items() if role and counts[name]]
    if SENSITIVE not in roles.values() and numeric:
        roles[max(numeric, key=lambda name: (not _is_code(name, columns[name]), counts[name]))] = SENSITIVE
    if QUASI_IDENTIFIER not in roles.values() and len(numeric) > 1:
        roles[min(numeric, key=lambda name: counts[name])] = QUASI_IDENTIFIER
    return roles


def _list_stored_roles(rules: Rules) -> dict[str, str]:
    if rules.columns is None:
        return {}
    quasi_identifiers = dict.fromkeys(rules.columns.quasi_identifiers, QUASI_IDENTIFIER)
    return quasi_identifiers | dict.fromkeys(rules.columns.sensitive, SENSITIVE)


def _suggest_role(name: str, column: pa.Array) -> str:
    values = pc.unique(column)
    if find_identifying_reason(name, column, values):
        return LEFT_OUT
    return SENSITIVE if is_amount(name, column) and "" not in values.to_pylist() else QUASI_IDENTIFIER


def _is_code(name: str, column: pa.Array) -> bool:
    return is_attribute_name(name) or has_leading_zeros(column)
