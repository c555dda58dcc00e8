"""Evaluate formulas over the numbers of a board."""

import ast
import operator
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

import numpy as np
from simpleeval import SimpleEval

from anoncup.formulas.board_numbers import BoardNumbers
from anoncup.formulas.errors import FormulaError
from anoncup.formulas.functions import FUNCTIONS, FormulaFunction
from anoncup.formulas.syntax import Formula, FormulaCall, get_position
from anoncup.formulas.values import Operand, Values, apply_elementwise
from anoncup.messages import Message

_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class _Evaluator(SimpleEval):  # type: ignore[misc]  # the package has no types
    """Evaluates a tree that ``parse_formula`` has checked."""

    def __init__(self, board: BoardNumbers, *, allow_missing: bool) -> None:
        super().__init__(
            operators={kind: _lift(function) for kind, function in _OPERATORS.items()},
            functions={**FUNCTIONS, **board.functions},
            names=dict(board.names),
        )
        self.allow_missing = allow_missing
        self.parts: dict[ast.AST, Operand] = {}

    def _eval(self, node: ast.AST) -> Any:
        try:
            value = super()._eval(node)
        except FormulaError as error:
            raise (
                FormulaError(error.message, get_position(node)) if error.position is None else error
            ) from None
        if not self.allow_missing and _is_missing(value):
            raise FormulaError(Message("this has no finite value, as in a division by 0"), get_position(node))
        self.parts[node] = value
        return value


def _lift(function: Callable[..., Any]) -> FormulaFunction:
    return lambda *operands: apply_elementwise(function, *operands)


def _is_missing(value: object) -> bool:
    return (
        value.has_missing
        if isinstance(value, Values)
        else isinstance(value, float) and not np.isfinite(value)
    )


def evaluate_formula(formula: Formula, board: BoardNumbers, *, allow_missing: bool = True) -> Values:
    """Return the value of a formula for each team.

    Raises FormulaError if it has none because of the types of its parts or, unless ``allow_missing``, because
    a part has no finite number.
    """
    value: Operand = _Evaluator(board, allow_missing=allow_missing).eval(
        formula.text, previously_parsed=formula.tree
    )
    if isinstance(value, Values) and value.present is not None:
        raise FormulaError(
            Message("this gives several numbers for each team; sum, mean, min or max combines them"), 0
        )
    if isinstance(value, Values):
        return value
    if not isinstance(value, int | float):
        raise FormulaError(Message("this is not a number"), 0)
    return Values(np.full(board.team_count, float(value)))


def evaluate_parts(formula: Formula, board: BoardNumbers) -> Mapping[ast.AST, Operand]:
    """Return the values of all parts of a formula; raise FormulaError as ``evaluate_formula`` does."""
    evaluator = _Evaluator(board, allow_missing=True)
    evaluator.eval(formula.text, previously_parsed=formula.tree)
    return evaluator.parts


def check_formula(formula: Formula, example: BoardNumbers) -> None:
    """Raise FormulaError for unknown names and functions, and for what has no number on the example board."""
    for node in formula.list_names():
        _require_known(node, example.names)
    functions = {**FUNCTIONS, **example.functions}
    for call in formula.list_calls():
        _require_known(call.func, functions)
        _check_arguments(call, functions[call.func.id])
    evaluate_formula(formula, example, allow_missing=False)


def _check_arguments(call: FormulaCall, function: FormulaFunction) -> None:
    try:
        signature(function).bind(*call.args)
    except TypeError:
        parameters = tuple(signature(function).parameters)
        raise FormulaError(
            Message("the arguments of {name} are {names}", name=call.func.id, names=parameters),
            get_position(call),
        ) from None


def _require_known(node: ast.Name, known: Mapping[str, object]) -> None:
    if node.id not in known:
        raise FormulaError(
            Message("{name} is not known here; known are {names}", name=node.id, names=tuple(known)),
            get_position(node),
        )
