"""Tables of the monthly track made to break measures: ties, duplicates, quoted cells, zeros, one of each."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from hypothesis import strategies as st
from numpy.random import Generator

from anoncup.tracks.generators import generator_for
from anoncup.tracks.monthly import MONTHLY
from anoncup.tracks.monthly.adapter import Scored
from anoncup.tracks.monthly.answer import Named
from anoncup.tracks.monthly.files import CUSTOMER_COLUMNS, KNOWLEDGE, TRANSACTION_COLUMNS
from anoncup.tracks.monthly.knowledge import drawn
from anoncup.tracks.monthly.original import Original, parse_original
from anoncup.tracks.monthly.release import Release, parse_release
from tests.scoring import monthly_reference as reference
from tests.scoring.monthly_reference import Row

PEOPLE = ["c1", "C1", "1", "01", "日本", "x, y", 'q"t', " "]
GOODS = ["a", "A1", "A12", "A13", "10", "9", "日本語", "x,y", '"', " s", "DEL"]
DAYS = {
    "2010-12": ["2010-12-01", "2010/12/31"],
    "2011-01": ["2011-01-05", "2011/1/5", "2011/01/05", "2011-01-31"],
    "2011-02": ["2011-02-01"],
    "2012-02": ["2012-02-01", "2012-02-29"],
    "0001-01": ["0001-01-01"],
}
PRICES = ["0", "0.0", "-0", "1", "1.0", "0.1", "0.3", "1e3", "1e308", "5e-324"]
QUANTITIES = ["1", "2", "5", "006", "11", "12", "13", "24", "72", "1000000000000"]
GONE: Row = ("DEL", "", "", "", "", "", "")
PSEUDONYMS = ["-", "_", "0", "00", "a", "A", *(f"p{number}" for number in range(60))]


Kinds = tuple[list[str], list[str], list[str]]
KINDS: Kinds = ([day for days in DAYS.values() for day in days], PRICES, QUANTITIES)


@dataclass(frozen=True)
class Case:
    """A release, and the same as plain lists."""

    release: Release
    customers: list[str]
    before: list[Row]
    after: list[Row]
    """Rows of AT."""


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, quoted: bool = False) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
    writer.writerows([header, *rows])
    return out.getvalue().encode()


def original_of(customers: Sequence[str], before: Sequence[Row], *, quoted: bool = False) -> Original:
    people = [(name, "f", "1980", "x") for name in customers]
    files = {
        "customers": table(CUSTOMER_COLUMNS, people, quoted=quoted),
        "transactions": table(TRANSACTION_COLUMNS, before, quoted=quoted),
    }
    return parse_original(files)[0]


def case_of(
    customers: list[str], before: list[Row], after: list[Row], *, quoted: Sequence[bool] = (False, False)
) -> Case:
    original = original_of(customers, before, quoted=quoted[0])
    release = parse_release(table(TRANSACTION_COLUMNS, after, quoted=quoted[1]), original)[0]
    return Case(release, customers, before, after)


@st.composite
def cases(draw: st.DrawFn, most: int = 24) -> Case:
    """Any number of each kind of cell, down to one; each row of AT is deleted, altered or only renamed."""
    random = draw(st.randoms(use_true_random=False))
    rows = draw(st.integers(1, most))
    customers = some(random, PEOPLE)
    goods = some(random, GOODS)
    kinds = (some(random, KINDS[0]), some(random, PRICES), some(random, QUANTITIES))
    before = [row(random, random.choice(customers), random.choice(goods), kinds) for _ in range(rows)]
    after = altered(random, before, kinds)
    return case_of(customers, before, after, quoted=(random.random() < 0.5, random.random() < 0.5))


def some(random: Random, kind: list[str]) -> list[str]:
    return random.sample(kind, random.randint(1, len(kind)))


def row(random: Random, customer: str, good: str, kinds: Kinds) -> Row:
    invoice, time = random.choice(["", "i1", "i2"]), random.choice(["", "8:45"])
    day, price, quantity = map(random.choice, kinds)
    return customer, invoice, day, time, good, price, quantity


def altered(random: Random, before: list[Row], kinds: Kinds) -> list[Row]:
    """Rows of AT: none, some or all of their cells are changed, none to half of them deleted."""
    left, names, share = (
        random.sample(PSEUDONYMS, len(PSEUDONYMS)),
        dict[str, str](),
        random.choice([0, 0.3, 1]),
    )
    most = len(before) - len(before) // 2
    gone = random.sample(range(len(before)), random.choice([0, most // 2, most]))
    found: list[Row] = []
    for place, old in enumerate(before):
        month = reference.month_of(old)
        name = names.setdefault(f"{old[0]} {month}", left[len(names)])
        if place in gone:
            found.append(GONE)
        elif random.random() < share:
            found.append(row(random, name, random.choice(before)[4], (DAYS[month], *kinds[1:])))
        else:
            found.append((name, *old[1:]))
    return found


def measured(release: Release) -> dict[str, float]:
    return {name: measure.compute(release) for name, measure in MONTHLY.measures.items()}


def seeded(seed: bytes) -> Generator:
    """What draws tables of partial knowledge where that is the contest's seed."""
    return generator_for(seed, KNOWLEDGE, "")


def scored(release: Release, seed: bytes) -> Scored:
    """The release where attackers know what is drawn by that seed."""
    known = drawn(release.original, seeded(seed))
    return Scored(replace(release.original, knowledge=known), release.records)


def guesses_of(release: Scored) -> dict[str, dict[str, Named]]:
    """What built-in attackers say, by attacker and question."""
    attackers: Any = MONTHLY.attackers
    return {name: each.attack(release.target) for name, each in attackers.items()}
