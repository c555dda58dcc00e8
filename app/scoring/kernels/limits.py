"""The compiled loops behind what E tells of U."""

from app.scoring.arrays import FloatArray, IntArray
from app.scoring.kernels.compiled import compiled

NOBODY = -1
SIGNS = (1, 1, -1, -1)
"""Of four sides: limits of the sum of all |x - y| from below, plain and by pairs in order; and from above."""


@compiled
def fill_shifts(
    values: FloatArray, order: IntArray, owners: int, shifts: FloatArray
) -> None:  # pragma: no cover - compiled
    """What the second side of each sign adds for an owner and for a row, (2, n + n'), owners first.

    ``values`` (n + n',) are those of the owners, then of the rows; ``order``: their places, ascending.
    From below a pairing in the order of the values costs least: nearer, all rows cannot be. |x - y| is at
    least f(y) - f(x) for an f with slopes 1, 0 and -1: where more x than y lie below, however many of them
    have no row; where it may be as many; where fewer do. From above it is a pairing across the median.
    """
    spare, surplus, f = 2 * owners - order.shape[0], 0, 0.0
    median = values[order[order.shape[0] // 2]]
    shifts[0, order[0]] = f
    for place in range(order.shape[0] - 1):
        at, after = order[place], order[place + 1]
        surplus += 1 if at < owners else -1
        slope = -1.0 if surplus < 0 else (1.0 if surplus > spare else 0.0)
        f += slope * (values[after] - values[at])
        shifts[0, after] = f if after < owners else -f
    for at in range(order.shape[0]):
        shifts[1, at] = abs(values[at] - median)


@compiled
def add_least(  # noqa: PLR0917 - compiled code takes plain arrays by position
    values: FloatArray,
    order: IntArray,
    group_of: IntArray,
    chosen: IntArray,
    shifts: FloatArray,
    ends: IntArray,
    below: IntArray,
    least: FloatArray,
) -> None:  # pragma: no cover - compiled
    """Add to ``least`` (4, n') what each row costs at least on each side with an owner of its group.

    Costs: ``SIGNS`` * |x - y|, and on the second and last side the ``shifts`` of both. That is least with the
    owners next below and above in value, or from above the first and last: what is added changes no faster
    than |x - y|. ``chosen`` (n',), -1: none, no costs. ``ends`` (3, groups) and ``below`` (n',) are room.
    """
    owners = group_of.shape[0]
    first, last, next_one = ends[0], ends[1], ends[2]
    first[:] = NOBODY
    for at in order:
        if at < owners:
            group = group_of[at]
            if first[group] == NOBODY:
                first[group] = at
            last[group] = at
        elif chosen[at - owners] >= 0:
            group = chosen[at - owners]
            below[at - owners] = last[group] if first[group] != NOBODY else NOBODY
    next_one[:] = last
    for place in range(order.shape[0] - 1, -1, -1):
        at = order[place]
        if at < owners:
            next_one[group_of[at]] = at
            continue
        row = at - owners
        group = chosen[row]
        if group < 0:
            continue
        y, above, low, high = values[at], next_one[group], first[group], last[group]
        under = below[row] if below[row] != NOBODY else low
        near, nearer = abs(values[under] - y), abs(values[above] - y)
        far, farther = -abs(values[low] - y), -abs(values[high] - y)
        least[0, row] += min(near, nearer)
        least[1, row] += min(near + shifts[0, under], nearer + shifts[0, above]) + shifts[0, at]
        least[2, row] += min(far, farther)
        least[3, row] += min(far + shifts[1, low], farther + shifts[1, high]) + shifts[1, at]
