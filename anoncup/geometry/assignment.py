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

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.assignment import (
    UNASSIGNED,
    CostLists,
    extend_matching,
    find_k_smallest,
    make_empty_matching,
)
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


ListCandidates = Callable[[IntArray, int], CandidateLists]
"""``list_candidates(rows, length)`` returns lists of about ``length`` columns. They extend shorter lists of
the same rows: additional columns cost at least their ``unlisted_bounds``."""
CandidateListSource = Callable[[IntArray, IntArray], ListCandidates]
"""``list_source(rows, columns)`` returns the function that lists only these columns for these rows."""


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


def match_dense(costs: FloatArray) -> IntArray:
    """Return a different column for each row, (rows,), at the least total cost.

    ``costs`` (rows, columns) are finite, and there are at least as many columns as rows. Takes cubic time
    (Crouse 2016, as implemented in scipy).
    """
    return np.asarray(linear_sum_assignment(_scale_costs(costs))[1], dtype=np.int64)


def _scale_costs(costs: FloatArray) -> FloatArray:
    """Subtract each row's minimum and scale costs to [0, 1]. The optimal assignment stays the same.

    Otherwise ordinary rows would lose precision if other rows are far from everything.
    """
    excess = costs - costs.min(axis=1, keepdims=True)
    scaled_costs: FloatArray = excess / (excess.max(initial=0.0) or 1.0)
    return scaled_costs


def match_sparse(
    list_source: CandidateListSource, row_count: int, column_count: int, *, order: IntArray | None = None
) -> Assignment:
    """Assign rows by candidate lists that grow as needed, up to the last of ``LIST_LENGTHS``.

    A row is displaced if all its listed columns are worth more to other rows. Displaced rows are assigned
    among the remaining columns, which is repeated as long as at least half of them get a column. The other
    rows stay unassigned. ``order`` (rows,) decides between equal rows; by default, it is that of the rows.
    """
    columns = np.full(row_count, -1, dtype=np.int64)
    open_rows = np.arange(row_count) if order is None else order
    free_columns, open_counts = np.arange(column_count), [row_count]
    for _ in range(_MAX_STAGES):
        list_candidates = list_source(open_rows, free_columns)
        columns[open_rows] = _assign_by_lists(list_candidates, open_rows, row_count, column_count)
        free_columns = np.setdiff1d(free_columns, columns)
        open_rows = open_rows[columns[open_rows] < 0]
        open_counts.append(len(open_rows))
        if not 0 < open_counts[-1] <= open_counts[-2] / 2:
            break
    return Assignment(columns, displaced_count=open_counts[1])


def _assign_by_lists(
    list_candidates: ListCandidates, rows: IntArray, row_count: int, column_count: int
) -> IntArray:
    """Return the column of each of ``rows`` in the cheapest assignment by their lists, or -1 if unassigned.

    Rows without a column get longer lists and are assigned again.
    """
    matching, lists = make_empty_matching(row_count, column_count), _make_empty_lists(row_count)
    list_counts, open_rows = np.zeros(row_count, dtype=np.int64), rows
    for _ in range(_MAX_ROUNDS):
        for step, length in enumerate(LIST_LENGTHS):
            extended_rows = open_rows[list_counts[open_rows] == step]
            if len(extended_rows):
                lists = _replace_lists(lists, extended_rows, list_candidates(extended_rows, length))
        list_counts[open_rows] += 1
        matching = extend_matching(matching, rows=open_rows, lists=lists)
        is_extendable = (
            (matching.column_of == UNASSIGNED)
            & np.isfinite(lists.unlisted_bounds)
            & (list_counts < len(LIST_LENGTHS))
        )
        open_rows = rows[is_extendable[rows]]
        if not len(open_rows):
            break
    return np.maximum(matching.column_of[rows], -1)


def _make_empty_lists(rows: int) -> CostLists:
    starts, ends = np.zeros((2, rows), dtype=np.int64)
    return CostLists(starts, ends, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(rows))


def _replace_lists(lists: CostLists, rows: IntArray, new_lists: CandidateLists) -> CostLists:
    """Return lists in which ``rows`` have new ones; these are appended, and no entries are removed."""
    is_listed = new_lists.columns >= 0
    lengths = is_listed.sum(axis=1)
    starts, ends, unlisted_bounds = lists.starts.copy(), lists.ends.copy(), lists.unlisted_bounds.copy()
    ends[rows] = len(lists.columns) + np.cumsum(lengths)
    starts[rows] = ends[rows] - lengths
    unlisted_bounds[rows] = new_lists.unlisted_bounds
    return CostLists(
        starts=starts,
        ends=ends,
        columns=np.append(lists.columns, new_lists.columns[is_listed]),
        costs=np.append(lists.costs, new_lists.costs[is_listed]),
        unlisted_bounds=unlisted_bounds,
    )


def candidates_from_blocks(
    blocks: Callable[[IntArray, IntArray], Iterable[FloatArray]],
) -> CandidateListSource:
    """Build candidate lists from ``blocks(rows, columns)``, which yields cost matrices over these columns.

    The blocks contain consecutive rows. They are computed again each time that lists grow.
    """

    def list_subproblem(_: IntArray, columns: IntArray) -> ListCandidates:
        return lambda rows, length: _list_cheapest(blocks(rows, columns), columns, length)

    return list_subproblem


def _list_cheapest(blocks: Iterable[FloatArray], columns: IntArray, length: int) -> CandidateLists:
    """List the ``length`` cheapest columns of every row, ties by number, from blocks of consecutive rows."""
    positions, costs = zip(
        *(find_k_smallest(np.ascontiguousarray(block), length + 1) for block in blocks), strict=True
    )
    nearest, sorted_costs = columns[np.concatenate(positions)], np.concatenate(costs)
    is_complete = len(columns) <= length
    return CandidateLists(
        columns=nearest[:, :length],
        costs=sorted_costs[:, :length],
        unlisted_bounds=np.full(len(nearest), np.inf) if is_complete else sorted_costs[:, length],
    )


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
