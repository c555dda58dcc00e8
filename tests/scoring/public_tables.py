"""Shapes of public tables: for each column its name, its kind and a person's choice of role.

The tables themselves are not here; rows of the same shape are generated. A role is "quasi", "sensitive" or
"out"; "quasi/sensitive" where a person could take either.
"""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

Cell = Callable[[int, Random], str]


@dataclass(frozen=True)
class Shape:
    name: str
    cell: Cell
    role: str
    missing: float = 0.0
    """The share of empty cells."""


@dataclass(frozen=True)
class Public:
    name: str
    rows: int
    columns: tuple[Shape, ...]
    missing: str = ""
    """How a missing cell is written."""

    @property
    def roles(self) -> dict[str, str]:
        return {one.name: one.role for one in self.columns}


def csv_of(table: Public, seed: int = 1) -> bytes:
    random, out = Random(seed), io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([one.name for one in table.columns])
    for row in range(table.rows):
        writer.writerow(
            [
                table.missing if random.random() < one.missing else one.cell(row, random)
                for one in table.columns
            ]
        )
    return out.getvalue().encode()


def among(count: int, *, prefix: str = "") -> Cell:
    """One of so many values, the first ones more often: numbers from 0, or texts with a prefix."""
    return lambda _, random: f"{prefix}{min(int(random.expovariate(4 / count)), count - 1)}"


def between(least: int, most: int) -> Cell:
    return lambda _, random: str(random.randint(least, most))


def amount(median: float, *, spread: float = 0.8, digits: int = 2, zeros: float = 0.0) -> Cell:
    """Log-normal amounts, some of them 0; without digits whole numbers."""

    def cell(_: int, random: Random) -> str:
        value = 0.0 if random.random() < zeros else median * random.lognormvariate(0, spread)
        return f"{value:.{digits}f}"

    return cell


def running(first: int = 1) -> Cell:
    return lambda row, _: str(row + first)


def grouped(size: int, *, step: int = 1, first: int = 1) -> Cell:
    """Numbers of groups of so many rows, in the order of the file."""
    return lambda row, _: str(first + row // size * step)


def person(row: int, _: Random) -> str:
    """As in EU-SILC: the household's number, then the person's place in it."""
    return f"{row // 3 + 1}{row % 3 + 1:02}"


def code(width: int) -> Cell:
    return lambda _, random: f"{random.randrange(10**width):0{width}}"


def own_text(prefix: str) -> Cell:
    return lambda row, random: f"{prefix} {row} {random.randrange(10**6)}"


def shared_text(prefix: str, share: float) -> Cell:
    """Texts of which about this share are different."""
    return lambda row, random: f"{prefix}{random.randrange(max(1, int(share * 1200)))}x{row % 2}"


def q(name: str, cell: Cell, missing: float = 0.0) -> Shape:
    return Shape(name, cell, "quasi", missing)


def s(name: str, cell: Cell, missing: float = 0.0) -> Shape:
    return Shape(name, cell, "sensitive", missing)


def out(name: str, cell: Cell, missing: float = 0.0) -> Shape:
    return Shape(name, cell, "out", missing)


def either(name: str, cell: Cell, missing: float = 0.0) -> Shape:
    return Shape(name, cell, "quasi/sensitive", missing)


ADULT = Public(
    "adult (UCI)",
    1000,
    (
        q("age", between(17, 90)),
        q("workclass", among(9, prefix="w")),
        s("fnlwgt", amount(180_000, spread=0.5, digits=0)),
        q("education", among(16, prefix="e")),
        q("education-num", between(1, 16)),
        q("marital-status", among(7, prefix="m")),
        q("occupation", among(15, prefix="o")),
        q("relationship", among(6, prefix="r")),
        q("race", among(5, prefix="r")),
        q("sex", among(2, prefix="s")),
        s("capital-gain", amount(7000, digits=0, zeros=0.9)),
        s("capital-loss", amount(1900, spread=0.2, digits=0, zeros=0.9)),
        either("hours-per-week", between(1, 99)),
        q("native-country", among(42, prefix="c")),
        q("income", lambda _, random: random.choice(["<=50K", ">50K"])),
    ),
)
EU_SILC = Public(
    "EU-SILC (laeken: eusilc)",
    1500,
    (
        out("db030", grouped(3)),
        q("hsize", between(1, 9)),
        q("db040", among(9, prefix="Region ")),
        out("rb030", person),
        q("age", between(0, 97)),
        q("rb090", among(2, prefix="s")),
        q("pl030", between(1, 7), 0.18),
        q("pb220a", among(3, prefix="c"), 0.18),
        *(s(f"py{place}n", amount(9000, zeros=0.5), 0.18) for place in ("010", "050", "090", "100", "110")),
        *(s(f"py{place}n", amount(4000, zeros=0.8), 0.18) for place in ("120", "130", "140")),
        *(s(f"hy{place}n", amount(3000, zeros=0.7)) for place in ("040", "050", "070", "080", "090", "110")),
        *(s(f"hy{place}n", amount(800, zeros=0.6)) for place in ("130", "145")),
        either("eqSS", lambda _, random: f"{1 + random.randint(0, 6) / 2 + random.randint(0, 4) * 0.3:.1f}"),
        s("eqIncome", amount(18_000, spread=0.5)),
        s("db090", amount(500, spread=0.2)),
        s("rb050", amount(500, spread=0.2)),
    ),
)
EIA = Public(
    "EIA (sdcMicro)",
    1200,
    (
        out("UTILITYID", lambda row, _: str(34 + 57 * (row // 12) % 20_000)),
        out("UTILNAME", lambda row, _: f"Utility {row // 12}"),
        q("STATE", among(50, prefix="S")),
        q("YEAR", lambda *_: "1996"),
        q("MONTH", lambda row, _: str(row % 12 + 1)),
        *(
            s(f"{kind}{what}", amount(9000, spread=1.5, digits=0))
            for kind in ("RES", "COM", "IND", "TOT")
            for what in ("REVENUE", "SALES")
        ),
        s("OTHREVENUE", amount(900, spread=1.5, digits=0, zeros=0.3)),
        s("OTHRSALES", amount(900, spread=1.5, digits=0, zeros=0.3)),
    ),
)
TARRAGONA = Public(
    "Tarragona (sdcMicro)",
    834,
    tuple(
        either(name, amount(2_000, digits=0)) if name == "NET.PROFIT" else s(name, amount(30_000, digits=0))
        for name in (
            *("NET.PROFIT", "FIXED.ASSETS", "CURRENT.ASSETS", "TREASURY", "UNCOMMITTED.FUNDS"),
            *("PAID.UP.CAPITAL", "SHORT.TERM.DEBT", "SALES", "LABOR.COSTS", "DEPRECIATION"),
            *("OPERATING.PROFIT", "FINANCIAL.OUTCOME", "GROSS.PROFIT"),
        )
    ),
)
TITANIC = Public(
    "Titanic",
    891,
    (
        out("PassengerId", running()),
        either("Survived", between(0, 1)),
        q("Pclass", between(1, 3)),
        out("Name", own_text("Mr.")),
        q("Sex", among(2, prefix="s")),
        q("Age", lambda _, random: f"{random.uniform(0.4, 80):.0f}", 0.2),
        q("SibSp", between(0, 8)),
        q("Parch", between(0, 6)),
        out("Ticket", shared_text("PC ", 1.5)),
        s("Fare", amount(14.5, spread=1.0, digits=4)),
        out("Cabin", shared_text("C", 0.3), 0.77),
        q("Embarked", among(3, prefix="p"), 0.002),
    ),
)
DIABETES = Public(
    "Pima diabetes",
    768,
    (
        either("Pregnancies", between(0, 17)),
        s("Glucose", between(44, 199)),
        s("BloodPressure", between(24, 122)),
        s("SkinThickness", between(0, 63)),
        s("Insulin", amount(120, digits=0, zeros=0.4)),
        s("BMI", amount(32, spread=0.2, digits=1)),
        s("DiabetesPedigreeFunction", amount(0.4, spread=0.6, digits=3)),
        q("Age", between(21, 81)),
        either("Outcome", between(0, 1)),
    ),
)
HOSPITAL_DIABETES = Public(
    "Diabetes 130 US hospitals",
    1200,
    (
        out("encounter_id", lambda row, random: str(12_522 + 2000 * row + random.randrange(2000))),
        out("patient_nbr", lambda _, random: str(random.randrange(135, 190_000_000))),
        q("race", among(6, prefix="r")),
        q("gender", among(3, prefix="g")),
        q("age", lambda _, random: f"[{10 * random.randrange(10)}-{10 * random.randrange(1, 11)})"),
        q("admission_type_id", between(1, 8)),
        either("time_in_hospital", between(1, 14)),
        q("payer_code", among(18, prefix="p")),
        s("num_lab_procedures", between(1, 118)),
        either("num_medications", between(1, 75)),
        q("diag_1", lambda _, random: random.choice(["", "", "V"]) + str(int(random.expovariate(0.03)))),
        q("readmitted", among(3, prefix="<")),
    ),
)
GERMAN_CREDIT = Public(
    "German credit",
    1000,
    (
        q("status", among(4, prefix="A")),
        either("duration", between(4, 72)),
        q("credit_history", among(5, prefix="A")),
        q("purpose", among(10, prefix="A")),
        s("amount", amount(2300, digits=0)),
        q("savings", among(5, prefix="A")),
        q("installment_rate", between(1, 4)),
        q("personal_status_sex", among(4, prefix="A")),
        q("age", between(19, 75)),
        q("foreign_worker", among(2, prefix="A")),
        either("credit_risk", between(0, 1)),
    ),
)
STUDENTS = Public(
    "Student performance",
    649,
    (
        q("school", among(2, prefix="G")),
        q("sex", among(2, prefix="s")),
        q("age", between(15, 22)),
        q("address", among(2, prefix="U")),
        q("Medu", between(0, 4)),
        q("Mjob", among(5, prefix="j")),
        q("traveltime", between(1, 4)),
        q("failures", between(0, 3)),
        either("absences", between(0, 32)),
        *(either(name, between(0, 19)) for name in ("G1", "G2", "G3")),
    ),
)
BANK = Public(
    "Bank marketing",
    1200,
    (
        q("age", between(18, 95)),
        q("job", among(12, prefix="j")),
        q("marital", among(3, prefix="m")),
        q("education", among(4, prefix="e")),
        q("default", among(2, prefix="d")),
        s("balance", lambda _, random: str(int(random.gauss(1300, 2500)))),
        q("housing", among(2, prefix="h")),
        q("day", between(1, 31)),
        q("month", among(12, prefix="m")),
        s("duration", amount(180, digits=0)),
        either("campaign", between(1, 43)),
        s("pdays", lambda _, random: "-1" if random.random() < 0.8 else str(random.randint(1, 871))),
        either("previous", among(41)),
        q("y", among(2, prefix="y")),
    ),
)
HOSPITAL = Public(
    "Hospital discharges (SPARCS)",
    1200,
    (
        q("Health Service Area", among(8, prefix="A")),
        q("Hospital County", among(57, prefix="C")),
        out("Operating Certificate Number", lambda _, random: str(101_000 + 7 * random.randrange(180))),
        out("Permanent Facility Id", lambda _, random: str(1 + 9 * random.randrange(200))),
        out("Facility Name", among(200, prefix="Hospital ")),
        q("Age Group", lambda _, random: random.choice(["0 to 17", "18 to 29", "30 to 49", "50 to 69"])),
        q("Zip Code - 3 digits", lambda _, random: str(random.randint(100, 149))),
        q("Gender", among(2, prefix="g")),
        either("Length of Stay", between(1, 60)),
        q("Discharge Year", lambda *_: "2015"),
        q("CCS Diagnosis Code", between(1, 259)),
        q("CCS Diagnosis Description", among(250, prefix="D")),
        either(
            "Birth Weight",
            lambda _, random: "0" if random.random() < 0.9 else str(random.randrange(500, 5000, 100)),
        ),
        s("Total Charges", amount(24_000)),
        s("Total Costs", amount(8500)),
    ),
)
HEART = Public(
    "Heart disease (Cleveland)",
    303,
    (
        q("age", between(29, 77)),
        q("sex", between(0, 1)),
        q("cp", between(1, 4)),
        s("trestbps", between(94, 180)),
        s("chol", between(126, 420)),
        q("fbs", between(0, 1)),
        s("thalach", between(71, 202)),
        q("exang", between(0, 1)),
        either("oldpeak", amount(0.8, digits=1, zeros=0.3)),
        q("ca", between(0, 3), 0.013),
        q("thal", lambda _, random: random.choice("367"), 0.006),
        either("num", between(0, 4)),
    ),
    missing="?",
)
PUMS = Public(
    "American Community Survey (PUMS)",
    1200,
    (
        out("SERIALNO", lambda row, _: f"2019HU{row // 2 * 13:07}"),
        q("ST", code(2)),
        q("PUMA", code(5)),
        s("PWGTP", between(1, 180)),
        q("AGEP", between(0, 94)),
        q("SEX", between(1, 2)),
        s("WAGP", amount(40_000, digits=0, zeros=0.4), 0.19),
        s("PINCP", amount(30_000, digits=0), 0.17),
        q("SCHL", between(1, 20), 0.03),
    ),
)

PUBLIC = (
    *(ADULT, EU_SILC, EIA, TARRAGONA, TITANIC, DIABETES, HOSPITAL_DIABETES, GERMAN_CREDIT, STUDENTS, BANK),
    *(HOSPITAL, HEART, PUMS),
)
