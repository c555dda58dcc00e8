"""Reading, writing and refusing the files of the monthly track."""

import hmac
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.errors import InvalidUpload
from anoncup.rules.model import Rules
from anoncup.tracks.model import AnyContext
from anoncup.tracks.monthly import MONTHLY
from anoncup.tracks.monthly.adapter import parse_original
from anoncup.tracks.monthly.answer import (
    extract_answer,
    read_answer,
    read_guess,
    write_pseudonyms,
)
from anoncup.tracks.monthly.example import load_year_of_tc400, make_example_data
from anoncup.tracks.monthly.files import CUSTOMER_COLUMNS, KNOWLEDGE_PERCENTAGES, TRANSACTION_COLUMNS
from anoncup.tracks.monthly.knowledge import parse_knowledge, sample_known_rows, write_knowledge
from anoncup.tracks.monthly.original import MonthlyOriginal
from anoncup.tracks.monthly.release import MonthlyRelease, parse_release, shuffle_kept_rows
from tests.support.hypothesis_profiles import limit_examples
from tests.support.monthly_cases import (
    DELETED_ROW,
    TRANSACTIONS,
    MonthlyCase,
    build_csv,
    build_original,
    cases,
    make_knowledge_generator,
)
from tests.support.monthly_reference import Row

hostile_examples = limit_examples(60)
RULES = Rules("small", {}, "monthly", "UTC")

Location = tuple[int | None, str | None, str]
RELEASED_ROWS: list[Row] = [
    ("p1", "x", "2011/1/6", "", "A13", "2.50", "4"),
    DELETED_ROW,
    ("p2", "", "2011-02-28", "noon", "A12", "0", "3"),
    ("p3", "i3", "2011-01-05", "9:00", "A13", "0", "12"),
]
ANSWER_ROWS = [("c1", "p1", "p2"), ("c2", "p3", "DEL")]
ANSWER_COLUMNS = ("customer", "2011-01", "2011-02")


def build_example_original() -> MonthlyOriginal:
    return build_original(["c1", "c2"], TRANSACTIONS)


def encode_rows(rows: list[Row]) -> bytes:
    return build_csv(TRANSACTION_COLUMNS, rows)


def parse_example_release() -> MonthlyRelease:
    return parse_release(encode_rows(RELEASED_ROWS), build_example_original())[0]


def build_example_context() -> AnyContext:
    return MONTHLY.build_context(RULES, build_example_original(), parse_example_release())


def replace_cells(rows: list[Row], row: int, **cells: str) -> list[Row]:
    """Return the rows with some cells of row ``row``, counted from 1, replaced."""
    records = [dict(zip(TRANSACTION_COLUMNS, record, strict=True)) for record in rows]
    records[row - 1] |= cells
    return [tuple(record.values()) for record in records]  # type: ignore[misc]


def expect_refusal(parse: Callable[[], object]) -> InvalidUpload:
    with pytest.raises(InvalidUpload) as excinfo:
        parse()
    return excinfo.value


def list_locations(error: InvalidUpload) -> list[Location]:
    return [(problem.row, problem.column, problem.code) for problem in error.problems]


def test_original_keeps_its_cells_as_text_and_numbers() -> None:
    parsed = build_example_original()
    assert parsed.months == ("2011-01", "2011-02")
    assert [tuple(row) for row in parsed.records.cells.to_numpy()] == TRANSACTIONS
    assert (parsed.customer_row.tolist(), parsed.month_index.tolist()) == ([0, 0, 0, 1], [0, 0, 1, 0])
    assert np.diff(parsed.records.day).tolist() == [26, 1, -27]
    assert parsed.records.price.tolist() == [2.5, 1, 2.5, 0]
    assert parsed.records.quantity.tolist() == [3, 1, 3, 12]


@pytest.mark.parametrize(
    ("customers", "rows", "expected"),
    [
        (["c1", "c2", "c1"], TRANSACTIONS, [(3, "customer", "duplicate_customer")]),
        (["c1", "c2", ""], TRANSACTIONS, [(3, "customer", "missing_value")]),
        (["c1", "c2", "DEL"], TRANSACTIONS, [(3, "customer", "reserved_id")]),
        (["c1"], TRANSACTIONS, [(4, "customer", "unknown_customer")]),
        (["c1", "c2"], [], [(None, None, "no_rows")]),
        (["c1", "c2"], replace_cells(TRANSACTIONS, 2, date="2011-02-29"), [(2, "date", "not_a_date")]),
        (["c1", "c2"], replace_cells(TRANSACTIONS, 2, good=""), [(2, "good", "missing_value")]),
        (["c1", "c2"], replace_cells(TRANSACTIONS, 2, price="-1"), [(2, "price", "negative_price")]),
        (["c1", "c2"], replace_cells(TRANSACTIONS, 2, price="x"), [(2, "price", "not_a_number")]),
        (["c1", "c2"], replace_cells(TRANSACTIONS, 2, quantity="0"), [(2, "quantity", "not_a_quantity")]),
        (["c1", "c2"], replace_cells(TRANSACTIONS, 2, quantity="1.5"), [(2, "quantity", "not_a_quantity")]),
    ],
)
def test_original_that_breaks_a_rule_is_refused(
    customers: list[str], rows: list[Row], expected: list[Location]
) -> None:
    assert list_locations(expect_refusal(lambda: build_original(customers, rows))) == expected


def test_original_has_at_most_twelve_calendar_months() -> None:
    rows = [
        ("c1", "", f"20{10 + month // 12}-{month % 12 + 1:02}-05", "", "A", "1", "1") for month in range(13)
    ]
    assert len(build_original(["c1"], rows[:12]).months) == 12
    error = expect_refusal(lambda: build_original(["c1"], rows))
    assert list_locations(error) == [(None, "date", "too_many_months")]


@hostile_examples
@given(case=cases())
def test_releases_round_trip(case: MonthlyCase) -> None:
    kept_rows = [row for row in case.released_rows if row[0] != "DEL"]
    assert [tuple(row) for row in case.release.kept_rows.to_numpy()] == kept_rows
    target = shuffle_kept_rows(case.release, np.random.Generator(np.random.PCG64(0)))
    assert sorted(tuple(row) for row in target.to_numpy()) == sorted(kept_rows)


def test_targets_are_in_random_order() -> None:
    orders = {
        tuple(
            shuffle_kept_rows(parse_example_release(), np.random.Generator(np.random.PCG64(seed)))["customer"]
        )
        for seed in range(40)
    }
    assert len(orders) == 6


def test_each_respelled_column_of_a_release_has_a_remark() -> None:
    """Attackers compare cells as text."""
    _, remarks = parse_release(encode_rows(RELEASED_ROWS), build_example_original())
    assert [remark.message.values["name"] for remark in remarks] == ["price"]
    rows = replace_cells(RELEASED_ROWS, 1, customer="c-1", date="2011/1/5", time="08:45", quantity="03")
    _, remarks = parse_release(encode_rows(rows), build_example_original())
    assert [remark.message.values["name"] for remark in remarks] == ["date", "time", "price", "quantity"]


@pytest.mark.parametrize(
    ("row", "cells", "expected"),
    [
        (1, {"customer": ""}, [(1, "customer", "missing_value")]),
        (1, {"customer": "p 1"}, [(1, "customer", "not_a_pseudonym")]),
        (1, {"customer": "p１"}, [(1, "customer", "not_a_pseudonym")]),
        (1, {"customer": "del"}, []),
        (1, {"customer": "c2"}, [(1, "customer", "real_id")]),
        (3, {"customer": "p1"}, [(3, "customer", "shared_pseudonym")]),
        (4, {"customer": "p1"}, [(4, "customer", "shared_pseudonym")]),
        (2, {"invoice": "i1"}, [(2, "invoice", "deleted_not_empty")]),
        (2, {"price": "0", "good": "B"}, [(2, name, "deleted_not_empty") for name in ("good", "price")]),
        (1, {"date": "2011-02-01"}, [(1, "date", "wrong_month")]),
        (1, {"date": "2012-01-05"}, [(1, "date", "wrong_month")]),
        (1, {"good": "A"}, [(1, "good", "unknown_good")]),
        (1, {"price": "-0.1"}, [(1, "price", "negative_price")]),
        (1, {"quantity": "0"}, [(1, "quantity", "not_a_quantity")]),
    ],
)
def test_release_that_breaks_a_rule_is_refused(
    row: int, cells: dict[str, str], expected: list[Location]
) -> None:
    content = encode_rows(replace_cells(RELEASED_ROWS, row, **cells))
    if not expected:
        parse_release(content, build_example_original())
        return
    error = expect_refusal(lambda: parse_release(content, build_example_original()))
    assert sorted(list_locations(error), key=str) == sorted(expected, key=str)
    assert {problem.line for problem in error.problems} == {row + 1}
    assert all(problem.value is None for problem in error.problems if problem.column == "customer")
    assert all(problem.value is not None for problem in error.problems if problem.column != "customer")


def locate_release_problems(rows: list[Row], original: MonthlyOriginal | None = None) -> list[Location]:
    original = original or build_example_original()
    return list_locations(expect_refusal(lambda: parse_release(encode_rows(rows), original)))


def test_customer_has_one_pseudonym_in_a_month() -> None:
    cells = dict(zip(TRANSACTION_COLUMNS, TRANSACTIONS[1], strict=True)) | {"customer": "p9"}
    rows = replace_cells(RELEASED_ROWS, 2, **cells)
    assert locate_release_problems(rows) == [(2, "customer", "several_pseudonyms")]


def test_release_must_have_as_many_rows_as_the_original() -> None:
    assert locate_release_problems(RELEASED_ROWS[:3]) == [(None, None, "too_few_rows")]
    assert locate_release_problems([*RELEASED_ROWS, RELEASED_ROWS[0]]) == [(None, None, "too_many_rows")]


def test_at_least_half_of_the_rows_must_be_kept() -> None:
    """Of the official 44,917 rows of 2017, 22,459 may be deleted: half, rounded up."""
    for count, max_deleted in ((4, 2), (3, 2)):
        original = build_original(["c1", "c2"], TRANSACTIONS[-count:])
        rows = [DELETED_ROW] * max_deleted + RELEASED_ROWS[max_deleted - count :]
        assert parse_release(encode_rows(rows), original)[0].records.is_kept.sum() == count - max_deleted
        rows[max_deleted] = DELETED_ROW
        error = expect_refusal(lambda: parse_release(encode_rows(rows), original))  # noqa: B023
        assert list_locations(error) == [(None, None, "too_many_deleted")]
        message = f"{max_deleted + 1} of {count} rows are deleted; at most {max_deleted} may be"
        assert str(error.problems[0].message) == message


@hostile_examples
@given(case=cases(), random=st.randoms(use_true_random=False))
def test_answers_may_list_customers_in_any_order(case: MonthlyCase, random: Random) -> None:
    answer = extract_answer(case.release)
    lines = [
        [customer, *names]
        for customer, names in zip(answer.customers, answer.pseudonyms.tolist(), strict=True)
    ]
    random.shuffle(lines)
    context = MONTHLY.build_context(RULES, case.release.original, case.release)
    content = build_csv(("customer", *answer.months), lines)
    for parsed in (
        read_answer(content, context),
        read_answer(write_pseudonyms(answer), context),
        read_guess(content, context),
    ):
        assert (parsed.pseudonyms == answer.pseudonyms).all()


NOT_THE_RELEASE = [
    ([("c1", "p1", "DEL"), ANSWER_ROWS[1]], [(1, "2011-02", "not_the_release")]),
    (
        [ANSWER_ROWS[1], ("c1", "p2", "p1")],
        [(2, "2011-01", "not_the_release"), (2, "2011-02", "not_the_release")],
    ),
]
MALFORMED_ANSWERS = [
    ([ANSWER_ROWS[0], ("c2", "p3", "")], (2, "2011-02", "not_a_pseudonym")),
    ([ANSWER_ROWS[0], ("c2", "p\x7f", "DEL")], (2, "2011-01", "control_character")),
    ([ANSWER_ROWS[0], ANSWER_ROWS[0]], (2, "customer", "duplicate_customer")),
    ([ANSWER_ROWS[0], ("c3", "p3", "DEL")], (2, "customer", "unknown_customer")),
    ([ANSWER_ROWS[0]], (None, None, "too_few_rows")),
    ([*ANSWER_ROWS, ANSWER_ROWS[0]], (None, None, "too_many_rows")),
]


@pytest.mark.parametrize(("lines", "problems"), NOT_THE_RELEASE)
def test_answers_must_match_the_release_but_guesses_need_not(lines: Any, problems: list[Location]) -> None:
    content = build_csv(ANSWER_COLUMNS, lines)
    error = expect_refusal(lambda: read_answer(content, build_example_context()))
    assert list_locations(error) == problems
    assert all(problem.value is None for problem in error.problems)
    read_guess(content, build_example_context())


@pytest.mark.parametrize(("lines", "problem"), MALFORMED_ANSWERS)
def test_malformed_answers_and_guesses_are_refused(lines: Any, problem: Location) -> None:
    content = build_csv(ANSWER_COLUMNS, lines)
    error = expect_refusal(lambda: read_answer(content, build_example_context()))
    assert [item.value for item in error.problems] == [None]
    guess_error = expect_refusal(lambda: read_guess(content, build_example_context()))
    assert list_locations(error) == list_locations(guess_error) == [problem]


@hostile_examples
@given(case=cases(), seed=st.binary(max_size=3))
def test_each_knowledge_table_includes_the_smaller_ones(case: MonthlyCase, seed: bytes) -> None:
    original, previous_rows = case.release.original, np.zeros(len(case.original_rows), dtype=bool)
    for name, is_kept in sample_known_rows(original, make_knowledge_generator(seed)).items():
        assert abs(100 * is_kept.sum() - KNOWLEDGE_PERCENTAGES[name] * len(is_kept)) <= 50
        assert is_kept[previous_rows].all()
        assert (parse_knowledge(write_knowledge(original, is_kept), original, name)[0] == is_kept).all()
        previous_rows = is_kept


@pytest.mark.parametrize("seed", [b"", b"seed", bytes(32)])
def test_seed_determines_the_knowledge_tables(seed: bytes) -> None:
    key = int.from_bytes(hmac.digest(seed, b"knowledge\x000\x00", "sha256"), "big")
    numbers = np.random.PCG64(key).random_raw(4).tolist()
    order = sorted(range(4), key=lambda row: (numbers[row], row))
    for count, is_kept in enumerate(
        sample_known_rows(build_example_original(), make_knowledge_generator(seed)).values(), 1
    ):
        assert np.flatnonzero(is_kept).tolist() == sorted(order[:count])


KNOWN_ROW = ("c1", "i1", "2011-01-05", "8:45", "A1", "2.5", "3")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([DELETED_ROW] * 4, (None, None, "wrong_share")),
        ([(*TRANSACTIONS[0][:4], "A12", "2.5", "3"), *[DELETED_ROW] * 3], (1, "good", "not_the_original")),
        (
            [*[DELETED_ROW] * 3, ("c2", *TRANSACTIONS[3][1:4], "A1", "0.0", "12")],
            (4, "price", "not_the_original"),
        ),
        ([*[DELETED_ROW] * 3, ("DEL", "", "", "", "A1", "", "")], (4, "good", "deleted_not_empty")),
    ],
)
def test_knowledge_tables_must_have_their_share_of_unchanged_rows(
    rows: list[Row], expected: Location
) -> None:
    original = build_example_original()
    known_rows = parse_knowledge(encode_rows([KNOWN_ROW, *[DELETED_ROW] * 3]), original, "knowledge_25")[0]
    assert known_rows.tolist() == [True, False, False, False]
    error = expect_refusal(lambda: parse_knowledge(encode_rows(rows), original, "knowledge_25"))
    assert expected in list_locations(error)
    assert {problem.file for problem in error.problems} == {"knowledge_25"}


@pytest.mark.full
def test_example_is_a_reproducible_year_of_tc400() -> None:
    files = make_example_data()
    original, remarks = parse_original(files, RULES)
    assert (remarks, len(original.months), original.records.rows) == ([], 12, 36594)
    assert files["customers"].startswith(",".join(CUSTOMER_COLUMNS).encode())
    assert files == make_example_data(None, 0)
    other_files = make_example_data(None, 1)
    assert {name for name in files if files[name] != other_files[name]} == {*KNOWLEDGE_PERCENTAGES} - {
        "knowledge_100"
    }


def test_smaller_example_keeps_all_purchases_of_its_customers() -> None:
    subset, _ = parse_original(make_example_data(7), RULES)
    transaction_lines = load_year_of_tc400()["transactions"].splitlines()
    ids = subset.customers["customer"].tolist()
    assert subset.rows == 7
    assert subset.records.rows == sum(line.split(b",")[0].decode() in ids for line in transaction_lines)
