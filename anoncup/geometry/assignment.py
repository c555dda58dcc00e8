"""One-to-one matching at least cost: rows to distinct columns, from a full matrix or from short lists.

The full matrix takes rows x columns numbers and cubic time, so it is for small tables. The short lists hold
each row's cheapest columns and a bound on all others. Where every row gets one of its listed columns, the
matching is as cheap as the full matrix's: no unlisted column could have been worth it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from anoncup.geometry.arrays import Cells, FloatArray, IntArray
from anoncup.geometry.kernels.assignment import FREE, OUT, place_rows, shortest
from anoncup.messages import Message

LENGTHS = (3, 12, 48)
"""How many columns a row's list holds at first, and each time that none of them was worth it."""
ROUNDS = 8
STAGES = 4


@dataclass(frozen=True, slots=True)
class Lists:
    """The cheapest columns of some rows.

    ``columns`` (rows, length), -1 = no more; ``costs`` (rows, length), finite where there is a column;
    ``beyond`` (rows,): no column left out costs less; infinite where none is left out.
    """

    columns: IntArray
    costs: FloatArray
    beyond: FloatArray


@dataclass(frozen=True, slots=True)
class Matching:
    """``column_of`` (rows,): each row's column, none twice; -1 = none.

    ``late``: rows that found all their listed columns worth more to others. At 0 the cost is the least
    possible. Late rows were matched among the columns left; those without one are counted in ``without``.
    """

    column_of: IntArray
    late: int

    @property
    def without(self) -> int:
        return int((self.column_of < 0).sum())


ListRows = Callable[[IntArray, int, int], Lists]
"""``list_rows(rows, length, before)``: lists of about that length, which contain those of length ``before``
(0: there were none); what is new in them costs no less than the ``beyond`` given then."""
Lister = Callable[[IntArray, IntArray], ListRows]
"""``lister(rows, columns)``: the lists of a smaller problem, in which only these rows and columns take part
and are counted from 0."""


def match_dense(costs: FloatArray) -> IntArray:
    """Each row's column, (rows,): all rows placed, none of them in the same column, at the least total cost.

    ``costs`` (rows, columns), finite, with at least as many columns as rows. Cubic time (Crouse 2016).
    """
    return np.asarray(linear_sum_assignment(relative(costs))[1], dtype=np.int64)


def relative(costs: FloatArray) -> FloatArray:
    """Costs over each row's least, as shares of the largest of these: in [0, 1], with the same best matching.

    Neither a row that is far from everything nor numbers near float64's end take the others' digits.
    """
    exponent = int(np.frexp(np.abs(costs).max(initial=0.0))[1]) + 1
    above = np.ldexp(costs, -exponent)
    above -= above.min(axis=1, keepdims=True)
    shares: FloatArray = above / (above.max(initial=0.0) or 1.0)
    return shares


def match_listed(lister: Lister, rows: int, columns: int) -> Matching:
    """A matching by lists that grow where they have to, up to the last of ``LENGTHS``.

    A row goes without if all it has listed is worth more to others. Such rows are matched once more among the
    columns left, as often as that places at least half of them; who is left then abstains, so that no column
    is given twice.
    """
    column_of = np.full(rows, -1, dtype=np.int64)
    late = []
    free_rows, free_columns = np.arange(rows), np.arange(columns)
    for _ in range(STAGES):
        found = _matched(lister(free_rows, free_columns), len(free_rows), len(free_columns))
        column_of[free_rows] = np.where(found < 0, -1, free_columns[found])
        free_rows = free_rows[found < 0]
        free_columns = np.delete(free_columns, found[found >= 0])
        late.append(len(free_rows))
        if not 0 < len(free_rows) <= len(found) / 2:
            break
    return Matching(column_of, late[0])


def listing_of(blocks: Callable[[IntArray, IntArray], Iterable[FloatArray]]) -> Lister:
    """Lists from costs in blocks: ``blocks(rows, columns)`` yields matrices over these columns.

    Together they hold these rows, in order. Costs are asked for anew each time that lists grow.
    """

    def lister(rows: IntArray, columns: IntArray) -> ListRows:
        return lambda some, length, before: shortlists(blocks(rows[some], columns), length)  # noqa: ARG005

    return lister


def shortlists(blocks: Iterable[FloatArray], length: int) -> Lists:
    """The cheapest ``length`` columns of every row, equal ones by number; blocks (some rows, columns)."""
    columns, costs, beyond = zip(*(_shortest(block, length) for block in blocks), strict=True)
    return Lists(np.concatenate(columns), np.concatenate(costs), np.concatenate(beyond))


def note_of(matching: Matching, *, rows: int, dense_limit: int) -> Message:
    """What an attacker says about an answer by lists; ``rows`` of the original were too many."""
    if not matching.late:
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
        late=matching.late,
        nearest=LENGTHS[-1],
        without=matching.without,
    )


def _shortest(costs: FloatArray, length: int) -> tuple[IntArray, FloatArray, FloatArray]:
    order, ranked = shortest(np.ascontiguousarray(costs), length + 1)
    complete = ranked.shape[1] <= length
    beyond = np.full(len(costs), np.inf) if complete else ranked[:, length]
    return order[:, :length], ranked[:, :length], beyond


def _matched(list_rows: ListRows, rows: int, columns: int) -> IntArray:
    """Each row's column or -1: the cheapest matching if going without costs what a row's ``beyond`` says."""
    prices = np.zeros(rows), np.zeros(columns)
    placed = np.full(columns, FREE, dtype=np.int64), np.full(rows, FREE, dtype=np.int64)
    pool, grown = _Pool.empty(rows), np.zeros(rows, dtype=np.int64)
    waiting = np.arange(rows)
    for _ in range(ROUNDS):
        for turn, length in enumerate(LENGTHS):
            some = waiting[grown[waiting] == turn]
            if len(some):
                pool.add(some, list_rows(some, length, (0, *LENGTHS)[turn]))
        grown[waiting] += 1
        place_rows(waiting, pool.start, pool.end, pool.columns, pool.costs, pool.beyond, *prices, *placed)
        unlucky = (placed[1] == OUT) & np.isfinite(pool.beyond)
        waiting = np.flatnonzero(unlucky & (grown < len(LENGTHS)))
        if not len(waiting):
            break
    return np.where(placed[1] < 0, -1, placed[1])


@dataclass(slots=True)
class _Pool:
    """All lists end to end: row r has ``columns[start[r]:end[r]]``. One that grew stands anew at the end.

    ``columns`` and ``costs`` are filled up to ``used``; the rest is room, so that adding copies little.
    """

    start: IntArray
    end: IntArray
    beyond: FloatArray
    columns: IntArray
    costs: FloatArray
    used: int = 0

    @staticmethod
    def empty(rows: int) -> "_Pool":
        start, end, columns = np.zeros((3, rows), dtype=np.int64)
        return _Pool(start, end, np.zeros(rows), columns, np.zeros(rows))

    def add(self, rows: IntArray, lists: Lists) -> None:
        listed = lists.columns >= 0
        stops = self.used + np.cumsum(listed.sum(axis=1))
        added = slice(self.used, int(stops[-1]))
        self._make_room(added.stop)
        self.columns[added], self.costs[added] = lists.columns[listed], lists.costs[listed]
        self.start[rows], self.end[rows] = np.append(self.used, stops[:-1]), stops
        self.beyond[rows], self.used = lists.beyond, added.stop

    def _make_room(self, needed: int) -> None:
        if needed > len(self.columns):
            room = 2 * needed
            self.columns, self.costs = self._moved(self.columns, room), self._moved(self.costs, room)

    def _moved(self, cells: Cells, room: int) -> Cells:
        moved = np.empty(room, dtype=cells.dtype)
        moved[: self.used] = cells[: self.used]
        return moved
