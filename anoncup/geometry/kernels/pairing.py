"""The compiled loops that pair individuals up at every price of staying in place, and check the prices.

Prices y of individuals are a certificate at a price s of staying: y_i + y_j <= D_ij and 2 y_i <= s for
everybody. As s rises, whoever still stays is the root of a tree whose members' prices change at half its
speed: up at every second level from the root on, down between, so that the tree's own pairs keep their sum.
Prices that add up to a distance end a tree, or let it grow by the pair or break the odd cycle that the other
belongs to.
"""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.assignment import pop, push
from anoncup.geometry.kernels.compilation import compiled

SIGN, PARTNER, ABOVE, ROOT, NEXT, MARK = range(6)
"""Rows of ``links`` (6, n). SIGN: whether the price rises (1), falls (-1) or stands (0). PARTNER: whose place
is taken, of a cycle the next one; oneself: settled at the cost of nobody listed; -1: stays. ABOVE: of who
falls, the one who led there. ROOT: of the tree, -1 = none. NEXT: another member of it. MARK: last walk that
came by."""
VALUE, SINCE, KEY, COST, LED = range(5)
"""Rows of ``prices`` (5, n): the price when the sign last changed, the price of staying then, and the one at
which to look at an individual's pairs again; the distances to PARTNER, 0 if that is oneself or nobody, and to
ABOVE."""


@compiled
def price(links: IntArray, prices: FloatArray, node: int, now: float) -> float:  # pragma: no cover - compiled
    """An individual's price when staying costs ``now``."""
    return float(prices[VALUE, node] + 0.5 * links[SIGN, node] * (now - prices[SINCE, node]))


@compiled
def next_tight(  # noqa: PLR0917 - compiled code takes plain arrays by position
    start: IntArray,
    others: IntArray,
    apart: FloatArray,
    beyond: FloatArray,
    links: IntArray,
    prices: FloatArray,
    node: int,
    now: float,
) -> tuple[float, int, float]:  # pragma: no cover - compiled
    """The price of staying at which an individual's price first meets another's, whose, and how far they are
    apart.

    Oneself: it meets half of ``beyond``.

    Pairs of somebody who rises; of somebody who stands those with who rises. Pairs are listed by distance,
    and nobody's price is above half of what staying costs: the first that is too far ends the search."""
    sign = links[SIGN, node]
    own = price(links, prices, node, now)
    best, found, distance = np.inf, -1, 0.0
    if sign < 0:
        return best, found, distance
    if sign > 0:
        best, found = max(now, now + (beyond[node] - 2.0 * own)), node
    for place in range(start[node], start[node + 1]):
        soonest = apart[place] - own + 0.5 * now if sign > 0 else 2.0 * (apart[place] - own)
        if soonest >= best:
            break
        other = others[place]
        speed = sign + links[SIGN, other]
        if links[SIGN, other] < 0 or speed == 0:
            continue
        left = max(apart[place] - own - price(links, prices, other, now), 0.0)
        if now + 2.0 * left / speed < best:
            best, found, distance = now + 2.0 * left / speed, other, apart[place]
    return best, found, distance


@compiled
def lead_to(links: IntArray, prices: FloatArray, node: int) -> None:  # pragma: no cover - compiled
    """Exchange partners along the way from a tree's root to ``node``, which alone has none of its own
    then."""
    mate = links[PARTNER, node]
    while mate >= 0:
        above = links[ABOVE, mate]
        following = links[PARTNER, above]
        links[PARTNER, mate], links[PARTNER, above] = above, mate
        prices[COST, mate] = prices[COST, above] = prices[LED, mate]
        mate = following


@compiled
def where_ways_meet(links: IntArray, node: int, other: int, mark: int) -> int:  # pragma: no cover - compiled
    """The first that rises on both ways to the root of a tree."""
    while True:
        links[MARK, node] = mark
        if links[PARTNER, node] < 0:
            break
        node = links[ABOVE, links[PARTNER, node]]
    while links[MARK, other] != mark:
        other = links[ABOVE, links[PARTNER, other]]
    return other


@compiled
def close_cycle(  # noqa: PLR0917 - compiled code takes plain arrays by position
    links: IntArray, prices: FloatArray, node: int, other: int, apart: float, top: int
) -> None:  # pragma: no cover - compiled
    """Make an odd cycle of the ways from two members of a tree to ``top``, where these meet."""
    lead_to(links, prices, top)
    at, before = node, other
    while True:
        mate = links[PARTNER, at]
        links[PARTNER, at], prices[COST, at] = before, apart
        if at == top:
            break
        links[PARTNER, mate] = at
        at, before, apart = links[ABOVE, mate], mate, prices[LED, mate]
    at = other
    while at != top:
        mate = links[PARTNER, at]
        at = links[ABOVE, mate]
        links[PARTNER, mate], prices[COST, mate] = at, prices[LED, mate]


@compiled
def break_cycle(links: IntArray, prices: FloatArray, node: int) -> None:  # pragma: no cover - compiled
    """Pair up an odd cycle but for ``node``."""
    at = links[PARTNER, node]
    while at != node:
        mate = links[PARTNER, at]
        following = links[PARTNER, mate]
        links[PARTNER, mate], prices[COST, mate] = at, prices[COST, at]
        at = following


@compiled
def pair_up(  # noqa: PLR0912, PLR0915 - compiled code takes plain arrays by position
    start: IntArray,
    others: IntArray,
    apart: FloatArray,
    beyond: FloatArray,
    counts: IntArray,
) -> tuple[FloatArray, FloatArray, IntArray, IntArray, IntArray, FloatArray]:  # pragma: no cover - compiled
    """Move ever more individuals at the least cost, as staying becomes dearer.

    Individual i may pair up with ``others[start[i]:start[i + 1]]``, who are ``apart`` so much (ascending) and
    have i listed too, or settle at ``beyond[i]``.

    Returns of every number k of moved individuals ``added`` (n + 1,), the price of staying at which it is
    reached; ``change`` (n + 1,), by how much partners then cost more than before; ``settled`` (n + 1,), how
    many of the k are settled, which costs nothing here, -1: no partners belong to this number. Then, for each
    of ``counts`` ascending, the partners when first so many had some, and those in the end (m + 1, n). Then
    the prices' course: ``nodes`` (t,) and ``course`` (t, 2), the price of staying and theirs; between, they
    change evenly."""
    n = start.shape[0] - 1
    links = np.full((6, n), -1, dtype=np.int64)
    prices = np.zeros((5, n))
    added, change, settled = np.zeros(n + 1), np.zeros(n + 1), np.full(n + 1, -1, dtype=np.int64)
    settled[0] = 0
    partners = np.full((counts.shape[0] + 1, n), -1, dtype=np.int64)
    nodes, course = np.empty(4 * n + 64, dtype=np.int64), np.empty((4 * n + 64, 2))
    heap, waiting = np.empty(4 * n + 64), np.empty(4 * n + 64, dtype=np.int64)
    changing, wakened = np.arange(n), np.arange(n)
    moved, kept, loops, mark, now = 0, 0, 0, 0, 0.0
    for node in range(n):
        links[SIGN, node], links[ROOT, node] = 1, node
        nodes[node], course[node] = node, 0.0
        prices[KEY, node] = np.inf
    records, calls, size = n, n, 0
    while True:
        if size + calls >= heap.shape[0]:
            heap = np.concatenate((heap, np.empty(heap.shape[0] + calls)))
            waiting = np.concatenate((waiting, np.empty(heap.shape[0] - waiting.shape[0], dtype=np.int64)))
        for turn in range(calls):
            node = wakened[turn]
            soon, _, _ = next_tight(start, others, apart, beyond, links, prices, node, now)
            if soon < prices[KEY, node]:
                prices[KEY, node] = soon
                size = push(heap, waiting, size, soon, node)
        calls = 0
        if size == 0 or moved == n:
            break
        size = pop(heap, waiting, size)
        first = waiting[size]
        if heap[size] != prices[KEY, first]:
            continue
        prices[KEY, first] = np.inf
        now = max(now, heap[size])
        wakened[0], calls = first, 1
        soon, other, distance = next_tight(start, others, apart, beyond, links, prices, first, now)
        if soon > now:
            continue
        node = first
        if links[SIGN, node] == 0:
            node, other = other, node
        mate, changes = links[PARTNER, other], 0
        if other != node and links[SIGN, other] == 0 and mate != other and links[PARTNER, mate] == other:
            tree = links[ROOT, node]
            links[ABOVE, other], links[ROOT, other], links[ROOT, mate] = node, tree, tree
            prices[LED, other] = distance
            links[NEXT, mate], links[NEXT, other], links[NEXT, tree] = links[NEXT, tree], mate, other
            changing[0], changing[1], changes = other, mate, 2
            wakened[1], calls = mate, 2
        else:
            trees = 1
            for turn in range(2):
                tree = links[ROOT, node if turn == 0 else other]
                if tree >= 0 and (turn == 0 or tree != links[ROOT, node]):
                    trees = turn + 1
                    while tree >= 0:
                        changing[changes] = tree
                        changes += 1
                        tree = links[NEXT, tree]
            touched, at = changes, other
            while links[SIGN, at] == 0 and (touched == changes or at != other):
                changing[touched] = at
                touched += 1
                at = links[PARTNER, at]
            moved += trees
            for turn in range(touched):
                change[moved] -= prices[COST, changing[turn]]
            if links[ROOT, other] != links[ROOT, node]:
                loops -= mate == other
                lead_to(links, prices, node)
                if trees == 2:
                    lead_to(links, prices, other)
                else:
                    break_cycle(links, prices, other)
                links[PARTNER, node], links[PARTNER, other] = other, node
                prices[COST, node] = prices[COST, other] = distance
            elif other == node:
                loops += 1
                lead_to(links, prices, node)
                links[PARTNER, node], prices[COST, node] = node, 0.0
            else:
                mark += 1
                top = where_ways_meet(links, node, other, mark)
                close_cycle(links, prices, node, other, distance, top)
            for turn in range(touched):
                change[moved] += prices[COST, changing[turn]]
            added[moved - trees + 1 : moved + 1], settled[moved] = now, loops
        if records + changes >= nodes.shape[0]:
            nodes = np.concatenate((nodes, np.empty(nodes.shape[0] + changes, dtype=np.int64)))
            course = np.concatenate((course, np.empty((nodes.shape[0] - course.shape[0], 2))))
        for turn in range(changes):
            at = changing[turn]
            prices[VALUE, at] = price(links, prices, at, now)
            prices[SINCE, at] = now
            nodes[records], course[records, 0], course[records, 1] = at, now, prices[VALUE, at]
            records += 1
            if links[SIGN, at] != 0:
                if links[SIGN, at] < 0:
                    wakened[calls] = at
                    calls += 1
                links[SIGN, at], links[ROOT, at], links[NEXT, at], links[ABOVE, at] = 0, -1, -1, -1
            else:
                links[SIGN, at] = -1 if turn == 0 else 1
        while kept < counts.shape[0] and moved - loops >= counts[kept]:
            partners[kept] = links[PARTNER]
            kept += 1
    partners[-1] = links[PARTNER]
    return added, change, settled, partners, nodes[:records], course[:records]


@compiled
def largest_excess(  # noqa: PLR0917 - compiled code takes plain arrays by position
    start: IntArray,
    others: IntArray,
    apart: FloatArray,
    beyond: FloatArray,
    first: IntArray,
    course: FloatArray,
) -> float:  # pragma: no cover - compiled
    """By how much prices are too high for a certificate at most, anywhere on their course; not below 0.

    ``first`` (n + 1,): where each individual's part of ``course`` begins, which is by individual here. What
    two prices add up to changes evenly between the points of both, so that it is largest at one of these."""
    most = 0.0
    for node in range(start.shape[0] - 1):
        for point in range(first[node], first[node + 1]):
            most = max(most, 2.0 * course[point, 1] - min(course[point, 0], beyond[node]))
        for place in range(start[node], start[node + 1]):
            other = others[place]
            at, past = first[node], first[other]
            while past < first[other + 1]:
                now = course[past, 0]
                while at + 1 < first[node + 1] and course[at + 1, 0] <= now:
                    at += 1
                own = course[at, 1]
                if at + 1 < first[node + 1]:
                    share = (now - course[at, 0]) / (course[at + 1, 0] - course[at, 0])
                    own += share * (course[at + 1, 1] - course[at, 1])
                most = max(most, own + course[past, 1] - apart[place])
                past += 1
    return most
