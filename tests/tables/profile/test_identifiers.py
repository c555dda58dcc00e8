"""Suggested column roles against a person's choice, on tables shaped like public data sets."""

from dataclasses import replace

import pytest

from anoncup.rules.settings import Columns
from anoncup.tables.profile.header_guess import drop_columns, fill_zeros
from anoncup.tables.profile.identifiers import find_identifiers, find_missing_amounts
from anoncup.tracks.microdata.column_roles import suggest_roles
from tests.support.public_table_shapes import (
    EU_SILC,
    PUBLIC_TABLES,
    ColumnShape,
    TableShape,
    amount,
    generate_csv,
    group_number,
    row_number,
)

PLACEHOLDER_COLUMNS = Columns(("x",), ("y",))


def accept_suggestions(content: bytes) -> dict[str, str]:
    """Return the roles that result if every suggestion is accepted."""
    left_out = [suggestion.name for suggestion in find_identifiers(content, "t") if suggestion.should_drop]
    remaining = drop_columns(content, left_out, "t")
    columns = suggest_roles(
        fill_zeros(remaining, [suggestion.name for suggestion in find_missing_amounts(remaining, "t")], "t"),
        PLACEHOLDER_COLUMNS,
    )
    roles = dict.fromkeys(columns.quasi_identifiers, "quasi") | dict.fromkeys(columns.sensitive, "sensitive")
    return roles | dict.fromkeys(left_out, "out")


@pytest.mark.parametrize("table", PUBLIC_TABLES, ids=lambda table: table.name)
def test_suggested_roles_agree_with_a_persons_choice(table: TableShape) -> None:
    roles = accept_suggestions(generate_csv(table))
    wrong_roles = {
        name: (roles[name], role) for name, role in table.roles.items() if roles[name] not in role.split("/")
    }
    assert wrong_roles == {}


def test_missing_values_of_r_and_pandas_are_recognized() -> None:
    for missing_text in ("", "NA", "NaN", "."):
        content = generate_csv(replace(EU_SILC, missing=missing_text))
        missing_counts = {gap.name: gap.cells for gap in find_missing_amounts(content, "t")}
        assert set(missing_counts) == {name for name in EU_SILC.roles if name.startswith("py")}
        assert all(0.1 * EU_SILC.rows < cells < 0.3 * EU_SILC.rows for cells in missing_counts.values())


def test_suggested_identifiers_have_reasons() -> None:
    reasons = {
        suggestion.name: suggestion.reason
        for table in PUBLIC_TABLES
        for suggestion in find_identifiers(generate_csv(table), "t")
    }
    assert reasons["db030"] == reasons["UTILITYID"] == reasons["UTILNAME"] == "name"
    assert reasons["rb030"] == reasons["PassengerId"] == reasons["Name"] == "unique"
    assert reasons["Ticket"] == reasons["Cabin"] == "text"


@pytest.mark.parametrize("name", ["haushalt", "x"])
def test_group_and_row_numbers_are_recognized(name: str) -> None:
    def find_reasons(*columns: ColumnShape) -> dict[str, str]:
        suggestions = find_identifiers(generate_csv(TableShape("t", 900, columns)), "t")
        return {suggestion.name: suggestion.reason for suggestion in suggestions}

    wages = ColumnShape("wages", amount(100), "sensitive")
    assert find_reasons(ColumnShape(name, group_number(3), "out"), wages) == {name: "groups"}
    assert find_reasons(ColumnShape(name, row_number(5000), "out"), wages) == {name: "unique"}
    assert find_reasons(ColumnShape(name, group_number(1, step=7), "out"), wages) == {name: "unique"}
    assert find_reasons(ColumnShape(name, group_number(30), "quasi"), wages) == {}
    assert find_reasons(ColumnShape(name, lambda row, _: str(row * 7919 % 907), "sensitive"), wages) == {}
    assert find_reasons(ColumnShape("income", group_number(1, step=7), "sensitive"), wages) == {}


@pytest.mark.parametrize("name", ["paid", "uric acid", "COVID", "number of rooms", "Grid"])
def test_words_that_end_with_id_are_no_identifiers(name: str) -> None:
    table = TableShape(
        "t", 300, (ColumnShape(name, lambda _, random: str(random.randrange(90)), "sensitive"),) * 1
    )
    assert find_identifiers(generate_csv(table), "t") == ()
