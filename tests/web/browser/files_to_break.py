"""Hostile files of every kind that a page checks before it sends, and what the server says of each."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from app.errors import InvalidUpload, Problem
from app.scoring.files import FileSpec
from app.scoring.permutation import guess_from_file, source_from_secret
from app.scoring.rules import Rules
from app.scoring.settings import Columns
from app.scoring.tables import parse_release
from app.scoring.tracks.membership import cells_of as cells_of_schema
from app.scoring.tracks.membership.schema import Categorical, Numeric, Schema
from app.scoring.tracks.membership.tables import SCORE, parse_rows
from app.scoring.tracks.microdata import MICRODATA
from app.scoring.tracks.transactions import CUSTOMERS, PURCHASES
from app.scoring.transaction_tables import TransactionTables
from app.scoring.transaction_tables import parse_release as parse_transactions
from app.web.team.upload_form import stated

NUMBERS = ["1", "2.5", "-3", "1e5", ".5", "5.", "+1", "0.1"]
ODD_NUMBERS = [
    "1e400", "-1e999", "nan", "inf", "", "x", "1,5", '"1,5"', " 1", "0x10", "1_0", "１", "1e", "--1", "1e-400", '"7"',
]  # fmt: skip
TEXTS = ["a", "b", "", "a b"]
ODD_TEXTS = [
    '"a"', '"a,b"', '"a\nb"', '"a\r\nb"', '5" disk', '"a""b"', '"a"b', '"open', "日本", "x" * 1001,
    "👪" * 1000, "👪" * 1001, "\t", "\x01", "é", ' "q"', '"', "\x7f", "a\rb", "\x00",
]  # fmt: skip
DATES = ["2011-01-05", "2011/1/5", "2011-12-31"]
ODD_DATES = [
    "2011-02-29",
    "2000-02-29",
    "1900-02-29",
    "2012-2-29",
    "0000-01-01",
    "2011-1/5",
    "2011-13-01",
    "11-1-1",
    "",
    "2011-01-05 ",
]
TIMES, ODD_TIMES = ["08:45", "8:05"], ["24:00", "8:60", "8:5", "", "08:45:00"]
COUNTS, ODD_COUNTS = ["1", "30", "1000000000000"], ["0", "1000000000001", "1.0", "-1", "", "9" * 900]
PRICES, ODD_PRICES = ["0", "-0", "2.5"], ["-1", "", "1e999", "-1e999", "free"]
IDS, ODD_IDS = ["c1", "c2", "c3"], ["", "c1", "c9"]
ROWS, ODD_ROWS = ["0", "1", "2", "3", "4"], ["5", "x", "", " 2 ", "1.0", "99999999999", '"1"', "\x00", "-0"]
HEADERS = ["original_row"] * 8 + [
    "anonymized_row", "guess", "5", "", " original_row ", '"original_row"', "é",
    ",original_row", '"","original_row"', "a;original_row",
]  # fmt: skip
LINE_ENDS = ["\n", "\r\n", "\r"]
SOME = {
    "text": (TEXTS, ODD_TEXTS), "number": (NUMBERS, ODD_NUMBERS), "date": (DATES, ODD_DATES),
    "time": (TIMES, ODD_TIMES), "count": (COUNTS, ODD_COUNTS), "price": (PRICES, ODD_PRICES),
    "id": (IDS, ODD_IDS), "word": (["a", "b"], ["", "c", "A"]),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Broken:
    """A file, how the page is told to check it, and how the server reads it."""

    kind: str
    content: bytes
    expected: Mapping[str, Any]
    read: Callable[[bytes], object] = field(repr=False)

    def problems(self) -> tuple[Sequence[Problem], int]:
        try:
            self.read(self.content)
        except InvalidUpload as refused:
            return refused.problems, refused.total
        return (), 0


def table(rng: random.Random, header: Sequence[str], kinds: Sequence[str], oddity: float) -> bytes:
    """A few rows of these kinds of cells, some ragged, some blank; in some encoding."""

    def row(kinds: Sequence[str]) -> str:
        return ",".join(rng.choice(SOME[kind][rng.random() < oddity]) for kind in kinds)

    end = rng.choice(LINE_ENDS)
    rows = [row(kinds) for _ in range(rng.randint(0, 6))]
    if rows and rng.random() < oddity:
        rows[rng.randrange(len(rows))] = rng.choice(["", row(kinds) + ",z", row(kinds[1:])])
    text = end.join([",".join(header), *rows]) + rng.choice(["", end, end * 2])
    if rng.random() < oddity / 2:
        text = rng.choice([text.replace(",", ";"), "," + text, text.replace(header[0], "q", 1), ""])
    encoding = rng.choice(["utf-8"] * 18 + ["utf-8-sig", "utf-16", "cp932"])
    return text.encode(encoding, errors="replace")


def lines(rng: random.Random, oddity: float) -> bytes:
    """A file with a row number on each line."""
    numbers = [
        rng.choice((ROWS, ODD_ROWS)[rng.random() < oddity]) for _ in range(rng.choice([3, 3, 3, 4, 2]))
    ]
    return (
        rng.choice(["\n", "\r\n"]).join([rng.choice(HEADERS), *numbers]) + rng.choice(["", "\n"])
    ).encode()


def expected(header: Sequence[str], fewest: int, most: int, cells: Mapping[str, Any]) -> dict[str, Any]:
    told = [(name, [stated(cell) for cell in rules]) for name, rules in cells.items()]
    return {
        "header": list(header), "fewest": fewest, "most": most, "required": 0, "others": [], "cells": told,
        "most_bytes": 2**26,
    }  # fmt: skip


def broken(seed: int, rules: Rules) -> Iterator[Broken]:
    """One file of every kind; ``rules``: of a microdata competition with the columns sex, income, age."""
    rng = random.Random(seed)
    oddity = rng.choice([0.0, 0.03, 0.1, 0.3])
    yield microdata(rng, oddity, rules)
    schema = Schema((Categorical("c", ("a", "b", "")), Numeric("n", -3.0, 2.5)))
    content = table(rng, ("c", "n"), ("word", "number"), oddity)
    yield Broken(
        "table", content, expected(("c", "n"), 1, 4, cells_of_schema(schema)),
        lambda content: parse_rows(content, schema, file="f", most=4),
    )  # fmt: skip
    content = table(rng, ("score",), ("number",), oddity)
    yield Broken(
        "scores", content, expected(("score",), 3, 3, cells_of_schema(SCORE)),
        lambda content: parse_rows(content, SCORE, file="f", fewest=3, most=3),
    )  # fmt: skip
    yield from transactions(rng, oddity, rules)
    sizes = {"most_bytes": 2**26, "originals": 4, "anonymized": 3, "rows": 3, "tables": []}
    yield Broken(
        "rows", lines(rng, oddity), sizes, lambda content: guess_from_file(content, originals=4, anonymized=3)
    )
    yield Broken(
        "permutation", lines(rng, oddity), sizes,
        lambda content: source_from_secret(content, originals=4, anonymized=3),
    )  # fmt: skip


def microdata(rng: random.Random, oddity: float, rules: Rules) -> Broken:
    columns = Columns(("sex", "age"), ("income",))
    header = ("sex", "income", "age")
    original = pd.DataFrame(dict(zip(header, (["a"] * 4, [1.0] * 4, ["b"] * 4), strict=True)))
    (release,) = MICRODATA.release
    rule, *_ = cells_of(release, rules).values()
    cells = {"income": rule}
    content = table(rng, header, ("text", "number", "text"), oddity)
    return Broken(
        "table", content, expected(header, 1, 4, cells),
        lambda content: parse_release(content, original, columns),
    )  # fmt: skip


def cells_of(file: FileSpec, rules: Rules) -> Mapping[str, Any]:
    assert file.cells is not None
    return file.cells(rules)


def transactions(rng: random.Random, oddity: float, rules: Rules) -> Iterator[Broken]:
    """One of the two files broken, the other one good."""
    people = b"customer_id,sex,birthday,country\nc1,f,,\nc2,m,2000-01-01,\nc3,,,\n"
    records = b"customer_id,receipt_id,date,time,goods,unit_price,quantity\n"
    nobody = pd.DataFrame(columns=["sex", "country", "goods"], dtype=str)
    original = TransactionTables(pd.DataFrame({"sex": [""] * 4, "country": [""] * 4}), nobody)

    def header(file: FileSpec) -> list[str]:
        return list(file.header(rules) or ())

    bad = table(rng, header(CUSTOMERS), ("id", "text", "date", "text"), oddity)
    yield Broken(
        "table", bad, expected(header(CUSTOMERS), 1, 4, cells_of(CUSTOMERS, rules)),
        lambda content: parse_transactions({"customers": content, "transactions": records}, original),
    )  # fmt: skip
    bad = table(rng, header(PURCHASES), ("id", "word", "date", "time", "word", "price", "count"), oddity)
    known = {"ids": {"customers": {"customer_id": ["c1", "c2", "c3"]}}}
    yield Broken(
        "table", bad, expected(header(PURCHASES), 0, 1_000_000, cells_of(PURCHASES, rules)) | known,
        lambda content: parse_transactions({"customers": people, "transactions": content}, original),
    )  # fmt: skip
