"""Ranking rules of five cups as formulas, with numbers computed by hand."""

import math
from datetime import UTC, datetime
from uuid import UUID

import pytest

from anoncup.competition.ranking_formulas import build_strongest
from anoncup.formulas.evaluation import TeamNumbers, evaluate_formula
from anoncup.formulas.syntax import parse_formula
from app.boards.attack_board import TeamAttacks

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


def test_2026_the_largest_risk_with_any_question_counts_for_each_target() -> None:
    red, _, *targets = [UUID(int=number) for number in range(4)]
    attacks = TeamAttacks(
        datetime.now(UTC),
        risks={"membership": {targets[0]: 0.2, targets[1]: 0.3}, "attribute": {targets[0]: 0.4}},
    )
    assert [attacks.find_largest_risk(target) for target in (*targets, red)] == [0.4, 0.3, 0.0]
