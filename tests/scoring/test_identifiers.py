"""Suggested roles of columns against a person's choice, on the shapes of public tables."""

from dataclasses import replace

import pytest

from anoncup.rules.settings import Columns
from anoncup.tables.profile.header_guess import with_zeros, without
from anoncup.tables.profile.identifiers import find_gaps, find_identifiers
from anoncup.tracks.microdata.column_roles import suggested
from tests.scoring.public_tables import EU_SILC, PUBLIC, Public, Shape, amount, csv_of, grouped, running

NEW = Columns(("x",), ("y",))


def suggested_roles(content: bytes) -> dict[str, str]:
    """What set-up makes of a table if every suggestion is taken."""
    out = [one.name for one in find_identifiers(content, "t") if one.leave_out]
    kept = without(content, out, "t")
    columns = suggested(with_zeros(kept, [one.name for one in find_gaps(kept, "t")], "t"), NEW)
    roles = dict.fromkeys(columns.quasi_identifiers, "quasi") | dict.fromkeys(columns.sensitive, "sensitive")
    return roles | dict.fromkeys(out, "out")


@pytest.mark.parametrize("table", PUBLIC, ids=lambda table: table.name)
def test_suggested_roles_are_those_a_person_would_choose(table: Public) -> None:
    found = suggested_roles(csv_of(table))
    wrong = {
        name: (found[name], role) for name, role in table.roles.items() if found[name] not in role.split("/")
    }
    assert wrong == {}


def test_missing_incomes_are_amounts_however_r_or_pandas_write_them() -> None:
    for missing in ("", "NA", "NaN", "."):
        content = csv_of(replace(EU_SILC, missing=missing))
        found = {one.name: one.cells for one in find_gaps(content, "t")}
        assert set(found) == {name for name in EU_SILC.roles if name.startswith("py")}
        assert all(0.1 * EU_SILC.rows < cells < 0.3 * EU_SILC.rows for cells in found.values())


def test_the_reasons_are_told() -> None:
    found = {one.name: one.reason for table in PUBLIC for one in find_identifiers(csv_of(table), "t")}
    assert found["db030"] == found["UTILITYID"] == found["UTILNAME"] == "name"
    assert found["rb030"] == found["PassengerId"] == found["Name"] == "unique"
    assert found["Ticket"] == found["Cabin"] == "text"


@pytest.mark.parametrize("name", ["haushalt", "x"])
def test_numbers_of_households_are_found_by_their_values(name: str) -> None:
    def reasons(*columns: Shape) -> dict[str, str]:
        found = find_identifiers(csv_of(Public("t", 900, columns)), "t")
        return {one.name: one.reason for one in found}

    wages = Shape("wages", amount(100), "sensitive")
    assert reasons(Shape(name, grouped(3), "out"), wages) == {name: "groups"}
    assert reasons(Shape(name, running(5000), "out"), wages) == {name: "unique"}
    assert reasons(Shape(name, grouped(1, step=7), "out"), wages) == {name: "unique"}
    assert reasons(Shape(name, grouped(30), "quasi"), wages) == {}
    assert reasons(Shape(name, lambda row, _: str(row * 7919 % 907), "sensitive"), wages) == {}
    assert reasons(Shape("income", grouped(1, step=7), "sensitive"), wages) == {}


@pytest.mark.parametrize("name", ["paid", "uric acid", "COVID", "number of rooms", "Grid"])
def test_names_that_only_end_like_an_identifier_are_none(name: str) -> None:
    table = Public("t", 300, (Shape(name, lambda _, random: str(random.randrange(90)), "sensitive"),) * 1)
    assert find_identifiers(csv_of(table), "t") == ()
