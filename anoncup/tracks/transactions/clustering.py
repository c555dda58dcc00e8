"""Cluster customers who bought similar goods (P3 §3).

``baskets`` (n, goods) is 1 where a customer bought a good and 0 elsewhere. A clustering is a number for each
customer, (n,), below ``clusters`` and without gaps; ``NO_CLUSTER`` for customers who bought nothing and are
similar to nobody. There is at least one cluster, and at most as many as customers with purchases. Ties go to
the lowest cluster number and to the lowest customer row.
"""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from scipy.sparse import coo_array

from anoncup.geometry.arrays import FloatArray, IntArray, SparseCounts, SparseWeights
from anoncup.geometry.encoding import build_vocabulary, column_texts, encode
from anoncup.tracks.transactions.baskets import (
    MAX_PAIRS_PER_BLOCK,
    apply_weights,
    find_best,
    jaccard_coefficients,
    row_totals,
)
from anoncup.tracks.transactions.tables import TransactionTables

NO_CLUSTER = -1
_MAX_ROUNDS = 50
"""Limit for a k-means that does not converge; on TC400 it converges within 25 rounds."""

_NearestClusters = tuple[IntArray, FloatArray]
"""The nearest cluster of every customer, (n,), and his similarity to its centre, (n,)."""
_AssignToClusters = Callable[[IntArray, int], _NearestClusters]
"""Assigns customers to the nearest centre of given clusters; those without a cluster are in no centre."""


def build_goods_sets(tables: TransactionTables) -> SparseCounts:
    """Return 1 where a customer bought a good, else 0, (n, goods); goods as in :func:`encode_goods`."""
    owner, goods = encode_owners(tables), encode_goods(tables)
    shape = len(tables.customers), int(goods.max(initial=-1)) + 1
    return coo_array((np.ones_like(owner), (owner, goods)), shape=shape).tocsr().sign()


def encode_owners(tables: TransactionTables) -> IntArray:
    """Return the customer's row in M for every record of T, (m,)."""
    rows = {name: row for row, name in enumerate(column_texts(tables.customers, "customer_id"))}
    return encode(column_texts(tables.transactions, "customer_id"), rows)


def encode_goods(tables: TransactionTables) -> IntArray:
    """Return the good of every record of T, (m,): its position among all goods in the order of their texts.

    This order makes sums independent of the order of the records.
    """
    cells = column_texts(tables.transactions, "goods")
    return encode(cells, build_vocabulary(sorted(set(cells))))


def cluster_by_representatives(baskets: SparseCounts, clusters: int, *, rng: Generator) -> IntArray:
    """Choose random customers and add to each of them the customers with the most similar goods (P3 §3.1)."""
    return _cluster_buyers(baskets, clusters, rng, _assign_by_jaccard, rounds=1)


def cluster_by_jaccard(baskets: SparseCounts, clusters: int, *, rng: Generator) -> IntArray:
    """Cluster by k-means with the Jaccard coefficient (P3 §3.2, the simple method).

    A centre is the mean y of its members' baskets; the similarity of a customer's basket x is sum of min(x,
    y) / sum of max(x, y). These are quotients of whole numbers, so results are the same on every machine.
    """
    return _cluster_buyers(baskets, clusters, rng, _assign_by_jaccard)


def cluster_by_tfidf(baskets: SparseCounts, clusters: int, *, rng: Generator) -> IntArray:
    """Cluster by k-means with the cosine of TF-IDF weights (P3 Algorithm 3, Method 1).

    The weight of a good is ln(n / buyers) + 1; a centre is the mean of its members' vectors of length 1. (The
    term frequency is the same for all goods of a basket, so it does not change a cosine.)
    """
    return _cluster_buyers(baskets, clusters, rng, _assign_by_cosine)


def balance_cluster_sizes(baskets: SparseCounts, cluster_of: IntArray, smallest: int) -> IntArray:
    """Enlarge clusters below min(``smallest``, floor(n / c)) customers (P3 Algorithm 4, Method 2).

    Small clusters in turn take customers, one by one, from the currently largest cluster: the customer with
    the highest Jaccard coefficient with one of their own. The largest cluster stays above the mean size, so
    it never becomes a small one. Customers without a cluster stay without.
    """
    balanced = cluster_of.copy()
    sizes = np.bincount(balanced[balanced >= 0])
    min_size = min(smallest, int(sizes.sum()) // max(len(sizes), 1))
    compute_similarity = _make_similarity(baskets)
    for cluster in np.flatnonzero(sizes < min_size):
        _grow_cluster(balanced, sizes, int(cluster), min_size, compute_similarity)
    return balanced


def membership_matrix(cluster_of: IntArray, clusters: int) -> SparseCounts:
    """Return 1 where a customer is in a cluster, (clusters, n)."""
    members = np.flatnonzero(cluster_of >= 0)
    entries = np.ones_like(members), (cluster_of[members], members)
    return coo_array(entries, shape=(clusters, len(cluster_of))).tocsr()


def _cluster_buyers(
    baskets: SparseCounts,
    clusters: int,
    rng: Generator,
    prepare: Callable[[SparseCounts, IntArray], _AssignToClusters],
    rounds: int = _MAX_ROUNDS,
) -> IntArray:
    buyers = np.flatnonzero(np.diff(baskets.indptr))
    cluster_of = np.full(baskets.shape[0], NO_CLUSTER, dtype=np.int64)
    if len(buyers):
        cluster_count = min(max(clusters, 1), len(buyers))
        cluster_of[buyers] = _run_k_means(prepare(baskets, buyers), len(buyers), cluster_count, rng, rounds)
    return cluster_of


def _run_k_means(
    assign: _AssignToClusters, customers: int, clusters: int, rng: Generator, rounds: int
) -> IntArray:
    """Compute centres and assign customers to them until nobody moves."""
    cluster_of = np.full(customers, NO_CLUSTER, dtype=np.int64)
    cluster_of[rng.permutation(customers)[:clusters]] = np.arange(clusters)
    for _ in range(rounds):
        new_cluster_of = _refill_empty_clusters(*assign(cluster_of, clusters), clusters)
        if np.array_equal(new_cluster_of, cluster_of):
            break
        cluster_of = new_cluster_of
    return cluster_of


def _refill_empty_clusters(nearest: IntArray, similarity: FloatArray, clusters: int) -> IntArray:
    """Give every empty cluster the customer who is least similar to his own centre and not alone with it."""
    sizes = np.bincount(nearest, minlength=clusters)
    cluster_of = nearest.copy()
    outliers = iter(np.argsort(similarity, kind="stable"))
    for empty_cluster in np.flatnonzero(sizes == 0):
        outlier = next(row for row in outliers if sizes[nearest[row]] > 1)
        sizes[nearest[outlier]] -= 1
        cluster_of[outlier] = empty_cluster
    return cluster_of


def _assign_by_jaccard(all_baskets: SparseCounts, buyers: IntArray) -> _AssignToClusters:
    baskets = all_baskets[buyers]
    basket_sizes = row_totals(baskets)

    def assign(cluster_of: IntArray, clusters: int) -> _NearestClusters:
        is_member = membership_matrix(cluster_of, clusters)
        centres, cluster_sizes = is_member @ baskets, row_totals(is_member)

        def compute_similarity(rows: slice) -> FloatArray:
            shared = (baskets[rows] @ centres.T).toarray()
            return jaccard_coefficients(shared, basket_sizes[rows, None] * cluster_sizes, row_totals(centres))

        return _find_nearest(compute_similarity, len(buyers), clusters)

    return assign


def _assign_by_cosine(all_baskets: SparseCounts, buyers: IntArray) -> _AssignToClusters:
    vectors = _compute_tfidf(all_baskets)[buyers]

    def assign(cluster_of: IntArray, clusters: int) -> _NearestClusters:
        centres: SparseWeights = membership_matrix(cluster_of, clusters).astype(np.float64) @ vectors
        norms = np.sqrt(centres.power(2).sum(axis=1))

        def compute_similarity(rows: slice) -> FloatArray:
            return (vectors[rows] @ centres.T).toarray() / norms

        return _find_nearest(compute_similarity, len(buyers), clusters)

    return assign


def _compute_tfidf(baskets: SparseCounts) -> SparseWeights:
    """Return every basket as a vector of TF-IDF weights with length 1."""
    customers, goods = baskets.shape
    buyers = np.bincount(baskets.indices, minlength=goods)
    vectors = apply_weights(baskets, np.log(customers / np.maximum(buyers, 1)) + 1.0)
    norms = np.sqrt(vectors.power(2).sum(axis=1))
    vectors.data /= np.repeat(norms, np.diff(vectors.indptr))
    return vectors


def _find_nearest(
    compute_similarity: Callable[[slice], FloatArray], customers: int, clusters: int
) -> _NearestClusters:
    nearest, similarity_to_nearest = np.empty(customers, dtype=np.int64), np.empty(customers)
    step = max(MAX_PAIRS_PER_BLOCK // clusters, 1)
    for first in range(0, customers, step):
        rows = slice(first, first + step)
        similarities = compute_similarity(rows)
        nearest[rows] = find_best(similarities)
        similarity_to_nearest[rows] = np.take_along_axis(similarities, nearest[rows, None], axis=1)[:, 0]
    return nearest, similarity_to_nearest


def _make_similarity(baskets: SparseCounts) -> Callable[[int], FloatArray]:
    """Return a function for the Jaccard coefficients of one customer with all customers, (n,)."""
    baskets_by_good, basket_sizes = baskets.T.tocsr(), row_totals(baskets)

    def compute_similarity(customer: int) -> FloatArray:
        shared = (baskets[[customer]] @ baskets_by_good).toarray()[0]
        return jaccard_coefficients(shared, basket_sizes[customer], basket_sizes)

    return compute_similarity


def _grow_cluster(
    cluster_of: IntArray,
    sizes: IntArray,
    cluster: int,
    min_size: int,
    compute_similarity: Callable[[int], FloatArray],
) -> None:
    """Move customers into ``cluster`` until it has ``min_size`` members; changes the given arrays."""
    best_similarity = np.zeros(len(cluster_of))
    for member in np.flatnonzero(cluster_of == cluster):
        best_similarity = np.maximum(best_similarity, compute_similarity(int(member)))
    while sizes[cluster] < min_size:
        largest = int(sizes.argmax())
        candidates = np.flatnonzero(cluster_of == largest)
        customer = int(candidates[best_similarity[candidates].argmax()])
        cluster_of[customer] = cluster
        sizes[[cluster, largest]] += (1, -1)
        best_similarity = np.maximum(best_similarity, compute_similarity(customer))
