"""Ranking rules of five cups as formulas, with numbers computed by hand."""

import math
from uuid import UUID

import pytest

from anoncup.competition.ranking_formulas import build_strongest
from anoncup.formulas.evaluation import TeamNumbers, evaluate_formula
from anoncup.formulas.syntax import parse_formula
from app.services.boards.formula_values import FormulaInputs, compute_attack

RISKS = (
    {"membership": [0.3], "attribute": [0.1]},
    {"membership": [0.6], "attribute": [0.7]},
    {"membership": [0.9], "attribute": [0.0]},
)
"""The risks found in the releases of three teams."""


def evaluate(formula: str, **names: list[float]) -> list[float]:
    """Return the values for releases with these risks."""
    teams = [
        TeamNumbers(
            {name: numbers[index] for name, numbers in names.items()},
            {"strongest": build_strongest(tuple(risks), risks.__getitem__)},
        )
        for index, risks in enumerate(RISKS)
    ]
    return evaluate_formula(parse_formula(formula), teams)


def test_2025_penalties_are_subtracted_down_to_zero() -> None:
    formula = "max(0, 100 * (1 - strongest('membership')) - penalty)"
    assert evaluate(formula, penalty=[20.0, 50.0, -5.0]) == pytest.approx([50.0, 0.0, 15.0])


def test_2026_the_weaker_of_utility_and_anonymity_counts() -> None:
    formula = "min(utility, 1 - strongest('membership', 'attribute'))"
    assert evaluate(formula, utility=[0.6, 0.9, 1.0]) == pytest.approx([0.6, 0.3, 0.1])


def test_a_missing_risk_of_another_question_makes_nothing_missing() -> None:
    risks = {"membership": [0.5], "attribute": [math.nan]}
    team = TeamNumbers({}, {"strongest": build_strongest(tuple(risks), risks.__getitem__)})
    values = [
        evaluate_formula(parse_formula(text), [team])[0]
        for text in ("strongest('membership')", "strongest()", "if_missing(strongest(), 2)")
    ]
    assert values[0] == 0.5
    assert math.isnan(values[1])
    assert values[2] == 2


def test_2026_the_mean_over_the_targets_of_others_ranks_the_attacks() -> None:
    red, blue, baseline = teams = [UUID(int=number) for number in range(3)]
    targets = [UUID(int=number) for number in range(3, 6)]
    inputs = FormulaInputs(
        risks={
            targets[0]: {"membership": {blue: 0.2}, "attribute": {blue: 0.4}},
            targets[2]: {"membership": {blue: 0.3, red: 0.5}},
        },
        adjustments={red: -2.0, blue: 0.25},
    )
    owners = dict(zip(targets, teams, strict=True))
    formula = parse_formula("mean_per_target - penalty + identified / 100")
    values = compute_attack(formula, (red, blue), owners, {blue: 7, red: None, baseline: 3}, inputs)
    assert values == {red: pytest.approx(0.25 - 2), blue: pytest.approx(0.35 + 0.25 + 0.07)}
    nothing_to_attack = compute_attack(formula, (red, blue), {targets[0]: red}, {}, inputs)
    assert nothing_to_attack[red] is None
