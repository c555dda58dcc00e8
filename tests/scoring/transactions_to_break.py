"""Hypothesis strategies for transactions made to break measures: ties, emptiness, strangers, extremes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from anoncup.tracks.transactions.files import CUSTOMER_COLUMNS, TRANSACTION_COLUMNS
from anoncup.tracks.transactions.release import TransactionRelease, prepare, release_of
from anoncup.tracks.transactions.tables import TransactionTables
from tests.scoring.transactions_reference import Customer, Record, Side

GOODS = ["a", "b", "A", "10", "9"]
RECEIPTS = ["r1", "r2", "r3", "1", "01"]
DATES = ["2011-01-05", "2011-03-01", "2011-06-30", "2012-02-29", "0001-01-01", "9999-12-31"]
TIMES = ["00:00", "08:45", "23:59"]
MASTERS = [["", "f", "m"], ["", "1980-01-01", "2000-02-29"], ["", "France", "日本"]]
TAME = [0.0, 1.0, 2.0, 1.5, 0.1, 0.2, 0.3]
LARGE = [*TAME, 0.1 + 0.2, 1e-220, 1e16, 1e16 + 2, 1e200, 1e308, 1.7976931348623157e308]
CLOSE = [0.1, 0.2, 0.3, 0.1 + 0.2, 0.6]
TINY = [[0.0, 1e-290, 2e-290], [*TAME, 5e-324], [5e-324]]
ORDERLY = [TAME, LARGE, CLOSE, [0.0], [1e308, 1.7976931348623157e308], *TINY]
"""Prices whose sums have all digits of a float64 once scaled, so that they can be held against each other."""
PRICES = [*ORDERLY, [*LARGE, 5e-324, 1e-300]]
QUANTITIES = [
    [1, 2, 3],
    [1],
    [10**12, 10**12 - 10**6, 10**6],
    [8 * 10**11, 1, 2],
    [1, 2, 5, 10**6, 10**9],
]
STRANGE_GOODS = ["z", "y"]
STRANGE_RECEIPTS = ["s1", "s2"]
Fields = dict[str, object]


@dataclass(frozen=True)
class Case:
    """A release, and the same as plain lists."""

    release: TransactionRelease
    before: Side
    after: Side
    source: list[int]


def tables_of(side: Side) -> TransactionTables:
    customers = pd.DataFrame(side.customers, columns=list(CUSTOMER_COLUMNS)).astype("str")
    kinds = dict.fromkeys(TRANSACTION_COLUMNS, "str") | {"unit_price": "float64", "quantity": "int64"}
    return TransactionTables(
        customers, pd.DataFrame(side.records, columns=list(TRANSACTION_COLUMNS)).astype(kinds)
    )


def case_of(before: Side, after: Side, source: list[int]) -> Case:
    release = release_of(prepare(tables_of(before)), tables_of(after), np.array(source))
    return Case(release, before, after, source)


@dataclass(frozen=True)
class Palette:
    """What the cells of one case are drawn from: small palettes make ties, equal rows and equal baskets."""

    goods: list[str]
    receipts: list[str]
    dates: list[str]
    prices: list[float]
    quantities: list[int]

    def record(self, customers: list[str]) -> st.SearchStrategy[Record]:
        return st.builds(
            Record,
            st.sampled_from(customers),
            st.sampled_from(self.receipts),
            st.sampled_from(self.dates),
            st.sampled_from(TIMES),
            st.sampled_from(self.goods),
            st.sampled_from(self.prices),
            st.sampled_from(self.quantities),
        )


def some_of(draw: st.DrawFn, texts: list[str]) -> list[str]:
    return texts[: draw(st.integers(1, len(texts)))]


@st.composite
def palettes(draw: st.DrawFn, prices: list[list[float]]) -> Palette:
    return Palette(
        some_of(draw, GOODS),
        some_of(draw, RECEIPTS),
        some_of(draw, DATES),
        draw(st.sampled_from(prices)),
        draw(st.sampled_from(QUANTITIES)),
    )


def people(draw: st.DrawFn, names: list[str]) -> list[Customer]:
    kinds = [some_of(draw, texts) for texts in MASTERS]
    return [Customer(name, *[draw(st.sampled_from(texts)) for texts in kinds]) for name in names]


@st.composite
def originals(draw: st.DrawFn, palette: Palette, most: int) -> Side:
    """Some customers have no rows; some cases give several customers the same basket."""
    names = [f"c{number}" for number in range(draw(st.integers(1, most)))]
    size = draw(st.sampled_from([1, 3, 6, 12, 20]))
    records = draw(st.lists(palette.record(names), min_size=size, max_size=size))
    if draw(st.integers(0, 3)) == 0:
        copied = [record for record in records if record.customer == records[0].customer]
        records += [record._replace(customer=name) for name in names[1::2] for record in copied]
    return Side(people(draw, names), draw(st.permutations(records)))


def renamed(customers: list[Customer], source: list[int], *, prefix: str) -> dict[str, str]:
    """Pseudonyms of the customers left; with the original's own prefix they mislead."""
    return {customers[i].name: f"{prefix}{j}" for j, i in enumerate(source)}


def masters(draw: st.DrawFn, before: Side, names: dict[str, str]) -> list[Customer]:
    """The customers left, in the order of their pseudonyms, some with another's sex, birthday and country."""
    true = {customer.name: customer for customer in before.customers}
    return [
        (draw(st.sampled_from(before.customers)) if draw(st.integers(0, 2)) == 0 else true[old])._replace(
            name=new
        )
        for old, new in names.items()
    ]


def altered(draw: st.DrawFn, record: Record, strange: st.SearchStrategy[Record]) -> list[Record]:
    """What becomes of a record: kept, dropped, doubled, or changed in one cell."""
    action = draw(st.sampled_from(["keep", "keep", "drop", "double", "change"]))
    if action == "change":
        name = draw(st.sampled_from(Record._fields[1:]))
        changed: Fields = {name: getattr(draw(strange), name)}
        return [Record(**(record._asdict() | changed))]
    return [record] * {"keep": 1, "drop": 0, "double": 2}[action]


def with_dummies(draw: st.DrawFn, left: list[Record], names: list[str], palette: Palette) -> list[Record]:
    strange = Palette(
        palette.goods + STRANGE_GOODS,
        palette.receipts + STRANGE_RECEIPTS,
        DATES,
        palette.prices,
        palette.quantities,
    ).record(names)
    records = [new for record in left for new in altered(draw, record, strange)]
    return records + draw(st.lists(strange, max_size=3))


def one_basket(draw: st.DrawFn, records: list[Record], names: list[str]) -> list[Record]:
    """Everybody gets the records of somebody: equal baskets throughout."""
    owner = draw(st.sampled_from(names))
    shared = [record for record in records if record.customer == owner]
    return [record._replace(customer=name) for name in names for record in shared]


def unknown_goods(draw: st.DrawFn, records: list[Record], names: list[str]) -> list[Record]:
    return [record._replace(goods=draw(st.sampled_from(STRANGE_GOODS))) for record in records]


def new_receipts(draw: st.DrawFn, records: list[Record], names: list[str]) -> list[Record]:
    return [record._replace(receipt=f"new {record.receipt}") for record in records]


def shuffled(draw: st.DrawFn, records: list[Record], names: list[str]) -> list[Record]:
    return draw(st.permutations(records))


def nothing(draw: st.DrawFn, records: list[Record], names: list[str]) -> list[Record]:
    return []


def as_they_are(draw: st.DrawFn, records: list[Record], names: list[str]) -> list[Record]:
    return records


Change = Callable[[st.DrawFn, list[Record], list[str]], list[Record]]
CHANGES: list[Change] = [
    as_they_are,
    as_they_are,
    shuffled,
    one_basket,
    unknown_goods,
    new_receipts,
    nothing,
]


@st.composite
def cases(draw: st.DrawFn, most: int = 8, prices: list[list[float]] = PRICES) -> Case:
    palette = draw(palettes(prices))
    before = draw(originals(palette, most))
    count = len(before.customers)
    source = draw(st.permutations(range(count)))[: draw(st.integers(1, count))]
    names = renamed(before.customers, source, prefix=draw(st.sampled_from(["p", "c"])))
    left = [r._replace(customer=names[r.customer]) for r in before.records if r.customer in names]
    new = list(names.values())
    records = draw(st.sampled_from(CHANGES))(draw, with_dummies(draw, left, new, palette), new)
    return case_of(before, Side(masters(draw, before, names), records), source)


def stretch(draw: st.DrawFn, name: str, goods: list[str]) -> list[Record]:
    """The records of a customer who buys neighbouring goods."""
    start = draw(st.integers(0, len(goods)))
    end = draw(st.integers(start, len(goods)))
    return [Record(name, "r", DATES[0], TIMES[0], each, 1.0, 1) for each in goods[start:end]]


@st.composite
def wide_cases(draw: st.DrawFn) -> Case:
    """More goods than the list of top goods has places, most of them with equally many buyers."""
    goods = [f"g{number}" for number in range(draw(st.integers(95, 130)))]
    count = draw(st.integers(1, 4))
    names = [f"c{number}" for number in range(count)]
    first = Record(names[0], "r", DATES[0], TIMES[0], goods[0], 1.0, 1)
    before = Side(people(draw, names), [first, *[r for name in names for r in stretch(draw, name, goods)]])
    records = [r for name in names for r in stretch(draw, name, goods)]
    return case_of(before, Side(people(draw, names), records), list(range(count)))
