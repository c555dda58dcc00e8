"""Files of `membership`: what is refused and where, and that everybody can draw a team's half again."""

import hashlib
import hmac
import math

import numpy as np
import pytest
from hypothesis import given
from numpy.random import PCG64

from anoncup.errors import InvalidCompetition, InvalidInput, InvalidUpload
from anoncup.rules.toml_values import Table
from anoncup.tracks.membership.allocation import assignments, draw
from anoncup.tracks.membership.schema import Categorical, Numeric, Schema, read_schema
from anoncup.tracks.membership.tables import parse_candidates, parse_rows, parse_scores, written
from anoncup.tracks.seeds import commitment
from tests.scoring.membership_cases import Case, cases, rows_of
from tests.support.hypothesis_profiles import examples

SCHEMA = Schema(
    (Categorical("sex", ("f", "m", "")), Numeric("age", 0, 120), Categorical("ill", ("no", "yes")))
)
GOOD = b"sex,age,ill\nf,30,no\n,0,yes\nm,120,no\n,1e1,no\n"


def refused(content: bytes, **limits: int) -> list[tuple[int | None, str | None, str]]:
    with pytest.raises(InvalidUpload) as caught:
        parse_rows(content, SCHEMA, file="released", **limits)
    assert {each.file for each in caught.value.problems} == {"released"}
    return [(each.row, each.column, each.code) for each in caught.value.problems]


def test_columns_are_typed_by_the_competition() -> None:
    table, remarks = parse_candidates(GOOD, SCHEMA)
    assert (table.numbers.tolist(), table.codes.tolist()) == (
        [[30.0], [0.0], [120.0], [10.0]], [[0, 0], [2, 1], [1, 0], [2, 0]]
    )  # fmt: skip
    assert remarks == []


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"sex,ill,age\nf,no,3\n", [(None, "age", "header"), (None, "ill", "header")]),
        (b"sex,age,ill\nx,3,no\nf,121,no\nf,-1,No\n",
         [(1, "sex", "unknown_value"), (2, "age", "out_of_range"), (3, "age", "out_of_range"),
          (3, "ill", "unknown_value")]),
        (b"sex,age,ill\nf,,no\nf,nan,no\nf,1e999,no\n",
         [(1, "age", "missing_value"), (2, "age", "not_a_number"), (3, "age", "not_finite")]),
        ("sex,age,ill\nf,plenty,no\u200b\n".encode(),
         [(1, "ill", "invisible_character"), (1, "age", "not_a_number")]),
        (b"sex,age,ill\nf,3\n", [(1, None, "ragged_row")]),
        (b"sex,age,ill\n", [(None, None, "no_rows")]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(content: bytes, found: object) -> None:
    assert refused(content) == found


def test_rows_are_within_their_limits() -> None:
    assert refused(GOOD, most=3) == [(None, None, "too_many_rows")]
    assert refused(GOOD, fewest=5) == [(None, None, "too_few_rows")]
    assert parse_rows(GOOD, SCHEMA, file="released", fewest=4, most=4)[0].rows == 4


def test_candidates_are_an_even_number() -> None:
    with pytest.raises(InvalidUpload, match="the table has 3 rows"):
        parse_candidates(b"sex,age,ill\n" + b"f,3,no\n" * 3, SCHEMA)


def test_scores_are_from_0_to_1_and_one_for_each_candidate() -> None:
    assert parse_scores(b"score\n0\n1\n.5\n", 3)[0].tolist() == [0, 1, 0.5]
    for content, code in ((b"score\n1.1\n0\n0\n", "out_of_range"), (b"score\n0\n", "too_few_rows")):
        with pytest.raises(InvalidUpload) as caught:
            parse_scores(content, 3)
        assert caught.value.problems[0].code == code


@given(cases())
@examples(60)
def test_a_table_parses_back_to_itself(case: Case) -> None:
    table, _ = parse_rows(written(case.released), case.released.schema, file="released")
    assert rows_of(table) == rows_of(case.released)


def test_a_competition_file_states_the_columns() -> None:
    raw = {
        "sex": {"kind": "categorical", "values": ["f", "m", ""]},
        "age": {"kind": "numeric", "least": 0, "most": 120},
        "ill": {"kind": "categorical", "values": ["no", "yes"]},
    }
    assert read_schema(Table(raw, "columns")) == SCHEMA


@pytest.mark.parametrize(
    ("column", "said"),
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
def test_a_column_that_cannot_be_used_is_refused_with_its_key(column: object, said: str) -> None:
    with pytest.raises(InvalidCompetition) as caught:
        read_schema(Table({"x": column}, "columns"))
    assert str(caught.value).startswith(said)


def test_a_table_of_no_columns_is_refused() -> None:
    with pytest.raises(InvalidCompetition, match="at least one column"):
        read_schema(Table({}, "columns"))


def test_a_half_can_be_drawn_again_from_the_description() -> None:
    seed = bytes(range(32))
    key = hmac.new(seed, b"members\x000\x00Team \xe6\x97\xa5", hashlib.sha256).digest()
    numbers = PCG64(int.from_bytes(key, "big")).random_raw(50).tolist()
    chosen = sorted(range(50), key=lambda row: (numbers[row], row))[:25]
    assert np.flatnonzero(draw(seed, "Team 日", 50)).tolist() == sorted(chosen)
    assert commitment(seed) == hashlib.sha256(seed).hexdigest()


def test_no_two_teams_have_the_same_half_unless_they_may() -> None:
    teams = [f"team {number}" for number in range(6)]
    apart = assignments(b"seed", teams, 4)
    assert len({members.tobytes() for members in apart.values()}) == 6
    assert all(members.sum() == 2 for members in apart.values())
    shared = assignments(b"seed", teams, 4, shared=True)
    assert all((shared[team] == draw(b"seed", team, 4)).all() for team in teams)
    assert len({members.tobytes() for members in shared.values()}) < 6
    with pytest.raises(InvalidInput, match="all 6 halves"):
        assignments(b"seed", [*teams, "one more"], 4)


def test_a_later_team_changes_no_earlier_ones_half() -> None:
    few, more = (assignments(b"seed", [str(n) for n in range(size)], 6) for size in (5, 9))
    assert all((more[team] == few[team]).all() for team in few)


def test_every_candidate_is_as_likely_a_member() -> None:
    drawn = np.sum([draw(b"seed", str(team), 20) for team in range(4000)], axis=0)
    assert abs(drawn - 2000).max() < 5 * math.sqrt(1000)
