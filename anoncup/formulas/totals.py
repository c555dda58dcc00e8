"""Formulas that combine the scores of a competition's rounds, one number per team and round."""

from collections.abc import Mapping, Sequence

import numpy as np

from anoncup.formulas.board_numbers import BoardNumbers
from anoncup.formulas.errors import FormulaError
from anoncup.formulas.evaluation import check_formula
from anoncup.formulas.syntax import Formula
from anoncup.formulas.values import Operand, Values
from anoncup.messages import Message


def build_total_numbers(team_count: int, scores: Mapping[str, Values]) -> BoardNumbers:
    """Return what formulas of totals can name. ``scores`` has the score of each team by round."""

    def round(name: Operand | str) -> Values:  # noqa: A001  # the name in formulas
        if not isinstance(name, str) or name not in scores:
            raise FormulaError(Message("the rounds that count are {names}", names=tuple(scores)))
        return scores[name]

    return BoardNumbers(team_count, {}, {"round": round})


def check_total(formula: Formula, names: Sequence[str]) -> None:
    """Raise FormulaError if a formula names other rounds than these or has no value on an example."""
    rng = np.random.default_rng(0)
    scores = {name: Values(rng.uniform(0.01, 0.99, 3)) for name in names}
    check_formula(formula, build_total_numbers(3, scores))
