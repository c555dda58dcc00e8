"""What rows cost with an owner of their group, from compiled loops and from sorted arrays alone."""

import numpy as np
import pytest

from app.scoring.arrays import FloatArray, IntArray
from app.scoring.rates import ABSTAIN, Candidates
from app.scoring.reach import Cells, Costs, costs_in_groups, distinct

VALUES = {
    "ties": (0.0, 1.0, 2.0),
    "duplicates": (3.5, 1e6),
    "constant": (7.0,),
    "signs": (-0.0, 0.0, -1.0),
    "tiny": (-5e-324, 0.0, 5e-324, 1e-200),
    "huge": (-1e100, 0.0, 1e99, 1e100),
    "cancelling": (0.0, 1e16, 1e16 + 2, 0.1, 0.3, 1.0),
    "random": (),
}


def plain_costs(cells: Cells, answer: Candidates) -> list[Costs]:
    columns = [_column(x, y, answer) for x, y in zip(cells.x.T, cells.y.T, strict=True)]
    return [
        (
            sides[0][0],
            *(sum(each, start=np.zeros(len(each[0]))) for each in list(zip(*sides, strict=True))[1:]),
        )
        for sides in zip(*columns, strict=True)
    ]


def _column(x: FloatArray, y: FloatArray, answer: Candidates) -> list[Costs]:
    order, rows = np.argsort(np.concatenate((x, y))), np.flatnonzero(answer.chosen != ABSTAIN)
    nothing, median = (np.zeros(len(x)), np.zeros(len(y))), np.concatenate((x, y))[order[len(order) // 2]]
    across = np.abs(x - median), np.abs(y - median)
    near, ends = _near_and_ends(order, len(x), rows, answer)
    sides = (1, near, nothing), (1, near, _in_order(x, y, order)), (-1, ends, nothing), (-1, ends, across)
    return [
        (
            sign,
            of_x,
            of_y,
            (sign * np.abs(x[owners] - y[rows]) + of_x[owners]).min(axis=0) + of_y[rows],
        )
        for sign, owners, (of_x, of_y) in sides
    ]


def _in_order(x: FloatArray, y: FloatArray, order: IntArray) -> tuple[FloatArray, FloatArray]:
    surplus = np.cumsum(np.where(order < len(x), 1, -1))[:-1]
    slopes, f = np.where(surplus < 0, -1, surplus > len(x) - len(y)), np.empty(len(order))
    f[order] = np.concatenate(([0.0], np.cumsum(slopes * np.diff(np.concatenate((x, y))[order]))))
    return f[: len(x)], -f[len(x) :]


def _near_and_ends(
    order: IntArray, originals: int, rows: IntArray, answer: Candidates
) -> tuple[IntArray, IntArray]:
    """The owners of each row's group next below and above it, the least and the largest: (2, rows) each."""
    place_of = np.argsort(order)
    near, ends = np.empty((2, 2, len(rows)), dtype=np.int64)
    for at, row in enumerate(rows):
        group = [one for one in order if one < originals and answer.group_of[one] == answer.chosen[row]]
        above = sum(place_of[one] < place_of[originals + row] for one in group)
        near[:, at] = group[max(above - 1, 0)], group[min(above, len(group) - 1)]
        ends[:, at] = group[0], group[-1]
    return near, ends


@pytest.mark.parametrize("groups", [1, 3, 20])
@pytest.mark.parametrize(("originals", "rows"), [(1, 1), (7, 1), (20, 20), (40, 13)])
@pytest.mark.parametrize("kind", VALUES)
def test_loops_find_the_costs_of_sorted_arrays(kind: str, originals: int, rows: int, groups: int) -> None:
    rng = np.random.default_rng(4)
    x, y = (
        rng.choice(VALUES[kind], (n, 5)) if VALUES[kind] else rng.normal(size=(n, 5))
        for n in (originals, rows)
    )
    labels = np.unique(rng.integers(0, groups, originals), return_inverse=True)[1]
    sizes = np.bincount(labels)
    lots = Candidates(rng.integers(ABSTAIN, len(sizes), rows), labels, sizes)
    nobody = Candidates(np.full(rows, ABSTAIN), labels, sizes)
    cells = Cells(x, y)
    for answer, found in zip((lots, nobody), costs_in_groups(cells, [lots, nobody]), strict=True):
        for one, other in zip(found, plain_costs(cells, answer), strict=True):
            assert one[0] == other[0]
            assert all(np.array_equal(a, b) for a, b in zip(one[1:], other[1:], strict=True))


def test_equal_guesses_are_looked_at_once_and_lots_each() -> None:
    guess, lots = (
        np.array([2, 0, -1]),
        Candidates(np.zeros(3, np.int64), np.zeros(3, np.int64), np.array([3])),
    )
    kept = distinct([guess, lots, guess.copy(), np.array([2, 1, -1])])
    assert [id(each) for each in kept[:2]] == [id(guess), id(lots)]
    assert len(kept) == 3
