"""Formulas with the numbers of one team in place of names and functions."""

import ast
import math
from collections.abc import Collection

import numpy as np
import pytest

from anoncup.formulas.board_numbers import Attacks, BoardNumbers, build_defence_functions
from anoncup.formulas.filled_formula import FilledFormula
from anoncup.formulas.filling import fill_in_formula
from anoncup.formulas.syntax import parse_formula
from anoncup.formulas.values import Values

RISKS = np.array([[0.0, 0.5, 0.3], [0.9, 0.0, 0.1], [0.2, 0.0, 0.0]])
"""Of three releases, one of each team: what each team found."""


def fill_in(text: str, row: int = 0, hidden_names: Collection[str] = ()) -> FilledFormula:
    names = {
        "utility": Values(np.array([0.25, 0.75, 0.5])),
        "adjustment": Values(np.array([0.0, -2.0, 1.0])),
    }
    attacks = Attacks({"link": RISKS}, np.arange(3), {"euc1": {"link": np.array([0.4, 0.1, 0.6])}})
    board = BoardNumbers(3, names, build_defence_functions(attacks))
    return fill_in_formula(parse_formula(text), board, row, hidden_names)


def list_numbers(filled: FilledFormula) -> dict[str, float]:
    """Return the numbers by the text of the part that each replaces."""
    return {ast.unparse(node): number for node, number in filled.numbers.items()}


@pytest.mark.parametrize(
    ("text", "numbers", "value"),
    [
        ("min(utility, 1 - adjustment)", {"utility": 0.25, "adjustment": 0.0}, 0.25),
        ("1 - strongest('link')", {"strongest('link')": 0.5}, 0.5),
        ("attacker('euc1') * 2", {"attacker('euc1')": 0.4}, 0.8),
        ("min(utility, mean(best_per_team()))", {"utility": 0.25, "mean(best_per_team())": 0.4}, 0.25),
        ("sum(1 - top(1, best_per_team()))", {"sum(1 - top(1, best_per_team()))": 0.5}, 0.5),
        ("2 * rank(utility)", {"utility": 0.25, "rank(utility)": 1.0}, 2.0),
        ("2 + 3", {}, 5.0),
    ],
)
def test_numbers_replace_what_does_not_follow_from_other_numbers(
    text: str, numbers: dict[str, float], value: float
) -> None:
    filled = fill_in(text)
    assert list_numbers(filled) == pytest.approx(numbers)
    assert filled.value == pytest.approx(value)


def test_numbers_are_those_of_the_row() -> None:
    filled = fill_in("utility + adjustment - strongest()", row=1)
    assert list_numbers(filled) == {"utility": 0.75, "adjustment": -2.0, "strongest()": 0.9}


def test_hidden_ranks_have_no_number_but_what_they_rank_has() -> None:
    filled = fill_in("rank(utility) + adjustment", row=2, hidden_names=["rank"])
    assert list_numbers(filled) == {"utility": 0.5, "adjustment": 1.0}
    assert filled.value == 2 + 1


def test_missing_numbers_stay_missing() -> None:
    filled = fill_in("if_missing(mean(1 / (best_per_team() * adjustment)), utility / adjustment)")
    assert math.isnan(list_numbers(filled)["mean(1 / (best_per_team() * adjustment))"])
    assert filled.value is not None
    assert math.isnan(filled.value)
