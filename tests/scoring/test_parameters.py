"""Parameters: what they may be, what is usual, and that functions think the same of that."""

import inspect

import pytest

from anoncup.competition.drafts import draft, with_columns_of
from anoncup.competition.parser import parse_competition
from anoncup.errors import InvalidCompetition
from anoncup.plugins import TRACKS
from anoncup.rules.parameters import Parameter, Value
from anoncup.rules.settings import Columns

ROLES = {"known": ("a", "b", "c"), "none": ()}
COLUMNS = Parameter("columns", "columns", "known")
FIRST = Parameter("target", "columns", "known", default=1)
NAMED = Parameter("pair", "columns", "known", default=("a", "c"))
COLUMN = Parameter("column", "column", "known")
CHOICE = Parameter("give_up", "choice", ("abstain", "own_row"))
WHOLE = Parameter("k", "whole", default=3)
AMOUNT = Parameter("strength", "amount", default=0.1)
SHARE = Parameter("share", "share")
EVERY = [
    (track.name, part, one, function)
    for track in TRACKS.values()
    for part, parameters, function in [
        *((each.name, each.parameters, each.compute) for each in track.measures.values()),
        *((each.name, each.parameters, each.attack) for each in track.attackers.values()),
        *((each.name, each.parameters, each.apply) for each in track.methods.values()),
    ]
    for one in parameters
]


@pytest.mark.parametrize(("track", "part", "one", "function"), EVERY, ids=lambda each: str(each)[:40])
def test_a_function_takes_what_is_said_of_it_and_by_default_the_same(
    track: str, part: str, one: Parameter, function: object
) -> None:
    taken = inspect.signature(function).parameters[one.name]  # type: ignore[arg-type]  # deferred: it has one
    assert taken.default in (None, one.default, one.usual({})), (track, part)
    if one.is_number:
        assert taken.default == one.default


@pytest.mark.parametrize(
    ("parameter", "usual"),
    [
        (COLUMNS, ("a", "b", "c")),
        (FIRST, ("a",)),
        (NAMED, ("a", "c")),
        (COLUMN, "a"),
        (CHOICE, "abstain"),
        (WHOLE, 3),
        (AMOUNT, 0.1),
        (SHARE, None),
        (Parameter("of_none", "columns", "none"), ()),
        (Parameter("of_none", "column", "none"), None),
        (Parameter("of_another_track", "column", "absent"), None),
    ],
)
def test_what_is_usual(parameter: Parameter, usual: Value) -> None:
    assert parameter.usual(ROLES) == usual


@pytest.mark.parametrize(
    ("parameter", "written", "typed", "value"),
    [
        (COLUMNS, ["c", "a"], "c,a", ("a", "c")),
        (COLUMN, "b", "b", "b"),
        (CHOICE, "own_row", "own_row", "own_row"),
        (WHOLE, 7, "7", 7),
        (AMOUNT, 2, "2", 2.0),
        (AMOUNT, 0.25, "2.5e-1", 0.25),
        (SHARE, 1.0, "1", 1.0),
    ],
)
def test_a_file_and_a_command_line_give_the_same(
    parameter: Parameter, written: object, typed: str, value: Value
) -> None:
    assert parameter.read(written, "here", ROLES) == value
    assert parameter.typed(typed, ROLES) == value


@pytest.mark.parametrize(
    ("parameter", "typed", "code"),
    [
        (COLUMNS, "a,z", "unknown_column"),
        (COLUMNS, "a,a", "wrong_value"),
        (COLUMN, "z", "unknown_column"),
        (COLUMN, "a,b", "unknown_column"),
        (CHOICE, "none", "wrong_value"),
        (WHOLE, "0", "wrong_value"),
        (WHOLE, "1.5", "wrong_value"),
        (WHOLE, "\u0663", "wrong_value"),
        (WHOLE, "9" * 5000, "wrong_value"),
        (AMOUNT, "-1", "wrong_value"),
        (AMOUNT, "nan", "wrong_value"),
        (AMOUNT, "inf", "wrong_value"),
        (AMOUNT, "", "wrong_value"),
        (SHARE, "1.5", "wrong_value"),
    ],
)
def test_what_is_wrong_is_refused_by_name(parameter: Parameter, typed: str, code: str) -> None:
    with pytest.raises(InvalidCompetition) as refused:
        parameter.typed(typed, ROLES)
    assert refused.value.code == code
    assert parameter.name in str(refused.value)


@pytest.mark.parametrize(
    ("parameter", "typed", "said"),
    [
        (COLUMNS, "", "columns must be a list of column names"),
        (COLUMNS, "  ", "columns must be a list of column names"),
        (COLUMNS, "a,", "columns must be a list of column names"),
        (COLUMNS, "a,,b", "columns must be a list of column names"),
        (COLUMN, "", "column must be the name of a column"),
    ],
)
def test_an_empty_name_of_a_column_is_refused_by_saying_what_is_needed(
    parameter: Parameter, typed: str, said: str
) -> None:
    with pytest.raises(InvalidCompetition) as refused:
        parameter.typed(typed, ROLES)
    assert (refused.value.code, str(refused.value)) == ("wrong_value", said)


@pytest.mark.parametrize(
    ("parameter", "value", "left"),
    [
        (COLUMNS, ("z", "c", "a"), ("a", "c")),
        (COLUMNS, ("z",), None),
        (COLUMN, "b", "b"),
        (COLUMN, "z", None),
        (CHOICE, "own_row", "own_row"),
        (WHOLE, 7, 7),
    ],
)
def test_other_columns_leave_what_they_know(parameter: Parameter, value: Value, left: Value) -> None:
    assert parameter.fitted(value, ROLES) == left


def test_parameters_forget_columns_that_are_gone_and_keep_the_others() -> None:
    columns = Columns(("Kouzou", "city"), ("Youto037", "rent"))
    found = parse_competition(with_columns_of(draft("2015"), columns))
    assert found.measures["cross_mean"].parameters == {"columns": ("Kouzou",), "target": ("Youto037",)}
    assert found.attackers["id_sa"].parameters == {"column": "Youto037"}
    assert "sa_rank" not in found.attackers  # nothing of it was left to say
    assert found.measures["mean_mae"].weight == 1.0
