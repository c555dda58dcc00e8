"""Data profile of a table, header guesses and renamed columns against plain Python."""

import csv
import io
from collections import Counter
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pandas as pd
import pytest
from numpy.random import PCG64, Generator

from anoncup.errors import InvalidUpload
from anoncup.rules.settings import Columns
from anoncup.tables.profile.counts import (
    count_classes,
    count_cross_tables,
    count_values,
    drop_identifying_columns,
    drop_sparse_columns,
)
from anoncup.tables.profile.header_guess import (
    check_first_line,
    drop_columns,
    guess_header,
    looks_like_data,
    normalize_name,
    propose_names,
    replace_header,
)
from anoncup.tables.profile.identifiers import find_identifiers
from anoncup.tables.profile.model import ColumnStats, CrossTable, EquivalenceClassCounts
from anoncup.tracks.microdata.column_roles import suggest_roles

pytestmark = pytest.mark.full

WORDS = ["", " ", "f", "F", "ｆ", "日本", "1", "1.0", "01", "nan", "None", "é", "é"]


def generate_table(seed: int, rows: int) -> pd.DataFrame:
    rng = Generator(PCG64(seed))
    columns = {f"c{index}": rng.choice(WORDS[: 2 + 3 * index], rows) for index in range(4)}
    columns["unique"] = np.array([f"p{index}" for index in range(rows)], dtype=object)
    return pd.DataFrame({name: pd.Series(list(cells), dtype="str") for name, cells in columns.items()})


@pytest.mark.parametrize("rows", [1, 2, 7, 60, 300])
@pytest.mark.parametrize("fewest", [1, 2, 5])
def test_counts_equal_plain_python(rows: int, fewest: int) -> None:
    table = generate_table(rows, rows)
    for name in table.columns:
        counts = Counter(table[name].tolist())
        small_counts = [count for count in counts.values() if count < fewest]
        assert count_values(table[name], fewest) == ColumnStats(
            rows, len(counts), max(counts.values()), len(small_counts), sum(small_counts)
        )
    for columns in ([], ["c0"], ["c0", "c2", "c3"], list(table.columns)):
        classes = Counter(map(tuple, table[columns].to_numpy().tolist()))
        if not columns:
            classes = Counter({(): rows})
        alone = sum(count == 1 for count in classes.values())
        few_rows = sum(count for count in classes.values() if count < fewest)
        assert count_classes(table, columns, fewest) == EquivalenceClassCounts(
            rows, len(classes), alone, few_rows
        )
        if columns:
            cells = list(product(*(set(table[name]) for name in columns))) if len(columns) < 4 else None
            (table_counts,) = count_cross_tables(table, {"m": columns})
            assert table_counts.occupied == len(classes)
            if cells is not None:
                empty = sum(cell not in classes for cell in cells)
                assert (table_counts.cells, table_counts.empty_share) == (
                    len(cells),
                    Fraction(empty, len(cells)),
                )


@pytest.mark.parametrize("seed", range(6))
def test_identifying_columns_are_dropped_until_few_rows_are_unique(seed: int) -> None:
    table = generate_table(seed, 40 + 30 * seed)

    def count_unique(columns: list[str]) -> int:
        return sum(count == 1 for count in Counter(map(tuple, table[columns].to_numpy().tolist())).values())

    columns = ["unique", "c3", "c0", "c2", "c1"]
    remaining = list(columns)
    while len(remaining) > 1 and 10 * count_unique(remaining) > len(table):
        largest = max(table[name].nunique() for name in remaining)
        remaining.remove([name for name in remaining if table[name].nunique() == largest][-1])
    assert drop_identifying_columns(table, columns) == tuple(remaining)
    assert "unique" not in remaining


@pytest.mark.parametrize("seed", range(6))
def test_sparse_columns_are_dropped_until_a_tenth_is_filled(seed: int) -> None:
    table = generate_table(seed, 30 + 20 * seed)

    def compute_filled_share(columns: list[str]) -> Fraction:
        cells = prod(table[name].nunique() for name in columns)
        return Fraction(len(set(map(tuple, table[columns].to_numpy().tolist()))), cells)

    remaining = columns = ["c3", "unique", "c0", "c2", "c1"]
    while len(remaining) > 2 and compute_filled_share(remaining) <= Fraction(1, 10):
        largest = max(table[name].nunique() for name in remaining)
        dropped_name = [name for name in remaining if table[name].nunique() == largest][-1]
        remaining = [name for name in remaining if name != dropped_name]
    assert drop_sparse_columns(table, columns) == tuple(remaining)
    assert "unique" not in remaining


def test_cross_tables_may_exceed_int64() -> None:
    table = pd.DataFrame({f"c{index}": [f"{row}" for row in range(100)] for index in range(12)}, dtype="str")
    (cross_table,) = count_cross_tables(table, {"one": list(table.columns), "two": list(table.columns)})
    assert cross_table == CrossTable(("one", "two"), tuple(table.columns), 100**12, 100)
    assert cross_table.empty_percent == 99.9  # never 100 if any cell is filled
    assert cross_table.is_sparse


@pytest.mark.parametrize(
    ("content", "is_data"),
    [
        ("31,f\n40,m\n23,f\n", True),
        ("age,sex\n40,m\n23,f\n", False),
        ("age,f\n40,m\n23,f\n", False),  # a name above numbers indicates a header
        ("2015,2016\n1,2\n3,4\n", True),  # ambiguous
        ("id,2015,2016\n7,1,2\n8,3,4\n", False),
        ("f,m\na,b\n", False),  # no evidence either way
        ("f,m\nf,b\n", True),
        ("12346,f,1951/8/14,UK\n12347,f,1983/7/11,Iceland\n", True),
        ("a,b\n", False),
        (",5\n,6\n", True),
        ("x,y\n1\n2,3,4\n", False),  # ragged rows are reported by the parser
    ],
)
def test_first_line_like_the_others_is_data(content: str, is_data: bool) -> None:
    first_row, *rows = list(csv.reader(io.StringIO(content)))
    assert looks_like_data(first_row, rows) is is_data
    assert guess_header(content.encode(), "t", None).is_data is is_data


@pytest.mark.parametrize(
    "header", ["Sex,AGE", " sex ,age ", "ｓｅｘ,ａｇｅ", "s e x,a-g_e", "\u200bsex,age", "age,SEX"]
)
def test_respelled_headers_are_corrected(header: str) -> None:
    content = f"{header}\n30,f\n40,m\n".encode("utf-8-sig")
    guess = guess_header(content, "t", ("sex", "age"))
    order = ("age", "sex") if header == "age,SEX" else ("sex", "age")
    assert (guess.names, guess.is_respelled, guess.is_data) == (order, True, False)
    assert replace_header(content, guess.names, "t", first_is_data=False) == (
        f"{','.join(order)}\n30,f\n40,m\n".encode()
    )
    assert guess_header(b"sex,age\nf,30\n", "t", ("sex", "age")).is_respelled is False


@pytest.mark.parametrize(
    ("header", "required", "is_data", "names"),
    [
        (["1", "2"], ["id", "age"], True, ("id", "age")),
        (["1", "2", "3"], ["id", "age"], True, ("id", "age", "column_3")),
        (["", "a", "a"], [], False, ("column_1", "a", "column_3")),
        (["column_2", "", ""], [], False, ("column_2", "column_3", "column_4")),
        (["AGE", "kunde"], ["id", "age"], False, ("age", "id")),
        (["AGE", "kunde", "x"], ["id", "age"], False, ("age", "kunde", "x")),
    ],
)
def test_proposed_names_are_complete_and_unique(
    header: list[str], required: list[str], is_data: bool, names: tuple[str, ...]
) -> None:
    assert propose_names(header, required, is_data=is_data) == names
    assert len(set(names)) == len(names) == len(header)


def test_renaming_columns_changes_only_the_header() -> None:
    body = '"a ""b""\nc",1\r\n日本,2\n'
    renamed_file = replace_header(body.encode(), ['na"me', "z,w"], "t", first_is_data=True)
    assert renamed_file == b'"na""me","z,w"\n' + body.encode()
    shift_jis_file = f"x,y\n{'東京都,大阪府' * 20},2\n".encode("cp932")
    assert (
        replace_header(shift_jis_file, ["p", "q"], "t", first_is_data=False)
        .decode()
        .startswith("p,q\n東京都")
    )
    assert replace_header(b"a,b", ["c", "d"], "t", first_is_data=False) == b"c,d\n"


@pytest.mark.parametrize("names", [["a", "a"], ["", "b"], [" ", "b"], ["a\x07", "b"], ["a" * 81, "b"]])
def test_invalid_column_names_are_refused(names: list[str]) -> None:
    with pytest.raises(InvalidUpload):
        replace_header(b"1,2\n3,4\n", names, "t", first_is_data=True)


def test_dropping_columns_keeps_all_other_cells() -> None:
    content = b'id,a,b\np1,"x,y",01\np2,,1e3\n'
    assert pd.read_csv(
        io.BytesIO(drop_columns(content, ["id"], "t")), dtype=str, keep_default_na=False
    ).equals(pd.DataFrame({"a": ["x,y", ""], "b": ["01", "1e3"]}, dtype="str"))


def test_missing_header_is_reported_unless_a_name_is_known() -> None:
    with pytest.raises(InvalidUpload) as excinfo:
        check_first_line(b"12346,f\n12347,f\n", "customers", ("customer_id", "sex"))
    (problem,) = excinfo.value.problems
    assert (problem.code, problem.line, excinfo.value.total) == ("no_header", 1, 1)
    check_first_line(b"2015,2016\n1,2\n", "original", ("2015", "2016"))


def test_names_and_row_numbers_are_identifiers() -> None:
    rows = "".join(f"P{n},{n + 7},{n * 3},{n % 4},x{n % 9}\n" for n in range(60))
    identifiers = find_identifiers(f"id,row,income,size,city\n{rows}".encode(), "t")
    assert [(column.name, column.distinct, column.rows) for column in identifiers] == [
        ("id", 60, 60),
        ("row", 60, 60),
    ]
    assert find_identifiers(b'a,b\n"1,2\n', "t") == ()


def test_column_with_fewest_values_becomes_a_quasi_identifier() -> None:
    rows = "".join(f"{n},{n % 30},{n * 2}\n" for n in range(90))
    roles = suggest_roles(f"weight,age,income\n{rows}".encode(), Columns(("x",), ("y",)))
    assert roles == Columns(("age",), ("weight", "income"))


def test_header_comparison_ignores_only_case_blanks_and_width() -> None:
    assert normalize_name(" Customer_ID\ufeff") == normalize_name("ｃustomer id") == "customerid"
    assert normalize_name("年齢") != normalize_name("性別")
