"""The files of the monthly track: what is read back exactly, what is refused, and where."""

import hmac
from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.errors import InvalidUpload
from anoncup.rules.model import Rules
from anoncup.tables.files import Remark
from anoncup.tracks.monthly.adapter import parse_original
from anoncup.tracks.monthly.answer import answer_of, judge, named, no_names, parse_answer, parse_guess, write
from anoncup.tracks.monthly.example import example_data, year_of_tc400
from anoncup.tracks.monthly.files import CUSTOMER_COLUMNS, SHARES, TRANSACTION_COLUMNS
from anoncup.tracks.monthly.knowledge import drawn, knowledge_csv, parse_knowledge
from anoncup.tracks.monthly.original import Original
from anoncup.tracks.monthly.release import Release, parse_release, shuffled
from tests.scoring.monthly_reference import Row
from tests.scoring.monthly_to_break import GONE, Case, cases, original_of, seeded, table
from tests.support.hypothesis_profiles import examples
from tests.support.monthly_example import T

hostile = examples(60)

Place = tuple[int | None, str | None, str]
AT: list[Row] = [
    ("p1", "x", "2011/1/6", "", "A13", "2.50", "4"),
    GONE,
    ("p2", "", "2011-02-28", "noon", "A12", "0", "3"),
    ("p3", "i3", "2011-01-05", "9:00", "A13", "0", "12"),
]
F = [("c1", "p1", "p2"), ("c2", "p3", "DEL")]
MONTHS = ("customer", "2011-01", "2011-02")


def original() -> Original:
    return original_of(["c1", "c2"], T)


def at(rows: list[Row]) -> bytes:
    return table(TRANSACTION_COLUMNS, rows)


def released() -> Release:
    return parse_release(at(AT), original())[0]


def changed(rows: list[Row], row: int, **cells: str) -> list[Row]:
    """The rows with some cells of one, counted from 1, replaced."""
    found = [dict(zip(TRANSACTION_COLUMNS, each, strict=True)) for each in rows]
    found[row - 1] |= cells
    return [tuple(each.values()) for each in found]  # type: ignore[misc]


def read_original(files: dict[str, bytes]) -> tuple[Original, list[Remark]]:
    return parse_original(files, Rules("small", {}, "monthly", "UTC"))


def refusal(read: Callable[[], object]) -> InvalidUpload:
    with pytest.raises(InvalidUpload) as caught:
        read()
    return caught.value


def places(refused: InvalidUpload) -> list[Place]:
    return [(each.row, each.column, each.code) for each in refused.problems]


def test_an_original_is_kept_as_written_and_as_numbers() -> None:
    found = original()
    assert found.months == ("2011-01", "2011-02")
    assert [tuple(row) for row in found.records.cells.to_numpy()] == T
    assert (found.person.tolist(), found.month.tolist()) == ([0, 0, 0, 1], [0, 0, 1, 0])
    assert np.diff(found.records.day).tolist() == [26, 1, -27]
    assert found.records.price.tolist() == [2.5, 1, 2.5, 0]
    assert found.records.quantity.tolist() == [3, 1, 3, 12]


@pytest.mark.parametrize(
    ("people", "rows", "wrong"),
    [
        (["c1", "c2", "c1"], T, [(3, "customer", "duplicate_customer")]),
        (["c1", "c2", ""], T, [(3, "customer", "missing_value")]),
        (["c1", "c2", "DEL"], T, [(3, "customer", "reserved_id")]),
        (["c1"], T, [(4, "customer", "unknown_customer")]),
        (["c1", "c2"], [], [(None, None, "no_rows")]),
        (["c1", "c2"], changed(T, 2, date="2011-02-29"), [(2, "date", "not_a_date")]),
        (["c1", "c2"], changed(T, 2, good=""), [(2, "good", "missing_value")]),
        (["c1", "c2"], changed(T, 2, price="-1"), [(2, "price", "negative_price")]),
        (["c1", "c2"], changed(T, 2, price="x"), [(2, "price", "not_a_number")]),
        (["c1", "c2"], changed(T, 2, quantity="0"), [(2, "quantity", "not_a_quantity")]),
        (["c1", "c2"], changed(T, 2, quantity="1.5"), [(2, "quantity", "not_a_quantity")]),
    ],
)
def test_an_original_that_breaks_a_rule_is_refused(
    people: list[str], rows: list[Row], wrong: list[Place]
) -> None:
    assert places(refusal(lambda: original_of(people, rows))) == wrong


@pytest.mark.parametrize("count", [12, 13])
def test_an_original_has_at_most_twelve_calendar_months(count: int) -> None:
    rows = [
        ("c1", "", f"20{10 + month // 12}-{month % 12 + 1}-05", "", "A", "1", "1") for month in range(count)
    ]
    rows = [(*row[:2], row[2].replace("-", "/"), *row[3:]) for row in rows]
    if count == 12:
        assert len(original_of(["c1"], rows).months) == 12
    else:
        refused = refusal(lambda: original_of(["c1"], rows))
        assert places(refused) == [(None, "date", "too_many_months")]


@hostile
@given(case=cases())
def test_a_release_is_read_as_it_was_written(case: Case) -> None:
    kept = [row for row in case.after if row[0] != "DEL"]
    assert [tuple(row) for row in case.release.kept_rows.to_numpy()] == kept
    target = shuffled(case.release, np.random.Generator(np.random.PCG64(0)))
    assert sorted(tuple(row) for row in target.to_numpy()) == sorted(kept)


def test_a_target_is_in_an_order_that_is_drawn() -> None:
    found = {
        tuple(shuffled(released(), np.random.Generator(np.random.PCG64(seed)))["customer"])
        for seed in range(40)
    }
    assert len(found) == 6


def test_a_released_row_may_change_all_but_its_month() -> None:
    release = released()
    assert release.records.kept.tolist() == [True, False, True, True]
    assert release.kept_rows["price"].tolist() == ["2.50", "0", "0"]


@pytest.mark.parametrize(
    ("row", "cells", "wrong"),
    [
        (1, {"customer": ""}, [(1, "customer", "missing_value")]),
        (1, {"customer": "p1\x7f"}, [(1, "customer", "control_character")]),
        (1, {"customer": "p 1"}, [(1, "customer", "not_a_pseudonym")]),
        (1, {"customer": "p１"}, [(1, "customer", "not_a_pseudonym")]),
        (1, {"customer": "del"}, []),
        (1, {"customer": "c2"}, [(1, "customer", "real_id")]),
        (1, {"customer": "c1"}, [(1, "customer", "real_id")]),
        (3, {"customer": "p1"}, [(3, "customer", "shared_pseudonym")]),
        (4, {"customer": "p1"}, [(4, "customer", "shared_pseudonym")]),
        (2, {"invoice": "i1"}, [(2, "invoice", "deleted_not_empty")]),
        (
            2,
            {"price": "0", "good": "B"},
            [(2, "good", "deleted_not_empty"), (2, "price", "deleted_not_empty")],
        ),
        (1, {"date": "2011-02-01"}, [(1, "date", "wrong_month")]),
        (1, {"date": "2012-01-05"}, [(1, "date", "wrong_month")]),
        (1, {"date": ""}, [(1, "date", "not_a_date")]),
        (
            1,
            {"good": "A\u200b", "price": "plenty"},
            [(1, "good", "invisible_character"), (1, "price", "not_a_number")],
        ),
        (1, {"good": "A"}, [(1, "good", "unknown_good")]),
        (1, {"good": ""}, [(1, "good", "unknown_good")]),
        (1, {"price": "-0.1"}, [(1, "price", "negative_price")]),
        (1, {"price": ""}, [(1, "price", "missing_value")]),
        (1, {"quantity": "0"}, [(1, "quantity", "not_a_quantity")]),
        (1, {"quantity": "-1"}, [(1, "quantity", "not_a_quantity")]),
    ],
)
def test_a_release_that_breaks_a_rule_is_refused(row: int, cells: dict[str, str], wrong: list[Place]) -> None:
    content = at(changed(AT, row, **cells))
    if not wrong:
        parse_release(content, original())
        return
    refused = refusal(lambda: parse_release(content, original()))
    assert sorted(places(refused), key=str) == sorted(wrong, key=str)
    assert {each.line for each in refused.problems} == {row + 1}
    assert all(each.value is None for each in refused.problems if each.column == "customer")
    assert all(each.value is not None for each in refused.problems if each.column != "customer")


def test_a_customer_has_one_pseudonym_in_a_month() -> None:
    rows = changed(AT, 2, **dict(zip(TRANSACTION_COLUMNS, T[1], strict=True)) | {"customer": "p9"})
    assert places(refusal(lambda: parse_release(at(rows), original()))) == [
        (2, "customer", "several_pseudonyms")
    ]


@pytest.mark.parametrize(("rows", "code"), [(AT[:3], "too_few_rows"), ([*AT, AT[0]], "too_many_rows")])
def test_a_release_has_as_many_rows_as_the_original(rows: list[Row], code: str) -> None:
    assert places(refusal(lambda: parse_release(at(rows), original()))) == [(None, None, code)]


def test_half_of_the_rows_rounded_down_are_kept() -> None:
    assert parse_release(at([GONE, GONE, *AT[2:]]), original())[0].records.kept.sum() == 2
    refused = refusal(lambda: parse_release(at([GONE, GONE, GONE, AT[3]]), original()))
    assert places(refused) == [(None, None, "too_many_deleted")]
    three = original_of(["c1", "c2"], T[1:])
    assert parse_release(at([GONE, GONE, AT[3]]), three)[0].records.kept.sum() == 1
    refused = refusal(lambda: parse_release(at([GONE] * 3), three))
    assert str(refused.problems[0].message) == "3 of 3 rows are deleted; at most 2 may be"


def test_as_many_rows_may_be_deleted_as_in_the_official_example_of_2017() -> None:
    rows = 44_917
    tables = original_of(["c1"], [("c1", "i1", "2011-01-05", "8:45", "A", "1", "1")] * rows)
    kept = ("p1", "i1", "2011-01-05", "8:45", "A", "1", "1")
    made = parse_release(at([GONE] * 22_459 + [kept] * (rows - 22_459)), tables)[0]
    assert made.records.kept.sum() == 22_458
    refused = refusal(lambda: parse_release(at([GONE] * 22_460 + [kept] * (rows - 22_460)), tables))
    assert places(refused) == [(None, None, "too_many_deleted")]


@hostile
@given(case=cases(), random=st.randoms(use_true_random=False))
def test_an_answer_is_read_back_whatever_the_order_of_its_customers(case: Case, random: Random) -> None:
    original = case.release.original
    names = answer_of(case.release)
    lines = [[person, *named] for person, named in zip(case.customers, names.tolist(), strict=True)]
    random.shuffle(lines)
    content = table(("customer", *original.months), lines)
    assert (parse_answer(content, case.release) == names).all()
    assert (parse_answer(write(named(original, names)), case.release) == names).all()
    assert (parse_guess(content, original) == names).all()


@pytest.mark.parametrize(
    ("lines", "of_answer", "of_guess"),
    [
        ([("c1", "p1", "DEL"), F[1]], [(1, "2011-02", "not_the_release")], []),
        (
            [F[1], ("c1", "p2", "p1")],
            [(2, "2011-01", "not_the_release"), (2, "2011-02", "not_the_release")],
            [],
        ),
        ([F[0], ("c2", "p3", "")], [(2, "2011-02", "not_a_pseudonym")], [(2, "2011-02", "not_a_pseudonym")]),
        (
            [F[0], ("c2", "p\x7f", "DEL")],
            [(2, "2011-01", "control_character")],
            [(2, "2011-01", "control_character")],
        ),
        ([F[0], F[0]], [(2, "customer", "duplicate_customer")], [(2, "customer", "duplicate_customer")]),
        (
            [F[0], ("c3", "p3", "DEL")],
            [(2, "customer", "unknown_customer")],
            [(2, "customer", "unknown_customer")],
        ),
        ([F[0]], [(None, None, "too_few_rows")], [(None, None, "too_few_rows")]),
        ([*F, F[0]], [(None, None, "too_many_rows")], [(None, None, "too_many_rows")]),
    ],
)
def test_an_answer_agrees_with_its_release_and_a_guess_need_not(
    lines: list[Row], of_answer: list[Place], of_guess: list[Place]
) -> None:
    content = table(MONTHS, lines)
    refused = refusal(lambda: parse_answer(content, released()))
    assert places(refused) == of_answer
    assert all(each.value is None for each in refused.problems)
    if of_guess:
        assert places(refusal(lambda: parse_guess(content, original()))) == of_guess
    else:
        parse_guess(content, original())


def test_months_are_in_order() -> None:
    content = table(("customer", "2011-02", "2011-01"), F)
    assert {code for _, _, code in places(refusal(lambda: parse_guess(content, original())))} == {"header"}


def test_a_customer_counts_if_all_his_months_are_right() -> None:
    answer = answer_of(released())
    half = answer.copy()
    half[0, 1] = "DEL"
    assert judge(answer, answer).value == 1
    assert (judge(half, answer).correct, judge(half, answer).trials) == (1, 2)
    assert judge(no_names(original()), answer).value == 0


@hostile
@given(case=cases(), seed=st.binary(max_size=3))
def test_drawn_tables_keep_their_shares_and_each_what_a_smaller_one_keeps(case: Case, seed: bytes) -> None:
    original, before = case.release.original, np.zeros(len(case.before), dtype=bool)
    for name, kept in drawn(original, seeded(seed)).items():
        assert abs(100 * kept.sum() - SHARES[name] * len(kept)) <= 50
        assert kept[before].all()
        assert (parse_knowledge(knowledge_csv(original, kept), original, name)[0] == kept).all()
        before = kept


@pytest.mark.parametrize("seed", [b"", b"seed", bytes(32)])
def test_who_knows_the_seed_can_draw_again(seed: bytes) -> None:
    key = int.from_bytes(hmac.digest(seed, b"knowledge\x000\x00", "sha256"), "big")
    numbers = np.random.PCG64(key).random_raw(4).tolist()
    order = sorted(range(4), key=lambda row: (numbers[row], row))
    for count, kept in enumerate(drawn(original(), seeded(seed)).values(), 1):
        assert np.flatnonzero(kept).tolist() == sorted(order[:count])


@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        ([("c1", "i1", "2011-01-05", "8:45", "A1", "2.5", "3"), GONE, GONE, GONE], []),
        ([GONE, GONE, GONE, GONE], [(None, None, "wrong_share")]),
        ([(*T[0][:4], "A12", "2.5", "3"), GONE, GONE, GONE], [(1, "good", "not_the_original")]),
        ([GONE, GONE, GONE, ("c2", *T[3][1:4], "A1", "0.0", "12")], [(4, "price", "not_the_original")]),
        ([GONE, GONE, GONE, ("DEL", "", "", "", "A1", "", "")], [(4, "good", "deleted_not_empty")]),
    ],
)
def test_a_table_of_knowledge_keeps_its_share_of_rows_as_written(rows: list[Row], wrong: list[Place]) -> None:
    if not wrong:
        assert parse_knowledge(at(rows), original(), "knowledge_25")[0].tolist() == [
            True,
            False,
            False,
            False,
        ]
        return
    refused = refusal(lambda: parse_knowledge(at(rows), original(), "knowledge_25"))
    assert set(wrong) <= set(places(refused))
    assert {each.file for each in refused.problems} == {"knowledge_25"}


@pytest.mark.full
def test_the_example_is_a_year_of_tc400_and_always_the_same() -> None:
    files = example_data()
    original, remarks = read_original(files)
    assert (remarks, len(original.months), original.records.rows) == ([], 12, 36594)
    assert files["customers"].startswith(",".join(CUSTOMER_COLUMNS).encode())
    assert files == example_data(None, 0)
    other = example_data(None, 1)
    assert {name for name in files if files[name] != other[name]} == {*SHARES} - {"knowledge_100"}


def test_the_example_of_some_customers_has_all_their_purchases() -> None:
    few, _ = read_original(example_data(7))
    everybody = year_of_tc400()["transactions"].splitlines()
    ids = few.customers["customer"].tolist()
    assert few.rows == 7
    assert few.records.rows == sum(line.split(b",")[0].decode() in ids for line in everybody)
