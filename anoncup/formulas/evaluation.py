"""Evaluate formulas, team by team.

NaN stands for a missing number. What is computed from a missing number is missing, and so is what is not a
finite number. Hence a division by zero, a team without a final and an evaluation that failed never look good.
"""

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from inspect import signature
from typing import Any, TypeAlias

from simpleeval import SimpleEval

from anoncup.formulas.ranks import compute_ranks
from anoncup.formulas.syntax import Formula, FormulaCall, FormulaError, get_position
from anoncup.messages import Message

ROUNDING = 1e-9
"""Computed values up to this count as 0 in ranks."""

FormulaFunction: TypeAlias = Callable[..., float]


@dataclass(frozen=True, slots=True)
class TeamNumbers:
    """What formulas can name for one team: numbers, and functions such as the risk by question."""

    names: Mapping[str, float]
    functions: Mapping[str, FormulaFunction] = field(default_factory=dict)


_OPERATORS: Mapping[type[ast.AST], FormulaFunction] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ARITHMETIC: Mapping[str, FormulaFunction] = {
    "abs": abs,
    "clip": lambda value, low, high: min(max(value, low), high),
    "max": lambda value, *values: max((value, *values)),
    "min": lambda value, *values: min((value, *values)),
    "where": lambda condition, value, alternative: value if condition else alternative,
}


def _replace_missing(value: object, replacement: object) -> float:
    """Return the value or, where it is missing, the replacement."""
    number, fallback = _require_number(value), _require_number(replacement)
    return fallback if math.isnan(number) else number


def _require_number(operand: object) -> float:
    if not isinstance(operand, int | float):
        raise FormulaError(Message("a number is needed here"))
    return float(operand)


def _lift(function: FormulaFunction) -> FormulaFunction:
    """Return a function whose result is missing if an operand is, or if it is not a finite number."""

    def compute(*operands: object) -> float:
        numbers = [_require_number(operand) for operand in operands]
        if any(map(math.isnan, numbers)):
            return math.nan
        try:
            result = function(*numbers)
        except (ArithmeticError, ValueError):
            return math.nan
        return float(result) if not isinstance(result, complex) and math.isfinite(result) else math.nan

    return compute


_LIFTED_OPERATORS = {kind: _lift(function) for kind, function in _OPERATORS.items()}
_FUNCTIONS: Mapping[str, FormulaFunction] = {
    **{name: _lift(function) for name, function in _ARITHMETIC.items()},
    "if_missing": _replace_missing,
    # Only the formulas of named rules call it. The result does not depend on the order.
    "sum": _lift(lambda *numbers: math.fsum(numbers)),
}


class _Evaluator(SimpleEval):  # type: ignore[misc]  # the package has no types
    """Evaluates a tree that ``parse_formula`` has checked."""

    def __init__(self, *, allow_missing: bool) -> None:
        super().__init__(operators=_LIFTED_OPERATORS, functions={}, names={})
        self.allow_missing = allow_missing

    def _eval(self, node: ast.AST) -> Any:
        try:
            value = super()._eval(node)
        except FormulaError as error:
            raise (
                FormulaError(error.message, get_position(node)) if error.position is None else error
            ) from None
        if not self.allow_missing and isinstance(value, float) and not math.isfinite(value):
            raise FormulaError(Message("this has no finite value, as in a division by 0"), get_position(node))
        return value


def evaluate_formula(
    formula: Formula,
    teams: Sequence[TeamNumbers],
    rounding: Mapping[str, float] | None = None,
    *,
    allow_missing: bool = True,
) -> list[float]:
    """Return the value of a formula for each team; NaN where it is missing.

    ``rounding``: numbers of a name up to this count as 0 in its ranks. Raises FormulaError if the formula has
    no value because of the types of its parts or, unless ``allow_missing``, because a part is missing.
    """
    evaluator = _Evaluator(allow_missing=allow_missing)
    values = []
    for team, functions in zip(teams, _bind_functions(teams, rounding or {}), strict=True):
        evaluator.names = dict(team.names)
        evaluator.functions = {**_FUNCTIONS, **functions}
        value = evaluator.eval(formula.text, previously_parsed=formula.tree)
        if not isinstance(value, int | float):
            raise FormulaError(Message("this is not a number"), 0)
        values.append(float(value))
    return values


def _bind_functions(
    teams: Sequence[TeamNumbers], rounding: Mapping[str, float]
) -> list[Mapping[str, FormulaFunction]]:
    """Return the functions of each team: its own and ``rank``."""

    @cache
    def list_ranks(name: object, direction: object) -> list[float]:
        return _rank_teams(teams, name, direction, rounding)

    def build_rank(index: int) -> FormulaFunction:
        def rank(name: object, direction: object = "ascending") -> float:
            return list_ranks(name, direction)[index]

        return rank

    return [{**team.functions, "rank": build_rank(index)} for index, team in enumerate(teams)]


def _rank_teams(
    teams: Sequence[TeamNumbers], name: object, direction: object, rounding: Mapping[str, float]
) -> list[float]:
    """Return the rank of each team that has a number. Ties share their best rank ("1 2 2 4")."""
    if name not in teams[0].names:
        names = tuple(teams[0].names)
        raise FormulaError(Message("rank takes one of these names in quotes: {names}", names=names))
    if direction not in ("ascending", "descending"):
        raise FormulaError(Message("the direction is 'ascending' or 'descending'"))
    sign = 1 if direction == "ascending" else -1
    smallest = rounding.get(str(name), ROUNDING)
    numbers = [team.names[str(name)] for team in teams]
    losses = [
        None if math.isnan(number) else 0.0 if abs(number) <= smallest else sign * number
        for number in numbers
    ]
    return [math.nan if rank is None else float(rank) for rank in compute_ranks(losses)]


def check_formula(formula: Formula, examples: Sequence[TeamNumbers]) -> None:
    """Raise FormulaError for unknown names and functions, and for what has no number for the examples."""
    for node in formula.list_names():
        _require_known(node, examples[0].names)
    functions = {**_ARITHMETIC, "if_missing": _replace_missing, **_bind_functions(examples, {})[0]}
    for call in formula.list_calls():
        _require_known(call.func, functions)
        _check_arguments(call, functions[call.func.id])
    evaluate_formula(formula, examples, allow_missing=False)


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
