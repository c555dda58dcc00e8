"""Least-cost one-to-one assignment of rows to columns, from a full matrix or from candidate lists.

The full matrix contains rows x columns numbers and takes cubic time, so it is only for small tables.
Candidate lists contain each row's cheapest columns and a lower bound on the cost of all others. If every row
gets a listed column, the assignment is as cheap as that of the full matrix, because no unlisted column could
have improved it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from anoncup.geometry.arrays import FloatArray, IntArray, NumericArray
from anoncup.geometry.kernels.assignment import FREE, UNASSIGNED, find_k_smallest, place_rows
from anoncup.messages import Message

LIST_LENGTHS = (3, 12, 48)
"""Lengths of a row's list: the first, and the next each time that all listed columns were too expensive."""
_MAX_ROUNDS = 8
_MAX_STAGES = 4


@dataclass(frozen=True, slots=True)
class CandidateLists:
    """The cheapest columns of some rows.

    - ``columns`` (rows, length), padded with -1.
    - ``costs`` (rows, length), finite where there is a column.
    - ``unlisted_bounds`` (rows,): lower bound on the cost of unlisted columns, infinite if all are listed.
    """

    columns: IntArray
    costs: FloatArray
    unlisted_bounds: FloatArray


@dataclass(frozen=True, slots=True)
class Assignment:
    """A one-to-one assignment of rows to columns.

    ``columns`` (rows,): each row's column, or -1 if it gets none. ``displaced_count``: number of rows whose
    listed columns were all worth more to other rows; they are assigned among the remaining columns. If there
    are none, the total cost is minimal.
    """

    columns: IntArray
    displaced_count: int

    @property
    def unassigned_count(self) -> int:
        return int((self.columns < 0).sum())


ListCandidates = Callable[[IntArray, int, int], CandidateLists]
"""``list_candidates(rows, length, previous_length)`` returns lists of about ``length`` columns. They extend
the lists of ``previous_length`` (0 at first): additional columns cost at least the previous
``unlisted_bounds``."""
CandidateListSource = Callable[[IntArray, IntArray], ListCandidates]
"""``list_source(rows, columns)`` returns the lists of the subproblem of these rows and columns, which are
numbered from 0 in it."""


def match_dense(costs: FloatArray) -> IntArray:
    """Return a different column for each row, (rows,), at the least total cost.

    ``costs`` (rows, columns) are finite, and there are at least as many columns as rows. Takes cubic time
    (Crouse 2016, as implemented in scipy).
    """
    return np.asarray(linear_sum_assignment(_scale_costs(costs))[1], dtype=np.int64)


def _scale_costs(costs: FloatArray) -> FloatArray:
    """Subtract each row's minimum and scale costs to [0, 1]. The optimal assignment stays the same.

    Otherwise ordinary rows would lose precision if other rows are far from everything, or if costs are near
    the limits of float64.
    """
    exponent = int(np.frexp(np.abs(costs).max(initial=0.0))[1]) + 1
    excess = np.ldexp(costs, -exponent)
    excess -= excess.min(axis=1, keepdims=True)
    scaled_costs: FloatArray = excess / (excess.max(initial=0.0) or 1.0)
    return scaled_costs


def match_sparse(list_source: CandidateListSource, rows: int, columns: int) -> Assignment:
    """Assign rows by candidate lists that grow as needed, up to the last of ``LIST_LENGTHS``.

    A row is displaced if all its listed columns are worth more to other rows. Displaced rows are assigned
    among the remaining columns, which is repeated as long as at least half of them get a column. The other
    rows stay unassigned.
    """
    assigned = np.full(rows, -1, dtype=np.int64)
    unplaced_counts = []
    open_rows, open_columns = np.arange(rows), np.arange(columns)
    for _ in range(_MAX_STAGES):
        stage_columns = _assign_by_lists(
            list_source(open_rows, open_columns), len(open_rows), len(open_columns)
        )
        assigned[open_rows] = np.where(stage_columns < 0, -1, open_columns[stage_columns])
        open_rows = open_rows[stage_columns < 0]
        open_columns = np.delete(open_columns, stage_columns[stage_columns >= 0])
        unplaced_counts.append(len(open_rows))
        if not 0 < len(open_rows) <= len(stage_columns) / 2:
            break
    return Assignment(assigned, unplaced_counts[0])


def candidates_from_blocks(
    blocks: Callable[[IntArray, IntArray], Iterable[FloatArray]],
) -> CandidateListSource:
    """Build candidate lists from ``blocks(rows, columns)``, which yields cost matrices over these columns.

    The blocks contain consecutive rows. They are computed again each time that lists grow.
    """

    def list_subproblem(rows: IntArray, columns: IntArray) -> ListCandidates:
        return lambda selected, length, previous_length: _select_candidates(  # noqa: ARG005
            blocks(rows[selected], columns), length
        )

    return list_subproblem


def _select_candidates(blocks: Iterable[FloatArray], length: int) -> CandidateLists:
    """List the ``length`` cheapest columns of every row, ties by number, from blocks of consecutive rows."""
    columns, costs, unlisted_bounds = zip(*(_select_cheapest(block, length) for block in blocks), strict=True)
    return CandidateLists(np.concatenate(columns), np.concatenate(costs), np.concatenate(unlisted_bounds))


def describe_assignment(assignment: Assignment, *, rows: int, dense_limit: int) -> Message:
    """Describe an assignment by candidate lists, which was used because ``rows`` exceeded ``dense_limit``."""
    if not assignment.displaced_count:
        return Message(
            "sparse assignment: {rows} rows are more than dense_limit = {limit}; "
            "the total cost is the least possible",
            rows=rows,
            limit=dense_limit,
        )
    return Message(
        "sparse assignment: {rows} rows are more than dense_limit = {limit}; {late} rows whose nearest "
        "{nearest} went to others were matched with what was left, {without} of them abstain",
        rows=rows,
        limit=dense_limit,
        late=assignment.displaced_count,
        nearest=LIST_LENGTHS[-1],
        without=assignment.unassigned_count,
    )


def _select_cheapest(costs: FloatArray, length: int) -> tuple[IntArray, FloatArray, FloatArray]:
    order, sorted_costs = find_k_smallest(np.ascontiguousarray(costs), length + 1)
    is_complete = sorted_costs.shape[1] <= length
    unlisted_bounds = np.full(len(costs), np.inf) if is_complete else sorted_costs[:, length]
    return order[:, :length], sorted_costs[:, :length], unlisted_bounds


def _assign_by_lists(list_candidates: ListCandidates, rows: int, columns: int) -> IntArray:
    """Return each row's column in the cheapest assignment, or -1 for unassigned rows.

    An unassigned row costs its ``unlisted_bounds``.
    """
    prices = np.zeros(rows), np.zeros(columns)
    partners = np.full(columns, FREE, dtype=np.int64), np.full(rows, FREE, dtype=np.int64)
    candidates, growth_steps = _CandidatePool.empty(rows), np.zeros(rows, dtype=np.int64)
    open_rows = np.arange(rows)
    for _ in range(_MAX_ROUNDS):
        for step, length in enumerate(LIST_LENGTHS):
            extended_rows = open_rows[growth_steps[open_rows] == step]
            if len(extended_rows):
                candidates.add(
                    extended_rows, list_candidates(extended_rows, length, (0, *LIST_LENGTHS)[step])
                )
        growth_steps[open_rows] += 1
        place_rows(
            open_rows,
            candidates.start,
            candidates.end,
            candidates.columns,
            candidates.costs,
            candidates.unlisted_bounds,
            *prices,
            *partners,
        )
        is_extendable = (partners[1] == UNASSIGNED) & np.isfinite(candidates.unlisted_bounds)
        open_rows = np.flatnonzero(is_extendable & (growth_steps < len(LIST_LENGTHS)))
        if not len(open_rows):
            break
    return np.where(partners[1] < 0, -1, partners[1])


@dataclass(slots=True)
class _CandidatePool:
    """All candidate lists in one array: row r has ``columns[start[r]:end[r]]``.

    A longer list is appended at the end and replaces the shorter one. ``columns`` and ``costs`` are filled up
    to ``used``; spare capacity makes copying rare.
    """

    start: IntArray
    end: IntArray
    unlisted_bounds: FloatArray
    columns: IntArray
    costs: FloatArray
    used: int = 0

    @staticmethod
    def empty(rows: int) -> "_CandidatePool":
        start, end, columns = np.zeros((3, rows), dtype=np.int64)
        return _CandidatePool(start, end, np.zeros(rows), columns, np.zeros(rows))

    def add(self, rows: IntArray, lists: CandidateLists) -> None:
        is_listed = lists.columns >= 0
        stops = self.used + np.cumsum(is_listed.sum(axis=1))
        new_entries = slice(self.used, int(stops[-1]))
        self._reserve(new_entries.stop)
        self.columns[new_entries], self.costs[new_entries] = lists.columns[is_listed], lists.costs[is_listed]
        self.start[rows], self.end[rows] = np.append(self.used, stops[:-1]), stops
        self.unlisted_bounds[rows], self.used = lists.unlisted_bounds, new_entries.stop

    def _reserve(self, required_size: int) -> None:
        if required_size > len(self.columns):
            capacity = 2 * required_size
            self.columns, self.costs = (
                self._enlarge(self.columns, capacity),
                self._enlarge(self.costs, capacity),
            )

    def _enlarge(self, values: NumericArray, capacity: int) -> NumericArray:
        enlarged = np.empty(capacity, dtype=values.dtype)
        enlarged[: self.used] = values[: self.used]
        return enlarged
