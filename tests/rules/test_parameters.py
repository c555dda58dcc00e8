"""Parameters of measures, attackers and methods: allowed values, defaults and function signatures."""

from typing import Any

import pytest

from anoncup.competition.drafts import change_columns, create_draft
from anoncup.competition.parser import parse_competition
from anoncup.errors import InvalidCompetition
from anoncup.rules.parameters import Parameter, ParameterValue
from anoncup.rules.settings import Columns

ROLES = {"known": ("a", "b", "c"), "none": ()}
COLUMNS = Parameter("columns", "columns", "known")
FIRST_COLUMN = Parameter("target", "columns", "known", default=1)
COLUMN_PAIR = Parameter("pair", "columns", "known", default=("a", "c"))
COLUMN = Parameter("column", "column", "known")
CHOICE = Parameter("give_up", "choice", ("abstain", "own_row"))
WHOLE_NUMBER = Parameter("k", "whole", default=3)
AMOUNT = Parameter("strength", "amount", default=0.1)
SHARE = Parameter("share", "share")


def test_unknown_kinds_are_rejected_with_the_known_ones() -> None:
    kind: Any = "number"
    with pytest.raises(
        ValueError, match=r"k: .* columns, column, choice, whole, amount, share, not 'number'"
    ):
        Parameter("k", kind)


@pytest.mark.parametrize(
    ("parameter", "default"),
    [
        (COLUMNS, ("a", "b", "c")),
        (FIRST_COLUMN, ("a",)),
        (COLUMN_PAIR, ("a", "c")),
        (COLUMN, "a"),
        (CHOICE, "abstain"),
        (WHOLE_NUMBER, 3),
        (AMOUNT, 0.1),
        (SHARE, None),
        (Parameter("of_none", "columns", "none"), ()),
        (Parameter("of_none", "column", "none"), None),
        (Parameter("of_another_track", "column", "absent"), None),
    ],
)
def test_defaults_are_resolved(parameter: Parameter, default: ParameterValue) -> None:
    assert parameter.resolve_default(ROLES) == default


@pytest.mark.parametrize(
    ("parameter", "toml_value", "text", "value"),
    [
        (COLUMNS, ["c", "a"], "c,a", ("a", "c")),
        (COLUMN, "b", "b", "b"),
        (CHOICE, "own_row", "own_row", "own_row"),
        (WHOLE_NUMBER, 7, "7", 7),
        (AMOUNT, 2, "2", 2.0),
        (AMOUNT, 0.25, "2.5e-1", 0.25),
        (SHARE, 1.0, "1", 1.0),
    ],
)
def test_files_and_command_lines_give_the_same_value(
    parameter: Parameter, toml_value: object, text: str, value: ParameterValue
) -> None:
    assert parameter.read(toml_value, "here", ROLES) == value
    assert parameter.parse_text(text, ROLES) == value


@pytest.mark.parametrize(
    ("parameter", "text", "code"),
    [
        (COLUMNS, "a,z", "unknown_column"),
        *[(COLUMNS, text, "wrong_value") for text in ("a,a", "", "  ", "a,", "a,,b")],
        (COLUMN, "", "wrong_value"),
        (COLUMN, "z", "unknown_column"),
        (COLUMN, "a,b", "unknown_column"),
        (CHOICE, "none", "wrong_value"),
        (WHOLE_NUMBER, "0", "wrong_value"),
        (WHOLE_NUMBER, "1.5", "wrong_value"),
        (WHOLE_NUMBER, "\u0663", "wrong_value"),
        (WHOLE_NUMBER, "9" * 5000, "wrong_value"),
        (AMOUNT, "-1", "wrong_value"),
        (AMOUNT, "nan", "wrong_value"),
        (AMOUNT, "inf", "wrong_value"),
        (AMOUNT, "", "wrong_value"),
        (SHARE, "1.5", "wrong_value"),
    ],
)
def test_invalid_values_are_refused_with_the_parameters_name(
    parameter: Parameter, text: str, code: str
) -> None:
    with pytest.raises(InvalidCompetition) as excinfo:
        parameter.parse_text(text, ROLES)
    assert excinfo.value.code == code
    assert parameter.name in str(excinfo.value)


@pytest.mark.parametrize(
    ("parameter", "value", "expected"),
    [
        (COLUMNS, ["z", "c", "a"], ["c", "a"]),
        (COLUMNS, ["z"], None),
        (COLUMN, "b", "b"),
        (COLUMN, "z", None),
        (CHOICE, "own_row", "own_row"),
        (WHOLE_NUMBER, 7, 7),
    ],
)
def test_unknown_columns_are_dropped_from_values(
    parameter: Parameter, value: object, expected: object
) -> None:
    assert parameter.drop_unknown_columns(value, ROLES) == expected


def test_changing_columns_drops_missing_ones_from_parameters() -> None:
    columns = Columns(("Kouzou", "city"), ("Youto037", "rent"))
    rules = parse_competition(change_columns(create_draft("2015"), columns))
    assert rules.measures["cross_mean"].parameters == {"columns": ("Kouzou",), "target": ("Youto037",)}
    assert rules.attackers["id_sa"].parameters == {"column": "Youto037"}
    assert rules.attackers["sa_rank"].parameters == {}
    assert rules.measures["mean_mae"].weight == 1.0
