"""Hypothesis strategies for hostile transactions: ties, empty tables, unknown goods, extreme values."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from anoncup.tracks.transactions.files import CUSTOMER_COLUMNS, TRANSACTION_COLUMNS
from anoncup.tracks.transactions.release import ScoredTransactions, TransactionOriginal, build_release
from anoncup.tracks.transactions.tables import TransactionTables
from tests.support.transactions_reference import Customer, PlainTables, Record

GOODS = ["a", "b", "A", "10", "9"]
RECEIPTS = ["r1", "r2", "r3", "1", "01"]
DATES = ["2011-01-05", "2011-03-01", "2011-06-30", "2012-02-29", "0001-01-01", "9999-12-31"]
TIMES = ["00:00", "08:45", "23:59"]
MASTER_VALUES = [["", "f", "m"], ["", "1980-01-01", "2000-02-29"], ["", "France", "日本"]]
SIMPLE_PRICES = [0.0, 1.0, 2.0, 1.5, 0.1, 0.2, 0.3]
LARGE_PRICES = [*SIMPLE_PRICES, 0.1 + 0.2, 1e-22, 1e16, 1e16 + 2, 1e20, 1e30]
CLOSE_PRICES = [0.1, 0.2, 0.3, 0.1 + 0.2, 0.6]
TINY_PRICES = [[0.0, 1e-29, 2e-29], [*SIMPLE_PRICES, 1e-30], [1e-30]]
SUMMABLE_PRICES = [
    SIMPLE_PRICES,
    LARGE_PRICES,
    CLOSE_PRICES,
    [0.0],
    [9.999999999999999e29, 1e30],
    *TINY_PRICES,
]
"""Prices whose scaled sums keep all digits of a float64, so that two implementations can be compared."""
PRICES = [*SUMMABLE_PRICES, [*LARGE_PRICES, 1e-30, 2e-29]]
QUANTITIES = [
    [1, 2, 3],
    [1],
    [10**12, 10**12 - 10**6, 10**6],
    [8 * 10**11, 1, 2],
    [1, 2, 5, 10**6, 10**9],
]
STRANGE_GOODS = ["z", "y"]
STRANGE_RECEIPTS = ["s1", "s2"]


@dataclass(frozen=True)
class TransactionCase:
    """A release together with its tables as plain lists."""

    release: ScoredTransactions
    original: PlainTables
    released: PlainTables
    source: list[int]


def build_tables(plain_tables: PlainTables) -> TransactionTables:
    customers = pd.DataFrame(plain_tables.customers, columns=list(CUSTOMER_COLUMNS)).astype("str")
    dtypes = dict.fromkeys(TRANSACTION_COLUMNS, "str") | {"unit_price": "float64", "quantity": "int64"}
    return TransactionTables(
        customers, pd.DataFrame(plain_tables.records, columns=list(TRANSACTION_COLUMNS)).astype(dtypes)
    )


def build_case(original: PlainTables, released: PlainTables, source: list[int]) -> TransactionCase:
    release = build_release(
        TransactionOriginal(build_tables(original)), build_tables(released), np.array(source)
    )
    return TransactionCase(release, original, released, source)


Palette = list[list[Any]]
"""Values for the cells of one case after the customer; few values make ties, equal rows and equal baskets."""


def make_record_strategy(customers: list[str], palette: Palette) -> st.SearchStrategy[Record]:
    return st.builds(Record, st.sampled_from(customers), *map(st.sampled_from, palette))


def draw_prefix(draw: st.DrawFn, texts: list[str]) -> list[str]:
    return texts[: draw(st.integers(1, len(texts)))]


@st.composite
def palettes(draw: st.DrawFn, prices: list[list[float]]) -> Palette:
    receipts, dates, goods = (draw_prefix(draw, texts) for texts in (RECEIPTS, DATES, GOODS))
    return [receipts, dates, TIMES, goods, draw(st.sampled_from(prices)), draw(st.sampled_from(QUANTITIES))]


def draw_customers(draw: st.DrawFn, names: list[str]) -> list[Customer]:
    values = [draw_prefix(draw, texts) for texts in MASTER_VALUES]
    return [Customer(name, *[draw(st.sampled_from(texts)) for texts in values]) for name in names]


@st.composite
def originals(draw: st.DrawFn, palette: Palette, max_customers: int = 8) -> PlainTables:
    """Draw an original; some customers have no records, and some cases repeat a basket."""
    names = [f"c{number}" for number in range(draw(st.integers(1, max_customers)))]
    size = draw(st.sampled_from([1, 3, 6, 12, 20]))
    records = draw(st.lists(make_record_strategy(names, palette), min_size=size, max_size=size))
    if draw(st.integers(0, 3)) == 0:
        repeated_records = [record for record in records if record.customer == records[0].customer]
        records += [record._replace(customer=name) for name in names[1::2] for record in repeated_records]
    return PlainTables(draw_customers(draw, names), draw(st.permutations(records)))


def alter_record(draw: st.DrawFn, record: Record, strangers: st.SearchStrategy[Record]) -> list[Record]:
    """Return the record kept, dropped, doubled or changed in one cell."""
    action = draw(st.sampled_from(["keep", "keep", "drop", "double", "change"]))
    if action == "change":
        name = draw(st.sampled_from(Record._fields[1:]))
        return [Record(**(record._asdict() | {name: getattr(draw(strangers), name)}))]
    return [record] * {"keep": 1, "drop": 0, "double": 2}[action]


def change_records(draw: st.DrawFn, records: list[Record], names: list[str]) -> list[Record]:
    """Reorder, drop or replace all records, or give all customers the records of one."""
    match draw(st.sampled_from(["keep", "keep", "shuffle", "share", "goods", "receipts", "drop"])):
        case "shuffle":
            return draw(st.permutations(records))
        case "share":
            owner = draw(st.sampled_from(names))
            shared_records = [record for record in records if record.customer == owner]
            return [record._replace(customer=name) for name in names for record in shared_records]
        case "goods":
            return [record._replace(goods=draw(st.sampled_from(STRANGE_GOODS))) for record in records]
        case "receipts":
            return [record._replace(receipt=f"new {record.receipt}") for record in records]
        case "drop":
            return []
    return records


@st.composite
def cases(draw: st.DrawFn, max_customers: int = 8, prices: list[list[float]] = PRICES) -> TransactionCase:
    palette = draw(palettes(prices))
    original = draw(originals(palette, max_customers))
    count = len(original.customers)
    source = draw(st.permutations(range(count)))[: draw(st.integers(1, count))]
    prefix = draw(st.sampled_from(["p", "c"]))  # pseudonyms mislead if they look like the ids
    pseudonym_of = {original.customers[i].name: f"{prefix}{j}" for j, i in enumerate(source)}
    names = list(pseudonym_of.values())
    receipts, _, times, goods, *numbers = palette
    strangers = make_record_strategy(
        names, [receipts + STRANGE_RECEIPTS, DATES, times, goods + STRANGE_GOODS, *numbers]
    )
    records = [
        altered_record
        for record in original.records
        if record.customer in pseudonym_of
        for altered_record in alter_record(
            draw, record._replace(customer=pseudonym_of[record.customer]), strangers
        )
    ] + draw(st.lists(strangers, max_size=3))
    masters = [
        draw(st.sampled_from([original.customers[i]] * 2 + original.customers[:1]))._replace(name=name)
        for i, name in zip(source, names, strict=True)
    ]
    return build_case(original, PlainTables(masters, change_records(draw, records, names)), source)


def draw_neighbouring_goods(draw: st.DrawFn, name: str, goods: list[str]) -> list[Record]:
    """Draw the records of a customer who buys a range of neighbouring goods."""
    start = draw(st.integers(0, len(goods)))
    end = draw(st.integers(start, len(goods)))
    return [Record(name, "r", DATES[0], TIMES[0], good, 1.0, 1) for good in goods[start:end]]


@st.composite
def wide_cases(draw: st.DrawFn) -> TransactionCase:
    """Draw cases with more goods than the list of top goods holds, most with equally many buyers."""
    goods = [f"g{number}" for number in range(draw(st.integers(95, 130)))]
    count = draw(st.integers(1, 4))
    names = [f"c{number}" for number in range(count)]
    first_record = Record(names[0], "r", DATES[0], TIMES[0], goods[0], 1.0, 1)
    original = PlainTables(
        draw_customers(draw, names),
        [first_record, *[r for name in names for r in draw_neighbouring_goods(draw, name, goods)]],
    )
    records = [r for name in names for r in draw_neighbouring_goods(draw, name, goods)]
    return build_case(original, PlainTables(draw_customers(draw, names), records), list(range(count)))
