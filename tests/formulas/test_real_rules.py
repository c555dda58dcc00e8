"""The ranking rules of five cups as formulas, on small boards computed by hand."""

import numpy as np
import pytest

from anoncup.formulas.board_numbers import (
    Attacks,
    BoardNumbers,
    build_attack_functions,
    build_defence_functions,
)
from anoncup.formulas.evaluation import evaluate_formula
from anoncup.formulas.functions import FormulaFunction
from anoncup.formulas.syntax import parse_formula
from anoncup.formulas.values import Values

# Three teams; row: whose release, column: who attacked it.
RISKS = np.array([[0.0, 0.3, 0.1], [0.6, 0.0, 0.2], [0.1, 0.1, 0.0]])
OWNERS = np.arange(3)
BUILT_IN = {"closest": {"membership": np.array([0.2, 0.1, 0.9])}}


def evaluate(formula: str, functions: dict[str, FormulaFunction], **names: list[float]) -> list[float]:
    board = BoardNumbers(3, {name: Values(np.array(numbers)) for name, numbers in names.items()}, functions)
    return [float(value) for value in evaluate_formula(parse_formula(formula), board).numbers]


def evaluate_defence(formula: str, **names: list[float]) -> list[float]:
    attacks = Attacks({"membership": RISKS, "attribute": RISKS / 2}, OWNERS, BUILT_IN)
    return evaluate(formula, build_defence_functions(attacks), **names)


def evaluate_attack(formula: str, **names: list[float]) -> list[float]:
    return evaluate(formula, build_attack_functions(Attacks({"membership": RISKS}, OWNERS)), **names)


def test_2018_a_broken_release_gets_9999_and_the_others_rank_by_utility() -> None:
    formula = "where(strongest_built_in() > 0.5, 9999, utility)"
    assert evaluate_defence(formula, utility=[0.3, 0.1, 0.0]) == [0.3, 0.1, 9999]


def test_2019_the_strongest_attack_on_a_release_counts() -> None:
    assert evaluate_defence("1 - max(best_per_team('membership'))") == [0.7, 0.4, 0.9]
    assert evaluate_defence("1 - strongest_team('attribute')") == [0.85, 0.7, 0.95]


def test_2024_unbalanced_releases_lose_twice_what_they_lack() -> None:
    formula = (
        "max(0, 100 * (1 - strongest()) + U - 2 * max(0, 50 - 100 * (1 - strongest())) - 2 * max(0, 50 - U))"
    )
    utility = [80.0, 30.0, 90.0]
    anonymity = [100 * (1 - 0.3), 100 * (1 - 0.6), 100 * (1 - 0.9)]
    expected = [
        max(0.0, a + u - 2 * max(0.0, 50 - a) - 2 * max(0.0, 50 - u))
        for a, u in zip(anonymity, utility, strict=True)
    ]
    assert evaluate_defence(formula, U=utility) == pytest.approx(expected)
    assert expected[1] == pytest.approx(40 + 30 - 20 - 40)


def test_2024_an_attack_counts_the_five_best_targets_with_a_replaced_own_cell() -> None:
    formula = "sum(top(2, fill_own(best_per_target(), mean(best_per_target()))))"
    assert evaluate_attack(formula) == pytest.approx([0.6 + 0.35, 0.3 + 0.2, 0.2 + 0.15])


def test_2025_penalties_are_subtracted_down_to_zero_and_the_best_attacks_count() -> None:
    formula = "max(0, 100 * (1 - strongest_team()) + adjustment)"
    assert evaluate_defence(formula, adjustment=[-20.0, -50.0, 0.0]) == [50.0, 0.0, 90.0]
    assert evaluate_attack("sum(top(1, best_per_target()))") == [0.6, 0.3, 0.2]


def test_2026_the_weaker_of_utility_and_anonymity_counts() -> None:
    formula = "min(utility, 1 - strongest('membership', 'attribute'))"
    assert evaluate_defence(formula, utility=[0.6, 0.9, 1.0]) == pytest.approx([0.6, 0.4, 0.1])
    assert evaluate_attack("mean(best_per_target())") == pytest.approx([0.35, 0.2, 0.15])


def test_bands_by_thresholds_add_points_for_each_target() -> None:
    assert evaluate_attack("sum(band(best_per_target(), 0.1, 0.25, 0.5))") == [3 + 1, 2 + 1, 1 + 1]
