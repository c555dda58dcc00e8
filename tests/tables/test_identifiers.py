"""Suggested column roles against a person's choice, on tables shaped like public data sets.

Only rows of the same shape are generated; the tables themselves are not included. A role is "quasi",
"sensitive" or "out", or "quasi/sensitive" if a person could choose either.
"""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

import pytest

from anoncup.competition.drafts import create_draft
from anoncup.runner.imported_tables import describe_table, guess_format, read_table
from anoncup.runner.originals import DescribeTableJob, GuessFormatJob, ImportedTable, TableFormat

CellGenerator = Callable[[int, Random], str]


@dataclass(frozen=True)
class ColumnShape:
    name: str
    cell: CellGenerator
    role: str
    missing: float = 0.0
    """Share of missing cells, 0 to 1."""


@dataclass(frozen=True)
class TableShape:
    name: str
    rows: int
    columns: tuple[ColumnShape, ...]
    missing: str = ""
    """Text of a missing cell."""

    @property
    def roles(self) -> dict[str, str]:
        return {column.name: column.role for column in self.columns}


def generate_csv(table: TableShape, seed: int = 1) -> bytes:
    random, buffer = Random(seed), io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    for row in range(table.rows):
        writer.writerow(
            [
                table.missing if random.random() < column.missing else column.cell(row, random)
                for column in table.columns
            ]
        )
    return buffer.getvalue().encode()


def category(count: int, *, prefix: str = "") -> CellGenerator:
    """Draw one of ``count`` values, lower ones more often: numbers from 0, with an optional prefix."""
    return lambda _, random: f"{prefix}{min(int(random.expovariate(4 / count)), count - 1)}"


def integer(low: int, high: int) -> CellGenerator:
    return lambda _, random: str(random.randint(low, high))


def amount(median: float, *, spread: float = 0.8, digits: int = 2, zeros: float = 0.0) -> CellGenerator:
    """Draw log-normal amounts, a share ``zeros`` of them 0; with 0 digits they are integers."""

    def cell(_: int, random: Random) -> str:
        value = 0.0 if random.random() < zeros else median * random.lognormvariate(0, spread)
        return f"{value:.{digits}f}"

    return cell


def row_number(first: int = 1) -> CellGenerator:
    return lambda row, _: str(row + first)


def group_number(size: int, *, step: int = 1, first: int = 1) -> CellGenerator:
    """Number consecutive groups of ``size`` rows."""
    return lambda row, _: str(first + row // size * step)


def person_number(row: int, _: Random) -> str:
    """Return a person number as in EU-SILC: the household's number, then the position in it."""
    return f"{row // 3 + 1}{row % 3 + 1:02}"


def fixed_width_code(width: int) -> CellGenerator:
    return lambda _, random: f"{random.randrange(10**width):0{width}}"


def unique_text(prefix: str) -> CellGenerator:
    return lambda row, random: f"{prefix} {row} {random.randrange(10**6)}"


def shared_text(prefix: str, share: float) -> CellGenerator:
    """Draw texts of which about this share are distinct."""
    return lambda row, random: f"{prefix}{random.randrange(max(1, int(share * 1200)))}x{row % 2}"


def quasi(name: str, cell: CellGenerator, missing: float = 0.0) -> ColumnShape:
    return ColumnShape(name, cell, "quasi", missing)


def sensitive(name: str, cell: CellGenerator, missing: float = 0.0) -> ColumnShape:
    return ColumnShape(name, cell, "sensitive", missing)


def leave_out(name: str, cell: CellGenerator, missing: float = 0.0) -> ColumnShape:
    return ColumnShape(name, cell, "out", missing)


def either_role(name: str, cell: CellGenerator, missing: float = 0.0) -> ColumnShape:
    return ColumnShape(name, cell, "quasi/sensitive", missing)


EU_SILC = TableShape(
    "EU-SILC (laeken: eusilc)",
    1500,
    (
        leave_out("db030", group_number(3)),
        quasi("hsize", integer(1, 9)),
        quasi("db040", category(9, prefix="Region ")),
        leave_out("rb030", person_number),
        quasi("age", integer(0, 97)),
        quasi("rb090", category(2, prefix="s")),
        quasi("pl030", integer(1, 7), 0.18),
        quasi("pb220a", category(3, prefix="c"), 0.18),
        *(
            sensitive(f"py{item}n", amount(9000, zeros=0.5), 0.18)
            for item in ("010", "050", "090", "100", "110")
        ),
        *(sensitive(f"py{item}n", amount(4000, zeros=0.8), 0.18) for item in ("120", "130", "140")),
        *(
            sensitive(f"hy{item}n", amount(3000, zeros=0.7))
            for item in ("040", "050", "070", "080", "090", "110")
        ),
        *(sensitive(f"hy{item}n", amount(800, zeros=0.6)) for item in ("130", "145")),
        either_role(
            "eqSS", lambda _, random: f"{1 + random.randint(0, 6) / 2 + random.randint(0, 4) * 0.3:.1f}"
        ),
        sensitive("eqIncome", amount(18_000, spread=0.5)),
        sensitive("db090", amount(500, spread=0.2)),
        sensitive("rb050", amount(500, spread=0.2)),
    ),
)
TITANIC = TableShape(
    "Titanic",
    891,
    (
        leave_out("PassengerId", row_number()),
        either_role("Survived", integer(0, 1)),
        quasi("Pclass", integer(1, 3)),
        leave_out("Name", unique_text("Mr.")),
        quasi("Sex", category(2, prefix="s")),
        quasi("Age", lambda _, random: f"{random.uniform(0.4, 80):.0f}", 0.2),
        quasi("SibSp", integer(0, 8)),
        quasi("Parch", integer(0, 6)),
        leave_out("Ticket", shared_text("PC ", 1.5)),
        sensitive("Fare", amount(14.5, spread=1.0, digits=4)),
        leave_out("Cabin", shared_text("C", 0.3), 0.77),
        quasi("Embarked", category(3, prefix="p"), 0.002),
    ),
)
HOSPITAL = TableShape(
    "Hospital discharges (SPARCS)",
    1200,
    (
        quasi("Health Service Area", category(8, prefix="A")),
        quasi("Hospital County", category(57, prefix="C")),
        leave_out("Operating Certificate Number", lambda _, random: str(101_000 + 7 * random.randrange(180))),
        leave_out("Permanent Facility Id", lambda _, random: str(1 + 9 * random.randrange(200))),
        leave_out("Facility Name", category(200, prefix="Hospital ")),
        quasi("Age Group", lambda _, random: random.choice(["0 to 17", "18 to 29", "30 to 49", "50 to 69"])),
        quasi("Zip Code - 3 digits", lambda _, random: str(random.randint(100, 149))),
        quasi("Gender", category(2, prefix="g")),
        either_role("Length of Stay", integer(1, 60)),
        quasi("Discharge Year", lambda *_: "2015"),
        quasi("CCS Diagnosis Code", integer(1, 259)),
        quasi("CCS Diagnosis Description", category(250, prefix="D")),
        either_role(
            "Birth Weight",
            lambda _, random: "0" if random.random() < 0.9 else str(random.randrange(500, 5000, 100)),
        ),
        sensitive("Total Charges", amount(24_000)),
        sensitive("Total Costs", amount(8500)),
    ),
)
PUMS = TableShape(
    "American Community Survey (PUMS)",
    1200,
    (
        leave_out("SERIALNO", lambda row, _: f"2019HU{row // 2 * 13:07}"),
        quasi("ST", fixed_width_code(2)),
        quasi("PUMA", fixed_width_code(5)),
        sensitive("PWGTP", integer(1, 180)),
        quasi("AGEP", integer(0, 94)),
        quasi("SEX", integer(1, 2)),
        sensitive("WAGP", amount(40_000, digits=0, zeros=0.4), 0.19),
        sensitive("PINCP", amount(30_000, digits=0), 0.17),
        quasi("SCHL", integer(1, 20), 0.03),
    ),
)

PUBLIC_TABLES = (EU_SILC, TITANIC, HOSPITAL, PUMS)


def guess(content: bytes) -> TableFormat:
    return guess_format(GuessFormatJob(name="original", content=content), None)


def describe(content: bytes) -> ImportedTable:
    """Describe a table of a new contest in the guessed format, with zeros for missing amounts."""
    job = DescribeTableJob(
        competition_file=create_draft("microdata"),
        name="original",
        content=content,
        table_format=replace(guess(content), fills_zeros=True),
    )
    return describe_table(job, None)


def find_reasons(*columns: ColumnShape, rows: int = 900) -> dict[str, str]:
    table = describe(generate_csv(TableShape("t", rows, columns)))
    return {column.name: column.reason for column in table.columns if column.reason}


@pytest.mark.parametrize("table", PUBLIC_TABLES, ids=lambda table: table.name)
def test_suggested_roles_agree_with_a_persons_choice(table: TableShape) -> None:
    names = {"": "out", "quasi_identifiers": "quasi", "sensitive": "sensitive"}
    roles = {column.name: names[column.role] for column in describe(generate_csv(table)).columns}
    wrong_roles = {
        name: (roles[name], role) for name, role in table.roles.items() if roles[name] not in role.split("/")
    }
    assert wrong_roles == {}


@pytest.mark.parametrize("missing_text", ["", "NA", "NaN", "."])
def test_missing_amounts_are_recognized_and_filled_only_on_request(missing_text: str) -> None:
    content = generate_csv(replace(EU_SILC, missing=missing_text))
    table_format = guess(content)
    assert table_format.missing_texts == ((missing_text,) if missing_text else ())
    assert not table_format.fills_zeros
    table = read_table(content, "original", table_format)
    filled = read_table(content, "original", replace(table_format, fills_zeros=True))
    changed = {name for name in table.columns if not table[name].equals(filled[name])}
    assert changed == {name for name in EU_SILC.roles if name.startswith("py")}
    for name in changed:
        assert filled[name].tolist() == table[name].replace("", "0").tolist()


@pytest.mark.parametrize(
    ("numbers", "odd", "kept", "missing"),
    [
        ([f"{number:,}" for number in range(5000, 5040)], "約５千", "約５千", ()),
        ([f"{number:,}" for number in range(5000, 5040)], "－", "", ("－",)),
        (["６，５５２", "６，５５３"] * 20, "－１２．５", "-12.5", ()),
    ],
)
def test_odd_cell_leaves_a_column_of_numbers_as_it_is(
    numbers: list[str], odd: str, kept: str, missing: tuple[str, ...]
) -> None:
    content = "\n".join(["city;pages", *(f'x;"{cell}"' for cell in [*numbers, odd])]).encode()
    table_format = guess(content)
    assert table_format.missing_texts == missing
    pages = read_table(content, "original", table_format)["pages"].tolist()
    assert pages[-1] == kept
    assert all(cell.isascii() and cell.isdigit() for cell in pages[:-1])
    (column,) = (column for column in describe(content).columns if column.name == "pages")
    assert (column.reason, column.role) == (None, "sensitive")


def test_suggested_identifiers_have_reasons() -> None:
    tables = [describe(generate_csv(table)) for table in PUBLIC_TABLES]
    reasons = {column.name: column.reason for table in tables for column in table.columns}
    assert reasons["db030"] == reasons["Facility Name"] == "name"
    assert reasons["rb030"] == reasons["PassengerId"] == reasons["Name"] == "unique"
    assert reasons["Ticket"] == reasons["Cabin"] == "text"


@pytest.mark.parametrize("name", ["haushalt", "x"])
def test_group_and_row_numbers_are_recognized(name: str) -> None:
    wages = ColumnShape("wages", amount(100), "sensitive")
    assert find_reasons(ColumnShape(name, group_number(3), "out"), wages) == {name: "groups"}
    assert find_reasons(ColumnShape(name, row_number(5000), "out"), wages) == {name: "unique"}
    assert find_reasons(ColumnShape(name, group_number(1, step=7), "out"), wages) == {name: "unique"}
    assert find_reasons(ColumnShape(name, group_number(30), "quasi"), wages) == {}
    assert find_reasons(ColumnShape(name, lambda row, _: str(row * 7919 % 907), "sensitive"), wages) == {}
    assert find_reasons(ColumnShape("income", group_number(1, step=7), "sensitive"), wages) == {}


@pytest.mark.parametrize("name", ["paid", "uric acid", "COVID", "number of rooms", "Grid"])
def test_words_that_end_with_id_are_no_identifiers(name: str) -> None:
    column = ColumnShape(name, lambda _, random: str(random.randrange(90)), "sensitive")
    assert find_reasons(column, rows=300) == {}
