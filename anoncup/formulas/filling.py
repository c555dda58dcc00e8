"""Fill in formulas with the numbers of one team."""

import ast
from collections.abc import Collection, Mapping
from typing import cast

from anoncup.formulas.board_numbers import BoardNumbers
from anoncup.formulas.evaluation import evaluate_formula, evaluate_parts
from anoncup.formulas.filled_formula import FilledFormula
from anoncup.formulas.syntax import Formula, FormulaCall
from anoncup.formulas.values import Operand, Values


def fill_in_formula(
    formula: Formula, board: BoardNumbers, row: int, hidden_names: Collection[str] = ()
) -> FilledFormula:
    """Return a formula with the numbers in a row of the board.

    Numbers replace names, functions of attacks, ranks, and functions that combine several numbers of a team.
    ``hidden_names`` are names and functions that no number replaces.
    """
    numbers: dict[ast.AST, float] = {
        node: float(value.numbers[row])
        for node, value in _list_single_values(formula, board)
        if _get_name(node) not in hidden_names
    }
    return FilledFormula(formula, numbers, float(evaluate_formula(formula, board).numbers[row]))


def _list_single_values(formula: Formula, board: BoardNumbers) -> list[tuple[ast.Name | FormulaCall, Values]]:
    """Return the parts that a number can replace, with one number for each team."""
    parts = evaluate_parts(formula, board)
    return [
        (cast(FormulaCall, node), value)
        for node, value in parts.items()
        if isinstance(value, Values)
        and value.present is None
        and (isinstance(node, ast.Name) or (isinstance(node, ast.Call) and _is_opaque(node, parts, board)))
    ]


def _is_opaque(call: ast.Call, parts: Mapping[ast.AST, Operand], board: BoardNumbers) -> bool:
    """Return whether a call's value does not follow from the numbers that would replace its arguments."""
    name = _get_name(call)
    return name == "rank" or name in board.functions or any(_has_cells(parts[node]) for node in call.args)


def _has_cells(value: Operand) -> bool:
    return isinstance(value, Values) and value.present is not None


def _get_name(node: ast.AST) -> str:
    return cast(FormulaCall, node).func.id if isinstance(node, ast.Call) else cast(ast.Name, node).id
