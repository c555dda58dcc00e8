"""Clusters of customers who bought similar goods (P3 §3).

Everywhere ``baskets`` (n, goods) holds 1 where a customer bought a good and 0 elsewhere. A clustering is a
number for each customer, (n,): below ``clusters``, no number unused; ``OUTSIDE`` for customers who bought
nothing, who are like nobody. There is at least one cluster and none more than customers who bought something.
Of equally near clusters the lowest number, of equally near customers the lowest row is taken.
"""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from scipy.sparse import coo_array

from anoncup.geometry.arrays import FloatArray, IntArray, SparseCounts, SparseWeights
from anoncup.geometry.encoding import encode, texts, vocabulary_of
from anoncup.tracks.transactions.baskets import BLOCK, best, coefficients, totals, weighted
from anoncup.tracks.transactions.tables import TransactionTables

OUTSIDE = -1
ROUNDS = 50
"""Of a k-means that has not come to rest; on TC400 it does within 25."""

Nearest = tuple[IntArray, FloatArray]
"""The cluster nearest to every customer, (n,), and how like its centre he is, (n,)."""
Assign = Callable[[IntArray, int], Nearest]
"""Customers to the centres of the clusters given; customers outside have no part in a centre."""


def goods_sets(tables: TransactionTables) -> SparseCounts:
    """Who bought what at all: 0 or 1, (n, goods), the goods in the order of :func:`goods_codes`."""
    owner, goods = owners(tables), goods_codes(tables)
    shape = len(tables.customers), int(goods.max(initial=-1)) + 1
    return coo_array((np.ones_like(owner), (owner, goods)), shape=shape).tocsr().sign()


def owners(tables: TransactionTables) -> IntArray:
    """The customer's row in M of every record of T, (m,)."""
    rows = {name: row for row, name in enumerate(texts(tables.customers, "customer_id"))}
    return encode(texts(tables.transactions, "customer_id"), rows)


def goods_codes(tables: TransactionTables) -> IntArray:
    """The good of every record of T, (m,): its place among all goods in the order of their texts.

    So no sum depends on the order of the records.
    """
    cells = texts(tables.transactions, "goods")
    return encode(cells, vocabulary_of(sorted(set(cells))))


def representative_clusters(baskets: SparseCounts, clusters: int, *, rng: Generator) -> IntArray:
    """Random customers, and with each of them those whose goods are most like his (P3 §3.1)."""
    return _of_buyers(baskets, clusters, rng, _by_jaccard, rounds=1)


def jaccard_clusters(baskets: SparseCounts, clusters: int, *, rng: Generator) -> IntArray:
    """K-means with the Jaccard coefficient (P3 §3.2, the simple method).

    A centre is the mean of its members' baskets y; a customer's basket x is as like it as sum of min(x, y) /
    sum of max(x, y). Quotients of whole numbers: the same on every machine.
    """
    return _of_buyers(baskets, clusters, rng, _by_jaccard)


def tfidf_clusters(baskets: SparseCounts, clusters: int, *, rng: Generator) -> IntArray:
    """K-means with the cosine of TF-IDF weights (P3 Algorithm 3, Method 1).

    A good weighs ln(n / buyers) + 1; a centre is the mean of its members' vectors of length 1. (The term
    frequency is the same for all goods of a basket: it does not change a cosine.)
    """
    return _of_buyers(baskets, clusters, rng, _by_cosine)


def balanced_clusters(baskets: SparseCounts, cluster_of: IntArray, smallest: int) -> IntArray:
    """No cluster below min(``smallest``, floor(n / c)) customers (P3 Algorithm 4, Method 2).

    Small clusters in turn take, one by one, from the cluster that is the largest at that time the customer
    with the highest Jaccard coefficient with one of their own. The largest stays above the mean size, so it
    never becomes a small one. Customers outside stay there.
    """
    moved = cluster_of.copy()
    sizes = np.bincount(moved[moved >= 0])
    enough = min(smallest, int(sizes.sum()) // max(len(sizes), 1))
    likeness = _likeness_to(baskets)
    for small in np.flatnonzero(sizes < enough):
        _grow(moved, sizes, int(small), enough, likeness)
    return moved


def membership(cluster_of: IntArray, clusters: int) -> SparseCounts:
    """1 where a customer is in a cluster, (clusters, n)."""
    inside = np.flatnonzero(cluster_of >= 0)
    entries = np.ones_like(inside), (cluster_of[inside], inside)
    return coo_array(entries, shape=(clusters, len(cluster_of))).tocsr()


def _of_buyers(
    baskets: SparseCounts,
    clusters: int,
    rng: Generator,
    prepare: Callable[[SparseCounts, IntArray], Assign],
    rounds: int = ROUNDS,
) -> IntArray:
    buyers = np.flatnonzero(np.diff(baskets.indptr))
    cluster_of = np.full(baskets.shape[0], OUTSIDE, dtype=np.int64)
    if len(buyers):
        wanted = min(max(clusters, 1), len(buyers))
        cluster_of[buyers] = _k_means(prepare(baskets, buyers), len(buyers), wanted, rng, rounds)
    return cluster_of


def _k_means(assign: Assign, customers: int, clusters: int, rng: Generator, rounds: int) -> IntArray:
    """Centres from customers, customers to centres, until nobody moves."""
    cluster_of = np.full(customers, OUTSIDE, dtype=np.int64)
    cluster_of[rng.permutation(customers)[:clusters]] = np.arange(clusters)
    for _ in range(rounds):
        found = _refilled(*assign(cluster_of, clusters), clusters)
        if np.array_equal(found, cluster_of):
            break
        cluster_of = found
    return cluster_of


def _refilled(nearest: IntArray, likeness: FloatArray, clusters: int) -> IntArray:
    """Every empty cluster gets the customer least like his own centre who is not alone with it."""
    sizes = np.bincount(nearest, minlength=clusters)
    refilled = nearest.copy()
    strangers = iter(np.argsort(likeness, kind="stable"))
    for empty in np.flatnonzero(sizes == 0):
        stranger = next(row for row in strangers if sizes[nearest[row]] > 1)
        sizes[nearest[stranger]] -= 1
        refilled[stranger] = empty
    return refilled


def _by_jaccard(everybody: SparseCounts, buyers: IntArray) -> Assign:
    baskets = everybody[buyers]
    bought = totals(baskets)

    def assign(cluster_of: IntArray, clusters: int) -> Nearest:
        member = membership(cluster_of, clusters)
        centres, members = member @ baskets, totals(member)

        def likeness(rows: slice) -> FloatArray:
            shared = (baskets[rows] @ centres.T).toarray()
            return coefficients(shared, bought[rows, None] * members, totals(centres))

        return _nearest(likeness, len(buyers), clusters)

    return assign


def _by_cosine(everybody: SparseCounts, buyers: IntArray) -> Assign:
    vectors = _tfidf(everybody)[buyers]

    def assign(cluster_of: IntArray, clusters: int) -> Nearest:
        centres: SparseWeights = membership(cluster_of, clusters).astype(np.float64) @ vectors
        lengths = np.sqrt(centres.power(2).sum(axis=1))

        def likeness(rows: slice) -> FloatArray:
            return (vectors[rows] @ centres.T).toarray() / lengths

        return _nearest(likeness, len(buyers), clusters)

    return assign


def _tfidf(baskets: SparseCounts) -> SparseWeights:
    """Every basket as a vector of length 1."""
    customers, goods = baskets.shape
    buyers = np.bincount(baskets.indices, minlength=goods)
    vectors = weighted(baskets, np.log(customers / np.maximum(buyers, 1)) + 1.0)
    lengths = np.sqrt(vectors.power(2).sum(axis=1))
    vectors.data /= np.repeat(lengths, np.diff(vectors.indptr))
    return vectors


def _nearest(likeness: Callable[[slice], FloatArray], customers: int, clusters: int) -> Nearest:
    nearest, closeness = np.empty(customers, dtype=np.int64), np.empty(customers)
    step = max(BLOCK // clusters, 1)
    for first in range(0, customers, step):
        rows = slice(first, first + step)
        found = likeness(rows)
        nearest[rows] = best(found)
        closeness[rows] = np.take_along_axis(found, nearest[rows, None], axis=1)[:, 0]
    return nearest, closeness


def _likeness_to(baskets: SparseCounts) -> Callable[[int], FloatArray]:
    """The Jaccard coefficients of one customer with all, (n,)."""
    by_good, bought = baskets.T.tocsr(), totals(baskets)

    def likeness(customer: int) -> FloatArray:
        shared = (baskets[[customer]] @ by_good).toarray()[0]
        return coefficients(shared, bought[customer], bought)

    return likeness


def _grow(
    cluster_of: IntArray,
    sizes: IntArray,
    small: int,
    enough: int,
    likeness: Callable[[int], FloatArray],
) -> None:
    """Move customers into the cluster ``small`` until it has ``enough``, in the arrays given."""
    closest = np.zeros(len(cluster_of))
    for member in np.flatnonzero(cluster_of == small):
        closest = np.maximum(closest, likeness(int(member)))
    while sizes[small] < enough:
        largest = int(sizes.argmax())
        others = np.flatnonzero(cluster_of == largest)
        customer = int(others[closest[others].argmax()])
        cluster_of[customer] = small
        sizes[[small, largest]] += (1, -1)
        closest = np.maximum(closest, likeness(customer))
