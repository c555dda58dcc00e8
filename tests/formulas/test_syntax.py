"""Formulas are parsed, and wrong ones are refused with the position of the problem."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.competition.parser import parse_competition
from anoncup.competition.ranking_formulas import (
    build_strongest,
    check_ranking,
    evaluate_defence,
    list_formula_names,
)
from anoncup.competition.templates import template
from anoncup.errors import InvalidCompetition
from anoncup.evaluation.ranking import compute_overall_loss
from anoncup.formulas.evaluation import TeamNumbers, check_formula
from anoncup.formulas.syntax import MAX_CHARACTERS, MAX_DEPTH, FormulaError, parse_formula
from anoncup.rules.model import Rules
from anoncup.rules.settings import MeasureSettings, Ranking
from anoncup.rules.toml_text import replace_tables

EXAMPLES = [
    TeamNumbers(
        {"utility": number, "security": number / 2, "closest": number / 3},
        {"strongest": build_strongest(("membership",), lambda _: [0.5])},
    )
    for number in (0.2, 0.4, 0.9)
]


def find_position(text: str) -> int:
    """Return the index of the character at which a formula is refused."""
    with pytest.raises(FormulaError) as refusal:
        check_formula(parse_formula(text), EXAMPLES)
    assert refusal.value.position is not None
    return refusal.value.position


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("utility + ^zz", "unknown name"),
        ("min(utility, ^nosuch(1))", "unknown function"),
        ("^utility.real", "attribute"),
        ("1 + utility^[0]", "subscript"),
        ("lambda^: 1", "lambda"),
        ("^__import__('os')", "Python name"),
        ("^utility.__class__.__mro__", "attributes of Python"),
        ("^1 if utility else 2", "condition"),
        ("^utility and security", "boolean operator"),
        ("^7 // 2", "operator that is not allowed"),
        ("7 ^% 2", "character that is not allowed"),
        ("1 + ^True", "truth value"),
        ("1 + ^1j", "complex number"),
        ("1 + ^1e999", "infinite number"),
        ("1 + ^9**9**9", "number that is too large"),
        ("2 * (^utility / 0)", "division by zero"),
        ("max(utility, ^security - 'a')", "text in arithmetic"),
        ("^1 < utility < 2", "chained comparison"),
        ("^min(x=1)", "named argument"),
        ("min(^*utility)", "unpacked argument"),
        ("^sum(utility, security)", "function of named rules only"),
        ("^min()", "no argument"),
        ("^strongest('attribute')", "unknown question"),
        ("^rank(utility)", "name without quotes"),
        ("1 + ^rank('zz')", "rank of an unknown name"),
        ("^rank('utility', 'up')", "unknown direction"),
        ("^clip(utility, 0)", "missing argument"),
        ("^'text'", "text"),
        ("  (utility +\n  ^zz)", "line break"),
        ("strongest('membership') + ^zz", "text before the problem"),
    ],
)
def test_wrong_formulas_are_refused_where_they_are_wrong(text: str, marked: str) -> None:
    position = text.index("^")
    assert find_position(text[:position] + text[position + 1 :]) == position, marked


def test_hostile_formulas_are_refused_before_they_are_parsed() -> None:
    assert find_position("1" * 10**6) == MAX_CHARACTERS
    assert find_position("(" * 1_000) == MAX_DEPTH
    assert find_position("-" * 1_999 + "1") == MAX_DEPTH
    assert find_position("max(" * 300) > 0
    assert parse_formula("(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH).text
    assert parse_formula(" + ".join(["utility"] * (MAX_DEPTH - 2))).text


@given(st.text(max_size=60) | st.text("()+-*/'\"., \n0123456789aemutily", max_size=60))
def test_any_text_is_a_formula_or_is_refused_inside_of_it(text: str) -> None:
    try:
        check_formula(parse_formula(text), EXAMPLES)
    except FormulaError as error:
        refusal = error
    else:
        return
    assert refusal.position is not None
    assert 0 <= refusal.position <= len(text)


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ('rule = "score"\ndefence = "utility"', "wrong_value"),
        ("defence = 3", "wrong_value"),
        ('rule = "formula"', "wrong_value"),
        ('order = "upwards"', "wrong_value"),
        ('order = "descending"', "wrong_value"),
        ('rule = "rank_sum"\nutility = "utility"', "wrong_value"),
        ('utility = "adjustment + zz"\ndefence = "utility"', "invalid_formula"),
        ('attack = "utility"', "invalid_formula"),
        ('attack = "strongest()"', "invalid_formula"),
        ('defence = "mean_per_target"', "invalid_formula"),
        ('defence = "identified"', "invalid_formula"),
    ],
)
def test_other_settings_of_the_ranking_are_checked(lines: str, code: str) -> None:
    with pytest.raises(InvalidCompetition) as refusal:
        parse_competition(replace_tables(template("2015"), "ranking", f"[ranking]\n{lines}"))
    assert refusal.value.code == code


def test_named_rules_are_formulas() -> None:
    """The measures of a track may be many, and their names long."""
    names = [*(f"measure_with_a_long_name_{number}" for number in range(200)), "security"]
    rules = Rules(
        "cup", {}, "membership", "UTC", measures={name: MeasureSettings(1.0) for name in names[:-1]}
    )
    rng = Random(0)
    teams = [TeamNumbers({name: rng.random() for name in ("utility", *names)}) for _ in range(3)]
    ranks = evaluate_defence(replace(rules, ranking=Ranking("rank_sum")), teams, {})
    assert ranks == [
        sum(1 + sum(rival.names[name] < team.names[name] for rival in teams) for name in names)
        for team in teams
    ]
    assert evaluate_defence(rules, teams, {}) == [
        compute_overall_loss(team.names["utility"], team.names["security"]) for team in teams
    ]


def test_every_name_can_be_used_and_ranked() -> None:
    rules = parse_competition(template("2015"))
    for name in list_formula_names(rules):
        formula = parse_formula(f"{name} + rank('{name}')")
        assert formula.collect_value_names() == {name}
        check_ranking(replace(rules, ranking=Ranking("formula", utility=formula, defence=formula)))
