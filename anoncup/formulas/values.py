"""The values of formulas: numbers of a board, one row per team. NaN stands for a missing number.

What is computed from a missing number is missing, and so is what is not a finite number. Hence a division by
zero, a team without a final and an evaluation that failed never look good.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from anoncup.formulas.errors import FormulaError
from anoncup.geometry.arrays import BoolArray, FloatArray
from anoncup.messages import Message

ROUNDING = 1e-9
"""Computed values below this count as 0 in ranks."""


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Numbers of a board.

    ``numbers`` has one number per team or, if ``present`` is not None, one row of cells per team, such as its
    best results on all targets. ``present`` is false for cells that do not exist, such as a team's result on
    its own target. Values up to ``rounding`` count as 0 in ranks.
    """

    numbers: FloatArray
    present: BoolArray | None = None
    rounding: float = ROUNDING

    @property
    def has_missing(self) -> bool:
        missing = ~np.isfinite(self.numbers)
        return bool(np.any(missing if self.present is None else missing & self.present))


Operand: TypeAlias = Values | float


def apply_elementwise(function: Callable[..., Any], *operands: Operand, strict: bool = True) -> Operand:
    """Apply a function of arrays to each team's numbers or to each cell.

    If it is ``strict``, the result is missing where one of the numbers is missing.
    """
    masks = [
        operand.present for operand in operands if isinstance(operand, Values) and operand.present is not None
    ]
    if len({mask.shape for mask in masks}) > 1:
        raise FormulaError(Message("values by target and values by team cannot be combined"))
    arrays = [_broadcast(operand, by_cell=bool(masks)) for operand in operands]
    with np.errstate(all="ignore"):
        results = np.asarray(function(*arrays), dtype=np.float64)
        is_missing = ~np.isfinite(results)
        if strict:
            is_missing |= np.logical_or.reduce(np.broadcast_arrays(*map(np.isnan, arrays)))
        results = np.where(is_missing, np.nan, results)
    if results.ndim == 0:
        return float(results)
    return Values(results, np.logical_and.reduce(masks) if masks else None)


def _broadcast(operand: Operand, *, by_cell: bool) -> FloatArray:
    if not isinstance(operand, Values):
        return np.asarray(require_number(operand), dtype=np.float64)
    return operand.numbers[:, None] if by_cell and operand.present is None else operand.numbers


def require_number(operand: object) -> float:
    if not isinstance(operand, int | float):
        raise FormulaError(Message("a number is needed here"))
    return float(operand)


def reduce_cells(function: Callable[[list[float]], float], numbers: FloatArray, present: BoolArray) -> Values:
    """Apply a function to the list of each team's cells; a team with a missing cell has a missing result."""
    results = []
    for row, is_present in zip(numbers, present, strict=True):
        cells = row[is_present].tolist()
        results.append(math.nan if any(math.isnan(cell) for cell in cells) else function(cells))
    return Values(np.array(results, dtype=np.float64))
