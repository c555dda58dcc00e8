"""What is counted of a table before it is given out, against counts by hand and in plain Python."""

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
from anoncup.tables.profile.counts import classes_of, cross_tables, few_alone, few_empty, values_of
from anoncup.tables.profile.header_guess import (
    check_first_line,
    looks_like_data,
    naming,
    proposed,
    spelled,
    with_names,
    without,
)
from anoncup.tables.profile.identifiers import find_identifiers
from anoncup.tables.profile.model import Classes, CrossTable, Values
from anoncup.tracks.microdata.column_roles import suggested

pytestmark = pytest.mark.full

WORDS = ["", " ", "f", "F", "ｆ", "日本", "1", "1.0", "01", "nan", "None", "é", "é"]


def hostile(seed: int, rows: int) -> pd.DataFrame:
    rng = Generator(PCG64(seed))
    columns = {f"c{place}": rng.choice(WORDS[: 2 + 3 * place], rows) for place in range(4)}
    columns["unique"] = np.array([f"p{place}" for place in range(rows)], dtype=object)
    return pd.DataFrame({name: pd.Series(list(cells), dtype="str") for name, cells in columns.items()})


@pytest.mark.parametrize("rows", [1, 2, 7, 60, 300])
@pytest.mark.parametrize("fewest", [1, 2, 5])
def test_columns_classes_and_cross_tables_are_counted_as_in_plain_python(rows: int, fewest: int) -> None:
    table = hostile(rows, rows)
    for name in table.columns:
        held = Counter(table[name].tolist())
        few = [count for count in held.values() if count < fewest]
        assert values_of(table[name], fewest) == Values(
            rows, len(held), max(held.values()), len(few), sum(few)
        )
    for columns in ([], ["c0"], ["c0", "c2", "c3"], list(table.columns)):
        classes = Counter(map(tuple, table[columns].to_numpy().tolist()))
        if not columns:
            classes = Counter({(): rows})
        alone = sum(count == 1 for count in classes.values())
        few_rows = sum(count for count in classes.values() if count < fewest)
        assert classes_of(table, columns, fewest) == Classes(rows, len(classes), alone, few_rows)
        if columns:
            cells = list(product(*(set(table[name]) for name in columns))) if len(columns) < 4 else None
            (found,) = cross_tables(table, {"m": columns})
            assert found.filled == len(classes)
            if cells is not None:
                empty = sum(cell not in classes for cell in cells)
                assert (found.cells, found.empty) == (len(cells), Fraction(empty, len(cells)))


@pytest.mark.parametrize("seed", range(6))
def test_columns_are_dropped_from_that_of_most_values_on_until_few_are_alone(seed: int) -> None:
    table = hostile(seed, 40 + 30 * seed)

    def alone(columns: list[str]) -> int:
        return sum(count == 1 for count in Counter(map(tuple, table[columns].to_numpy().tolist())).values())

    columns = ["unique", "c3", "c0", "c2", "c1"]
    left = list(columns)
    while len(left) > 1 and 10 * alone(left) > len(table):
        most = max(table[name].nunique() for name in left)
        left.remove([name for name in left if table[name].nunique() == most][-1])
    assert few_alone(table, columns) == tuple(left)
    assert "unique" not in left


@pytest.mark.parametrize("seed", range(6))
def test_columns_are_dropped_until_a_tenth_of_the_cells_is_filled(seed: int) -> None:
    table = hostile(seed, 30 + 20 * seed)

    def filled(columns: list[str]) -> Fraction:
        cells = prod(table[name].nunique() for name in columns)
        return Fraction(len(set(map(tuple, table[columns].to_numpy().tolist()))), cells)

    left = columns = ["c3", "unique", "c0", "c2", "c1"]
    while len(left) > 2 and filled(left) <= Fraction(1, 10):
        most = max(table[name].nunique() for name in left)
        last = [name for name in left if table[name].nunique() == most][-1]
        left = [name for name in left if name != last]
    assert few_empty(table, columns) == tuple(left)
    assert "unique" not in left


def test_a_cross_table_may_have_more_cells_than_any_integer_type_holds() -> None:
    table = pd.DataFrame({f"c{place}": [f"{row}" for row in range(100)] for place in range(12)}, dtype="str")
    (found,) = cross_tables(table, {"one": list(table.columns), "two": list(table.columns)})
    assert found == CrossTable(("one", "two"), tuple(table.columns), 100**12, 100)
    assert found.empty_percent == 99.9  # never 100 while a cell is filled
    assert found.is_sparse


@pytest.mark.parametrize(
    ("content", "is_data"),
    [
        ("31,f\n40,m\n23,f\n", True),
        ("age,sex\n40,m\n23,f\n", False),
        ("age,f\n40,m\n23,f\n", False),  # a name above numbers speaks for a header
        ("2015,2016\n1,2\n3,4\n", True),  # as far as anybody can tell
        ("id,2015,2016\n7,1,2\n8,3,4\n", False),
        ("f,m\na,b\n", False),  # nothing speaks for either
        ("f,m\nf,b\n", True),
        ("12346,f,1951/8/14,UK\n12347,f,1983/7/11,Iceland\n", True),
        ("a,b\n", False),
        (",5\n,6\n", True),
        ("x,y\n1\n2,3,4\n", False),  # ragged: its reader tells
    ],
)
def test_a_first_line_is_a_row_if_its_numbers_stand_above_numbers(content: str, is_data: bool) -> None:
    first, *below = list(csv.reader(io.StringIO(content)))
    assert looks_like_data(first, below) is is_data
    assert naming(content.encode(), "t", None).is_data is is_data


@pytest.mark.parametrize(
    "header", ["Sex,AGE", " sex ,age ", "ｓｅｘ,ａｇｅ", "s e x,a-g_e", "\u200bsex,age", "age,SEX"]
)
def test_a_header_that_is_only_spelled_otherwise_is_told_apart_and_put_right(header: str) -> None:
    content = f"{header}\n30,f\n40,m\n".encode("utf-8-sig")
    found = naming(content, "t", ("sex", "age"))
    order = ("age", "sex") if header == "age,SEX" else ("sex", "age")
    assert (found.names, found.respelled, found.is_data) == (order, True, False)
    assert with_names(content, found.names, "t", first_is_data=False) == (
        f"{','.join(order)}\n30,f\n40,m\n".encode()
    )
    assert naming(b"sex,age\nf,30\n", "t", ("sex", "age")).respelled is False


@pytest.mark.parametrize(
    ("found", "wanted", "is_data", "names"),
    [
        (["1", "2"], ["id", "age"], True, ("id", "age")),
        (["1", "2", "3"], ["id", "age"], True, ("id", "age", "column_3")),
        (["", "a", "a"], [], False, ("column_1", "a", "column_3")),
        (["column_2", "", ""], [], False, ("column_2", "column_3", "column_4")),
        (["AGE", "kunde"], ["id", "age"], False, ("age", "id")),
        (["AGE", "kunde", "x"], ["id", "age"], False, ("age", "kunde", "x")),
    ],
)
def test_every_column_gets_a_name_and_none_twice(
    found: list[str], wanted: list[str], is_data: bool, names: tuple[str, ...]
) -> None:
    assert proposed(found, wanted, is_data=is_data) == names
    assert len(set(names)) == len(names) == len(found)


def test_the_header_line_is_written_and_no_other_byte_changes() -> None:
    rest = '"a ""b""\nc",1\r\n日本,2\n'
    bare = with_names(rest.encode(), ['na"me', "z,w"], "t", first_is_data=True)
    assert bare == b'"na""me","z,w"\n' + rest.encode()
    japanese = f"x,y\n{'東京都,大阪府' * 20},2\n".encode("cp932")
    assert with_names(japanese, ["p", "q"], "t", first_is_data=False).decode().startswith("p,q\n東京都")
    assert with_names(b"a,b", ["c", "d"], "t", first_is_data=False) == b"c,d\n"


@pytest.mark.parametrize("names", [["a", "a"], ["", "b"], [" ", "b"], ["a\x07", "b"], ["a" * 81, "b"]])
def test_names_that_no_table_can_have_are_refused(names: list[str]) -> None:
    with pytest.raises(InvalidUpload):
        with_names(b"1,2\n3,4\n", names, "t", first_is_data=True)


def test_columns_are_left_out_and_every_other_cell_is_as_it_was() -> None:
    content = b'id,a,b\np1,"x,y",01\np2,,1e3\n'
    assert pd.read_csv(io.BytesIO(without(content, ["id"], "t")), dtype=str, keep_default_na=False).equals(
        pd.DataFrame({"a": ["x,y", ""], "b": ["01", "1e3"]}, dtype="str")
    )


def test_one_finding_is_told_of_a_file_without_a_header_unless_a_name_is_known() -> None:
    with pytest.raises(InvalidUpload) as refused:
        check_first_line(b"12346,f\n12347,f\n", "customers", ("customer_id", "sex"))
    (problem,) = refused.value.problems
    assert (problem.code, problem.line, refused.value.total) == ("no_header", 1, 1)
    check_first_line(b"2015,2016\n1,2\n", "original", ("2015", "2016"))


def test_names_and_running_numbers_tell_people_apart_amounts_do_not() -> None:
    rows = "".join(f"P{n},{n + 7},{n * 3},{n % 4},x{n % 9}\n" for n in range(60))
    told = find_identifiers(f"id,row,income,size,city\n{rows}".encode(), "t")
    assert [(one.name, one.different, one.rows) for one in told] == [("id", 60, 60), ("row", 60, 60)]
    assert find_identifiers(b'a,b\n"1,2\n', "t") == ()


def test_of_amounts_alone_the_one_of_fewest_values_is_suggested_not_the_first() -> None:
    rows = "".join(f"{n},{n % 30},{n * 2}\n" for n in range(90))
    found = suggested(f"weight,age,income\n{rows}".encode(), Columns(("x",), ("y",)))
    assert found == Columns(("age",), ("weight", "income"))


def test_no_spelling_is_lost_but_capitals_blanks_and_width() -> None:
    assert spelled(" Customer_ID\ufeff") == spelled("ｃustomer id") == "customerid"
    assert spelled("年齢") != spelled("性別")
