"""Files of the membership track: problems with their places, and reproducible allocation of members."""

import hashlib
import hmac
import math

import numpy as np
import pytest
from hypothesis import given
from numpy.random import PCG64

from anoncup.errors import InvalidCompetition, InvalidUpload
from anoncup.rules.toml_values import TomlTable
from anoncup.tracks.generators import derive_generator
from anoncup.tracks.membership.answer import choose_half
from anoncup.tracks.membership.settings import CategoricalColumn, NumericColumn, TableSchema, parse_schema
from anoncup.tracks.membership.tables import parse_candidates, parse_rows, parse_scores, write_table
from anoncup.tracks.seeds import commit_to_seed
from tests.support.hypothesis_profiles import limit_examples
from tests.support.membership_cases import MembershipCase, cases, list_rows

SCHEMA = TableSchema(
    (
        CategoricalColumn("sex", ("f", "m", "")),
        NumericColumn("age", 0, 120),
        CategoricalColumn("ill", ("no", "yes")),
    )
)
VALID_TABLE = b"sex,age,ill\nf,30,no\n,0,yes\nm,120,no\n,1e1,no\n"


def expect_problems(content: bytes, **limits: int) -> list[tuple[int | None, str | None, str]]:
    with pytest.raises(InvalidUpload) as excinfo:
        parse_rows(content, SCHEMA, file="released", **limits)
    assert {problem.file for problem in excinfo.value.problems} == {"released"}
    return [(problem.row, problem.column, problem.code) for problem in excinfo.value.problems]


def test_columns_have_the_types_of_the_schema() -> None:
    table, remarks = parse_candidates(VALID_TABLE, SCHEMA)
    assert (table.numbers.tolist(), table.codes.tolist()) == (
        [[30.0], [0.0], [120.0], [10.0]], [[0, 0], [2, 1], [1, 0], [2, 0]]
    )  # fmt: skip
    assert remarks == []


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"sex,age,ill\nx,3,no\nf,121,no\nf,-1,No\n",
         [(1, "sex", "unknown_value"), (2, "age", "out_of_range"), (3, "age", "out_of_range"),
          (3, "ill", "unknown_value")]),
        (b"sex,age,ill\nf,,no\nf,nan,no\nf,1e999,no\n",
         [(1, "age", "missing_value"), (2, "age", "not_a_number"), (3, "age", "out_of_range")]),
        ("sex,age,ill\nf,plenty,no\u200b\n".encode(),
         [(1, "ill", "invisible_character"), (1, "age", "not_a_number")]),
    ],
)  # fmt: skip
def test_problems_are_reported_with_row_and_column(content: bytes, expected: object) -> None:
    assert expect_problems(content) == expected


def test_number_of_rows_is_checked() -> None:
    assert expect_problems(VALID_TABLE, max_rows=3) == [(None, None, "too_many_rows")]
    assert expect_problems(VALID_TABLE, min_rows=5) == [(None, None, "too_few_rows")]
    assert parse_rows(VALID_TABLE, SCHEMA, file="released", min_rows=4, max_rows=4)[0].rows == 4


def test_number_of_candidates_must_be_even() -> None:
    with pytest.raises(InvalidUpload, match="the table has 3 rows"):
        parse_candidates(b"sex,age,ill\n" + b"f,3,no\n" * 3, SCHEMA)


def test_each_candidate_needs_a_score_between_0_and_1() -> None:
    assert parse_scores(b"score\n0\n1\n.5\n", 3)[0].tolist() == [0, 1, 0.5]
    for content, code in ((b"score\n1.1\n0\n0\n", "out_of_range"), (b"score\n0\n", "too_few_rows")):
        with pytest.raises(InvalidUpload) as excinfo:
            parse_scores(content, 3)
        assert excinfo.value.problems[0].code == code


@given(cases())
@limit_examples(60)
def test_tables_round_trip(case: MembershipCase) -> None:
    table, _ = parse_rows(write_table(case.release), case.release.schema, file="released")
    assert list_rows(table) == list_rows(case.release)


def test_schema_is_read_from_the_competition_file() -> None:
    column_tables = {
        "sex": {"kind": "categorical", "values": ["f", "m", ""]},
        "age": {"kind": "numeric", "least": 0, "most": 120},
        "ill": {"kind": "categorical", "values": ["no", "yes"]},
    }
    assert parse_schema(TomlTable(column_tables, "columns")) == SCHEMA


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"kind": "ordinal"}, "columns.x.kind"),
        ({"kind": "numeric", "least": 0}, "columns.x.most is missing"),
        ({"kind": "numeric", "least": 2, "most": 1}, "columns.x.most must be no less than 2"),
        ({"kind": "numeric", "least": math.nan, "most": 1}, "columns.x.least must be a finite number"),
        ({"kind": "categorical", "values": []}, "columns.x.values"),
        ({"kind": "categorical", "values": ["a", "a"]}, "columns.x.values"),
        ({"kind": "categorical", "values": ["a", 1]}, "columns.x.values"),
        ({"kind": "categorical", "values": ["a"], "least": 1}, "columns.x.least is not a key"),
    ],
)
def test_invalid_column_definition_is_refused_with_its_key(column: object, message: str) -> None:
    with pytest.raises(InvalidCompetition) as excinfo:
        parse_schema(TomlTable({"x": column}, "columns"))
    assert str(excinfo.value).startswith(message)


def test_schema_without_columns_is_refused() -> None:
    with pytest.raises(InvalidCompetition, match="at least one column"):
        parse_schema(TomlTable({}, "columns"))


def test_allocation_follows_the_documented_algorithm() -> None:
    seed = bytes(range(32))
    key = hmac.new(seed, b"members\x000\x00Team \xe6\x97\xa5", hashlib.sha256).digest()
    numbers = PCG64(int.from_bytes(key, "big")).random_raw(50).tolist()
    members = sorted(range(50), key=lambda row: (numbers[row], row))[:25]
    assert np.flatnonzero(choose_half(derive_generator(seed, "members", "Team 日"), 50)).tolist() == sorted(
        members
    )
    assert commit_to_seed(seed) == hashlib.sha256(seed).hexdigest()
