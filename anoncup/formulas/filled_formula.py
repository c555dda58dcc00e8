"""Formulas with the numbers of one team in place of names and functions."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from anoncup.formulas.syntax import Formula


@dataclass(frozen=True, slots=True)
class FilledFormula:
    """A formula and the numbers of one team. NaN is a missing number.

    ``numbers`` has the parts of the formula that a number replaces. ``value`` is None if it is hidden.
    """

    formula: Formula
    numbers: Mapping[ast.AST, float]
    value: float | None
