"""The functions that every formula may call. They take and return ``Values``, numbers or names in quotes."""

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from anoncup.formulas.errors import FormulaError
from anoncup.formulas.ranks import compute_ranks
from anoncup.formulas.values import Operand, Values, apply_elementwise, reduce_cells, require_number
from anoncup.geometry.arrays import BoolArray, FloatArray
from anoncup.messages import Message

FormulaFunction: TypeAlias = Callable[..., Operand]
_Reduction: TypeAlias = Callable[[Sequence[float]], float]


def _add_numbers(numbers: Sequence[float]) -> float:
    """Return the exactly rounded sum, which does not depend on the order; NaN if it is too large."""
    try:
        return math.fsum(numbers)
    except OverflowError:
        return math.nan


def _average(numbers: Sequence[float]) -> float:
    return _add_numbers(numbers) / len(numbers) if numbers else math.nan


def _make_reduction(reduce: _Reduction) -> FormulaFunction:
    """Return a function of one operand with cells, or of the numbers of several operands."""

    def combine(*operands: Operand) -> Operand:
        if len(operands) == 1 and _has_cells(operands[0]):
            return reduce_cells(reduce, *_require_cells(operands[0]))
        if not operands:
            raise FormulaError(Message("at least one argument is needed"))
        return apply_elementwise(lambda *arrays: _reduce_arrays(reduce, arrays), *operands)

    return combine


def _reduce_arrays(reduce: _Reduction, arrays: Sequence[FloatArray]) -> FloatArray:
    """Apply a function to the numbers at the same place in all arrays. A ufunc takes at most 64 arrays."""
    stacked = np.stack(np.broadcast_arrays(*arrays), axis=-1)
    results = [reduce(numbers) for numbers in stacked.reshape(-1, len(arrays)).tolist()]
    return np.array(results, dtype=np.float64).reshape(stacked.shape[:-1])


def _has_cells(operand: object) -> bool:
    return isinstance(operand, Values) and operand.present is not None


def _require_cells(operand: object) -> tuple[FloatArray, BoolArray]:
    """Return the numbers of several cells per team, and the mask of the cells that exist."""
    if isinstance(operand, Values) and operand.present is not None:
        return operand.numbers, operand.present
    raise FormulaError(Message("values by target or by team are needed here"))


def _select_top(count: Operand, cells: Operand) -> Values:
    """Return the ``count`` largest cells of each team, or all if there are fewer."""
    numbers, present = _require_cells(cells)
    if isinstance(count, Values) or not require_number(count).is_integer() or count < 1:
        raise FormulaError(Message("the number of cells is a whole number above 0"))
    # A missing number is among the largest, so that it makes the result missing.
    sort_keys = np.where(present, np.where(np.isnan(numbers), np.inf, numbers), -np.inf)
    order = np.argsort(-sort_keys, axis=1, kind="stable")
    is_top = np.zeros_like(present)
    np.put_along_axis(is_top, order[:, : int(count)], True, axis=1)
    return Values(numbers, present & is_top)


def _rank_values(values: Operand, direction: object = "ascending") -> Values:
    """Return the rank of each team that has a number. Ties share their best rank ("1 2 2 4")."""
    if not isinstance(values, Values) or _has_cells(values):
        raise FormulaError(Message("one number of each team is needed here"))
    if direction not in ("ascending", "descending"):
        raise FormulaError(Message("the direction is 'ascending' or 'descending'"))
    numbers = np.where(np.abs(values.numbers) <= values.rounding, 0.0, values.numbers)
    signed = numbers if direction == "ascending" else -numbers
    ranks = compute_ranks([None if math.isnan(number) else number for number in signed.tolist()])
    return Values(np.array([math.nan if rank is None else rank for rank in ranks]))


def _count_reached(value: Operand, *thresholds: Operand) -> Operand:
    """Return how many of the thresholds, given in ascending order, a value reaches."""
    limits = [require_number(threshold) for threshold in thresholds]
    if not limits or limits != sorted(limits):
        raise FormulaError(Message("the thresholds are numbers in ascending order"))
    count = np.vectorize(lambda number: bisect_right(limits, number), otypes=[float])
    return apply_elementwise(count, value)


def _replace_missing(value: Operand, replacement: Operand) -> Operand:
    """Return the value or, where it is missing, the replacement."""
    return apply_elementwise(
        lambda numbers, fallback: np.where(np.isnan(numbers), fallback, numbers),
        value,
        replacement,
        strict=False,
    )


def _fill_own(cells: Operand, value: Operand) -> Values:
    """Return the cells with a team's ``value`` where they do not exist, such as on its own target."""
    numbers, present = _require_cells(cells)
    if _has_cells(value):
        raise FormulaError(Message("one number of each team is needed here"))
    number = value.numbers[:, None] if isinstance(value, Values) else require_number(value)
    return Values(np.where(present, numbers, number), np.ones_like(present))


def _limit(value: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(value, low), high)


FUNCTIONS: dict[str, FormulaFunction] = {
    "abs": lambda value: apply_elementwise(np.abs, value),
    "band": _count_reached,
    "clip": lambda value, low, high: apply_elementwise(_limit, value, low, high),
    "fill_own": _fill_own,
    "if_missing": _replace_missing,
    "max": _make_reduction(lambda numbers: max(numbers, default=math.nan)),
    "mean": _make_reduction(_average),
    "min": _make_reduction(lambda numbers: min(numbers, default=math.nan)),
    "rank": _rank_values,
    "sum": _make_reduction(_add_numbers),
    "top": _select_top,
    "where": lambda condition, value, alternative: apply_elementwise(np.where, condition, value, alternative),
}
