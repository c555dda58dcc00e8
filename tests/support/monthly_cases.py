"""Hypothesis strategies for hostile monthly tables: ties, duplicates, quoted cells, zeros, single values."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from hypothesis import strategies as st
from numpy.random import Generator

from anoncup.tracks.generators import derive_generator
from anoncup.tracks.monthly import MONTHLY
from anoncup.tracks.monthly.answer import PseudonymTable
from anoncup.tracks.monthly.attackers import build_target
from anoncup.tracks.monthly.files import CUSTOMER_COLUMNS, KNOWLEDGE_PURPOSE, TRANSACTION_COLUMNS
from anoncup.tracks.monthly.knowledge import sample_known_rows
from anoncup.tracks.monthly.original import MonthlyOriginal, parse_original
from anoncup.tracks.monthly.release import MonthlyRelease, parse_release
from anoncup.tracks.parts import ScoredRelease
from tests.support import monthly_reference as reference
from tests.support.monthly_reference import Row

CUSTOMERS = ["c1", "C1", "1", "01", "日本", "x, y", 'q"t', " "]
GOODS = ["a", "A1", "A12", "A13", "10", "9", "日本語", "x,y", '"', " s", "DEL"]
DAYS = {
    "2010-12": ["2010-12-01", "2010/12/31"],
    "2011-01": ["2011-01-05", "2011/1/5", "2011/01/05", "2011-01-31"],
    "2011-02": ["2011-02-01"],
    "2012-02": ["2012-02-01", "2012-02-29"],
    "0001-01": ["0001-01-01"],
}
PRICES = ["0", "0.0", "-0", "1", "1.0", "0.1", "0.3", "1e3", "1e30", "1e-30"]
QUANTITIES = ["1", "2", "5", "006", "11", "12", "13", "24", "72", "1000000000000"]
DELETED_ROW: Row = ("DEL", "", "", "", "", "", "")
PSEUDONYMS = ["-", "_", "0", "00", "a", "A", *(f"p{number}" for number in range(60))]


CellValues = tuple[list[str], list[str], list[str]]
CELL_VALUES: CellValues = ([day for days in DAYS.values() for day in days], PRICES, QUANTITIES)


@dataclass(frozen=True)
class MonthlyCase:
    """A release together with its tables as plain lists."""

    release: MonthlyRelease
    customers: list[str]
    original_rows: list[Row]
    released_rows: list[Row]
    """Rows of AT."""


def build_csv(header: Sequence[str], rows: Iterable[Sequence[str]], *, quotes_all: bool = False) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(
        buffer, lineterminator="\n", quoting=csv.QUOTE_ALL if quotes_all else csv.QUOTE_MINIMAL
    )
    writer.writerows([header, *rows])
    return buffer.getvalue().encode()


def build_original(
    customers: Sequence[str], rows: Sequence[Row], *, quotes_all: bool = False
) -> MonthlyOriginal:
    customer_rows = [(name, "f", "1980", "x") for name in customers]
    files = {
        "customers": build_csv(CUSTOMER_COLUMNS, customer_rows, quotes_all=quotes_all),
        "transactions": build_csv(TRANSACTION_COLUMNS, rows, quotes_all=quotes_all),
    }
    return parse_original(files)[0]


def build_case(
    customers: list[str],
    original_rows: list[Row],
    released_rows: list[Row],
    *,
    quotes_all: Sequence[bool] = (False, False),
) -> MonthlyCase:
    original = build_original(customers, original_rows, quotes_all=quotes_all[0])
    release = parse_release(
        build_csv(TRANSACTION_COLUMNS, released_rows, quotes_all=quotes_all[1]), original
    )[0]
    return MonthlyCase(release, customers, original_rows, released_rows)


@st.composite
def cases(draw: st.DrawFn, max_rows: int = 24) -> MonthlyCase:
    """Draw cells from small value sets, down to one value; rows of AT are deleted, altered or renamed."""
    random = draw(st.randoms(use_true_random=False))
    row_count = draw(st.integers(1, max_rows))
    customers = sample_nonempty(random, CUSTOMERS)
    goods = sample_nonempty(random, GOODS)
    cell_values = (
        sample_nonempty(random, CELL_VALUES[0]),
        sample_nonempty(random, PRICES),
        sample_nonempty(random, QUANTITIES),
    )
    original_rows = [
        generate_row(random, random.choice(customers), random.choice(goods), cell_values)
        for _ in range(row_count)
    ]
    released_rows = alter_rows(random, original_rows, cell_values)
    return build_case(
        customers, original_rows, released_rows, quotes_all=(random.random() < 0.5, random.random() < 0.5)
    )


def sample_nonempty(random: Random, values: list[str]) -> list[str]:
    return random.sample(values, random.randint(1, len(values)))


def generate_row(random: Random, customer: str, good: str, cell_values: CellValues) -> Row:
    invoice, time = random.choice(["", "i1", "i2"]), random.choice(["", "8:45"])
    day, price, quantity = map(random.choice, cell_values)
    return customer, invoice, day, time, good, price, quantity


def alter_rows(random: Random, original_rows: list[Row], cell_values: CellValues) -> list[Row]:
    """Return rows of AT: none, some or all are changed, and up to half are deleted."""
    free_pseudonyms = random.sample(PSEUDONYMS, len(PSEUDONYMS))
    pseudonyms = dict[str, str]()
    change_share = random.choice([0, 0.3, 1])
    max_deletions = len(original_rows) - len(original_rows) // 2
    deleted_rows = random.sample(
        range(len(original_rows)), random.choice([0, max_deletions // 2, max_deletions])
    )
    rows: list[Row] = []
    for index, row in enumerate(original_rows):
        month = reference.parse_month(row)
        pseudonym = pseudonyms.setdefault(f"{row[0]} {month}", free_pseudonyms[len(pseudonyms)])
        if index in deleted_rows:
            rows.append(DELETED_ROW)
        elif random.random() < change_share:
            rows.append(
                generate_row(
                    random, pseudonym, random.choice(original_rows)[4], (DAYS[month], *cell_values[1:])
                )
            )
        else:
            rows.append((pseudonym, *row[1:]))
    return rows


def compute_measures(release: MonthlyRelease) -> dict[str, float]:
    scored: Any = ScoredRelease(release, None, None)
    return {name: measure.compute(scored) for name, measure in MONTHLY.measures.items()}


def make_knowledge_generator(seed: bytes) -> Generator:
    """Return the generator of partial-knowledge tables for the contest's seed."""
    return derive_generator(seed, KNOWLEDGE_PURPOSE, "")


def attach_knowledge(release: MonthlyRelease, seed: bytes) -> MonthlyRelease:
    """Return the release with the partial knowledge that the seed gives attackers."""
    knowledge = sample_known_rows(release.original, make_knowledge_generator(seed))
    return MonthlyRelease(replace(release.original, knowledge=knowledge), release.records)


def collect_guesses(release: MonthlyRelease) -> dict[str, dict[str, PseudonymTable]]:
    """Return the guesses of the built-in attackers, by attacker and question."""
    target = build_target(release.original, release.kept_rows)
    return {name: attacker.attack(target) for name, attacker in MONTHLY.attackers.items()}


TRANSACTIONS: list[Row] = [
    ("c1", "i1", "2011-01-05", "8:45", "A12", "2.5", "3"),
    ("c1", "i1", "2011-01-31", "8:45", "B", "1", "1"),
    ("c1", "i2", "2011-02-01", "9:00", "A12", "2.5", "3"),
    ("c2", "i3", "2011-01-05", "9:00", "A13", "0", "12"),
]
