"""Kernels that pair individuals at every price of staying in place, and verify the prices.

Prices y of individuals prove a lower bound at a stay price s if y_i + y_j <= D_ij and 2 y_i <= s for
everybody (see ``excessive.sparse_bounds``). Everybody who still stays is the root of an alternating tree. As
s rises, the prices of a tree's members change at half its speed. They rise at the root and at every second
level, and fall at the levels between, so that the sums of the tree's own pairs are constant. When two prices
add up to a distance, the tree ends, grows by a pair, or breaks the odd cycle to which the other individual
belongs.
"""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.assignment import pop, push
from anoncup.geometry.kernels.compilation import compile_loop

SIGN, PARTNER, PARENT, ROOT, NEXT_MEMBER, LAST_VISIT = range(6)
"""Rows of ``links`` (6, n):

- SIGN: whether the individual's price rises (1), falls (-1) or is constant (0).
- PARTNER: the individual whose place is taken (in a cycle, the next member), or -1 if the individual stays.
  An individual that is its own partner is settled at the cost of an unlisted neighbour.
- PARENT: the preceding node in the tree, for members with falling prices.
- ROOT: the root of the tree, or -1.
- SIBLING: the next member in the list of all members of the tree, which begins at the root.
- VISIT: number of the last search for a common ancestor that passed the individual.
"""
PRICE, CHANGED_AT, NEXT_EVENT, PARTNER_DISTANCE, PARENT_DISTANCE = range(5)
"""Rows of ``prices`` (5, n):

- PRICE: the individual's price at the last change of SIGN.
- CHANGED_AT: the stay price at that time.
- NEXT_EVENT: the stay price at which the individual's pairs must be examined again.
- PARTNER_DISTANCE: the distance to PARTNER, 0 if the individual has no other partner.
- PARENT_DISTANCE: the distance to PARENT.
"""


@compile_loop
def compute_price(
    links: IntArray, prices: FloatArray, node: int, stay_price: float
) -> float:  # pragma: no cover - compiled
    """Return the individual's price at ``stay_price``."""
    return float(prices[PRICE, node] + 0.5 * links[SIGN, node] * (stay_price - prices[CHANGED_AT, node]))


@compile_loop
def find_next_event(  # noqa: PLR0917 - compiled code takes plain arrays by position
    start: IntArray,
    neighbours: IntArray,
    distances: FloatArray,
    unlisted_bounds: FloatArray,
    links: IntArray,
    prices: FloatArray,
    node: int,
    stay_price: float,
) -> tuple[float, int, float]:  # pragma: no cover - compiled
    """Return the stay price at which a pair of ``node`` first becomes tight, the neighbour, and the distance.

    A pair is tight if its two prices add up to its distance. If the neighbour is ``node`` itself, its price
    reaches half of ``unlisted_bounds``. An individual with a rising price is compared with all others, one
    with a constant price only with those whose prices rise. Neighbours are sorted by distance, and no price
    exceeds half of the stay price, so the search ends at the first neighbour that is too far away.
    """
    sign = links[SIGN, node]
    own_price = compute_price(links, prices, node, stay_price)
    best_stay_price, partner, distance = np.inf, -1, 0.0
    if sign < 0:
        return best_stay_price, partner, distance
    if sign > 0:
        best_stay_price = max(stay_price, stay_price + (unlisted_bounds[node] - 2.0 * own_price))
        partner = node
    for entry in range(start[node], start[node + 1]):
        earliest = (
            distances[entry] - own_price + 0.5 * stay_price
            if sign > 0
            else 2.0 * (distances[entry] - own_price)
        )
        if earliest >= best_stay_price:
            break
        neighbour = neighbours[entry]
        joint_sign = sign + links[SIGN, neighbour]
        if links[SIGN, neighbour] < 0 or joint_sign == 0:
            continue
        slack = max(distances[entry] - own_price - compute_price(links, prices, neighbour, stay_price), 0.0)
        if stay_price + 2.0 * slack / joint_sign < best_stay_price:
            best_stay_price = stay_price + 2.0 * slack / joint_sign
            partner = neighbour
            distance = distances[entry]
    return best_stay_price, partner, distance


@compile_loop
def augment_path(links: IntArray, prices: FloatArray, node: int) -> None:  # pragma: no cover - compiled
    """Exchange partners on the path from a tree's root to ``node``; only ``node`` loses its partner."""
    partner = links[PARTNER, node]
    while partner >= 0:
        parent = links[PARENT, partner]
        next_partner = links[PARTNER, parent]
        links[PARTNER, partner], links[PARTNER, parent] = parent, partner
        prices[PARTNER_DISTANCE, partner] = prices[PARTNER_DISTANCE, parent] = prices[
            PARENT_DISTANCE, partner
        ]
        partner = next_partner


@compile_loop
def find_common_ancestor(
    links: IntArray, node: int, other_node: int, visit: int
) -> int:  # pragma: no cover - compiled
    """Return the first individual with a rising price that is on the paths of both nodes to the root."""
    while True:
        links[LAST_VISIT, node] = visit
        if links[PARTNER, node] < 0:
            break
        node = links[PARENT, links[PARTNER, node]]
    while links[LAST_VISIT, other_node] != visit:
        other_node = links[PARENT, links[PARTNER, other_node]]
    return other_node


@compile_loop
def close_cycle(  # noqa: PLR0917 - compiled code takes plain arrays by position
    links: IntArray, prices: FloatArray, node: int, other_node: int, distance: float, ancestor: int
) -> None:  # pragma: no cover - compiled
    """Join the paths from two members of a tree to their common ``ancestor`` into an odd cycle."""
    augment_path(links, prices, ancestor)
    current, predecessor = node, other_node
    while True:
        partner = links[PARTNER, current]
        links[PARTNER, current], prices[PARTNER_DISTANCE, current] = predecessor, distance
        if current == ancestor:
            break
        links[PARTNER, partner] = current
        current, predecessor, distance = links[PARENT, partner], partner, prices[PARENT_DISTANCE, partner]
    current = other_node
    while current != ancestor:
        partner = links[PARTNER, current]
        current = links[PARENT, partner]
        links[PARTNER, partner], prices[PARTNER_DISTANCE, partner] = current, prices[PARENT_DISTANCE, partner]


@compile_loop
def break_cycle(links: IntArray, prices: FloatArray, node: int) -> None:  # pragma: no cover - compiled
    """Pair up the members of an odd cycle except ``node``."""
    current = links[PARTNER, node]
    while current != node:
        partner = links[PARTNER, current]
        next_member = links[PARTNER, partner]
        links[PARTNER, partner] = current
        prices[PARTNER_DISTANCE, partner] = prices[PARTNER_DISTANCE, current]
        current = next_member


@compile_loop
def pair_up(  # noqa: PLR0912, PLR0915 - compiled code takes plain arrays by position
    start: IntArray,
    neighbours: IntArray,
    distances: FloatArray,
    unlisted_bounds: FloatArray,
    counts: IntArray,
) -> tuple[FloatArray, FloatArray, IntArray, IntArray, IntArray, FloatArray]:  # pragma: no cover - compiled
    """Move more and more individuals at the least cost as the price of staying rises.

    Individual i may pair up with ``neighbours[start[i]:start[i + 1]]`` at ascending ``distances``, which must
    list i too, or settle at ``unlisted_bounds[i]``.

    Returns for every number k of moved individuals:

    - ``stay_prices`` (n + 1,): the stay price at which k is reached.
    - ``cost_changes`` (n + 1,): the increase of the partners' cost.
    - ``settled_counts`` (n + 1,): how many of the k are settled, at no cost here; -1 if no partners exist for
      this k.

    Then ``partners`` (m + 1, n): the partners when so many individuals first had one, for each of the
    ascending ``counts``, and those at the end. Then the path of prices, which are linear between its points:
    ``path_nodes`` (t,), the individuals, and ``path_points`` (t, 2), stay price and individual's price.
    """
    n = start.shape[0] - 1
    links = np.full((6, n), -1, dtype=np.int64)
    prices = np.zeros((5, n))
    stay_prices = np.zeros(n + 1)
    cost_changes = np.zeros(n + 1)
    settled_counts = np.full(n + 1, -1, dtype=np.int64)
    settled_counts[0] = 0
    partners = np.full((counts.shape[0] + 1, n), -1, dtype=np.int64)
    path_nodes, path_points = np.empty(4 * n + 64, dtype=np.int64), np.empty((4 * n + 64, 2))
    heap, heap_nodes = np.empty(4 * n + 64), np.empty(4 * n + 64, dtype=np.int64)
    changed_nodes, woken_nodes = np.arange(n), np.arange(n)
    moved, stored, settled_count, visit, stay_price = 0, 0, 0, 0, 0.0
    for node in range(n):
        links[SIGN, node], links[ROOT, node] = 1, node
        path_nodes[node], path_points[node] = node, 0.0
        prices[NEXT_EVENT, node] = np.inf
    path_length, woken_count, heap_size = n, n, 0
    while True:
        if heap_size + woken_count >= heap.shape[0]:
            heap = np.concatenate((heap, np.empty(heap.shape[0] + woken_count)))
            heap_nodes = np.concatenate(
                (heap_nodes, np.empty(heap.shape[0] - heap_nodes.shape[0], dtype=np.int64))
            )
        for index in range(woken_count):
            node = woken_nodes[index]
            event_price, _, _ = find_next_event(
                start, neighbours, distances, unlisted_bounds, links, prices, node, stay_price
            )
            if event_price < prices[NEXT_EVENT, node]:
                prices[NEXT_EVENT, node] = event_price
                heap_size = push(heap, heap_nodes, heap_size, event_price, node)
        woken_count = 0
        if heap_size == 0 or moved == n:
            break
        heap_size = pop(heap, heap_nodes, heap_size)
        event_node = heap_nodes[heap_size]
        if heap[heap_size] != prices[NEXT_EVENT, event_node]:
            continue
        prices[NEXT_EVENT, event_node] = np.inf
        stay_price = max(stay_price, heap[heap_size])
        woken_nodes[0], woken_count = event_node, 1
        event_price, neighbour, distance = find_next_event(
            start, neighbours, distances, unlisted_bounds, links, prices, event_node, stay_price
        )
        if event_price > stay_price:
            continue
        node = event_node
        if links[SIGN, node] == 0:
            node, neighbour = neighbour, node
        partner, changed_count = links[PARTNER, neighbour], 0
        if (
            neighbour != node
            and links[SIGN, neighbour] == 0
            and partner != neighbour
            and links[PARTNER, partner] == neighbour
        ):
            root = links[ROOT, node]
            links[PARENT, neighbour], links[ROOT, neighbour], links[ROOT, partner] = node, root, root
            prices[PARENT_DISTANCE, neighbour] = distance
            links[NEXT_MEMBER, partner] = links[NEXT_MEMBER, root]
            links[NEXT_MEMBER, neighbour] = partner
            links[NEXT_MEMBER, root] = neighbour
            changed_nodes[0], changed_nodes[1], changed_count = neighbour, partner, 2
            woken_nodes[1], woken_count = partner, 2
        else:
            tree_count = 1
            for index in range(2):
                root = links[ROOT, node if index == 0 else neighbour]
                if root >= 0 and (index == 0 or root != links[ROOT, node]):
                    tree_count = index + 1
                    while root >= 0:
                        changed_nodes[changed_count] = root
                        changed_count += 1
                        root = links[NEXT_MEMBER, root]
            touched_count, current = changed_count, neighbour
            while links[SIGN, current] == 0 and (touched_count == changed_count or current != neighbour):
                changed_nodes[touched_count] = current
                touched_count += 1
                current = links[PARTNER, current]
            moved += tree_count
            for index in range(touched_count):
                cost_changes[moved] -= prices[PARTNER_DISTANCE, changed_nodes[index]]
            if links[ROOT, neighbour] != links[ROOT, node]:
                settled_count -= partner == neighbour
                augment_path(links, prices, node)
                if tree_count == 2:
                    augment_path(links, prices, neighbour)
                else:
                    break_cycle(links, prices, neighbour)
                links[PARTNER, node], links[PARTNER, neighbour] = neighbour, node
                prices[PARTNER_DISTANCE, node] = prices[PARTNER_DISTANCE, neighbour] = distance
            elif neighbour == node:
                settled_count += 1
                augment_path(links, prices, node)
                links[PARTNER, node], prices[PARTNER_DISTANCE, node] = node, 0.0
            else:
                visit += 1
                ancestor = find_common_ancestor(links, node, neighbour, visit)
                close_cycle(links, prices, node, neighbour, distance, ancestor)
            for index in range(touched_count):
                cost_changes[moved] += prices[PARTNER_DISTANCE, changed_nodes[index]]
            stay_prices[moved - tree_count + 1 : moved + 1], settled_counts[moved] = stay_price, settled_count
        if path_length + changed_count >= path_nodes.shape[0]:
            path_nodes = np.concatenate(
                (path_nodes, np.empty(path_nodes.shape[0] + changed_count, dtype=np.int64))
            )
            path_points = np.concatenate(
                (path_points, np.empty((path_nodes.shape[0] - path_points.shape[0], 2)))
            )
        for index in range(changed_count):
            current = changed_nodes[index]
            prices[PRICE, current] = compute_price(links, prices, current, stay_price)
            prices[CHANGED_AT, current] = stay_price
            path_nodes[path_length] = current
            path_points[path_length, 0] = stay_price
            path_points[path_length, 1] = prices[PRICE, current]
            path_length += 1
            if links[SIGN, current] != 0:
                if links[SIGN, current] < 0:
                    woken_nodes[woken_count] = current
                    woken_count += 1
                links[SIGN, current] = 0
                links[ROOT, current] = -1
                links[NEXT_MEMBER, current] = -1
                links[PARENT, current] = -1
            else:
                links[SIGN, current] = -1 if index == 0 else 1
        while stored < counts.shape[0] and moved - settled_count >= counts[stored]:
            partners[stored] = links[PARTNER]
            stored += 1
    partners[-1] = links[PARTNER]
    return (
        stay_prices,
        cost_changes,
        settled_counts,
        partners,
        path_nodes[:path_length],
        path_points[:path_length],
    )


@compile_loop
def find_largest_violation(  # noqa: PLR0917 - compiled code takes plain arrays by position
    start: IntArray,
    neighbours: IntArray,
    distances: FloatArray,
    unlisted_bounds: FloatArray,
    path_starts: IntArray,
    path_points: FloatArray,
) -> float:  # pragma: no cover - compiled
    """Return the largest amount by which prices violate their conditions anywhere on their path; at least 0.

    ``path_points`` are sorted by individual; ``path_starts`` (n + 1,) are the positions at which each
    individual's points begin. The sum of two prices is linear between the points of both, so it is largest at
    one of these points.
    """
    violation = 0.0
    for node in range(start.shape[0] - 1):
        for point in range(path_starts[node], path_starts[node + 1]):
            violation = max(
                violation, 2.0 * path_points[point, 1] - min(path_points[point, 0], unlisted_bounds[node])
            )
        for entry in range(start[node], start[node + 1]):
            neighbour = neighbours[entry]
            own_point, other_point = path_starts[node], path_starts[neighbour]
            while other_point < path_starts[neighbour + 1]:
                stay_price = path_points[other_point, 0]
                while own_point + 1 < path_starts[node + 1] and path_points[own_point + 1, 0] <= stay_price:
                    own_point += 1
                own_price = path_points[own_point, 1]
                if own_point + 1 < path_starts[node + 1]:
                    share = (stay_price - path_points[own_point, 0]) / (
                        path_points[own_point + 1, 0] - path_points[own_point, 0]
                    )
                    own_price += share * (path_points[own_point + 1, 1] - path_points[own_point, 1])
                violation = max(violation, own_price + path_points[other_point, 1] - distances[entry])
                other_point += 1
    return violation
