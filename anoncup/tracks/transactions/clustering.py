"""Cluster customers who bought similar goods (P3 §3; ``anoncup.tracks`` lists the papers).

``baskets`` (n, goods) is 1 if a customer bought a good, else 0. A clustering gives each customer a cluster
number, (n,), from 0 and without gaps. Customers who bought nothing are similar to nobody and get
``NO_CLUSTER``. There is at least one cluster, and at most one for each customer with purchases. Ties go to
the lowest cluster number and to the first customer.
"""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from scipy.sparse import coo_array

from anoncup.geometry.arrays import FloatArray, IntArray, SparseCounts, SparseWeights
from anoncup.geometry.encoding import build_vocabulary, encode, get_column_texts
from anoncup.tracks.transactions.baskets import (
    MAX_PAIRS_PER_BLOCK,
    apply_weights,
    find_best_columns,
    jaccard_coefficients,
    sum_rows,
)
from anoncup.tracks.transactions.tables import TransactionTables

NO_CLUSTER = -1
_MAX_ROUNDS = 50
"""Limit for a k-means that does not converge. On TC400 it converges within 25 rounds."""

_NearestClusters = tuple[IntArray, FloatArray]
"""The nearest cluster of every customer, (n,), and the similarity to its centre, (n,)."""
_AssignToClusters = Callable[[IntArray, int], _NearestClusters]
"""Assigns customers to the nearest centre of the given clusters.

Customers without a cluster contribute to no centre.
"""


def build_purchase_matrix(tables: TransactionTables) -> SparseCounts:
    """Return 1 if a customer bought a good, else 0, (n, goods), with goods as in :func:`encode_goods`."""
    owner, goods = encode_customers(tables), encode_goods(tables)
    shape = len(tables.customers), int(goods.max(initial=-1)) + 1
    return coo_array((np.ones_like(owner), (owner, goods)), shape=shape).tocsr().sign()


def encode_customers(tables: TransactionTables) -> IntArray:
    """Return the customer's row in M for every record of T, (m,)."""
    rows = {name: row for row, name in enumerate(get_column_texts(tables.customers, "customer_id"))}
    return encode(get_column_texts(tables.transactions, "customer_id"), rows)


def encode_goods(tables: TransactionTables) -> IntArray:
    """Return the good of every record of T, (m,), as a position among all goods in alphabetical order.

    Alphabetical order makes sums independent of the order of the records.
    """
    cells = get_column_texts(tables.transactions, "goods")
    return encode(cells, build_vocabulary(sorted(set(cells))))


def cluster_by_representatives(baskets: SparseCounts, cluster_count: int, *, rng: Generator) -> IntArray:
    """Choose random customers as centres and assign all others to the most similar one (P3 §3.1)."""
    return _cluster_buyers(baskets, cluster_count, rng, _make_jaccard_assigner, rounds=1)


def cluster_by_jaccard(baskets: SparseCounts, cluster_count: int, *, rng: Generator) -> IntArray:
    """Cluster by k-means with the Jaccard coefficient (P3 §3.2, the simple method).

    A centre y is the mean of its members' baskets. The similarity of a basket x to it is the sum of min(x, y)
    divided by the sum of max(x, y). These are quotients of whole numbers, so results are the same on every
    machine.
    """
    return _cluster_buyers(baskets, cluster_count, rng, _make_jaccard_assigner)


def cluster_by_tfidf(baskets: SparseCounts, cluster_count: int, *, rng: Generator) -> IntArray:
    """Cluster by k-means with the cosine of TF-IDF weights (P3 Algorithm 3, Method 1).

    The weight of a good is ln(n / buyers) + 1; a centre is the mean of its members' vectors of length 1. (The
    term frequency is the same for all goods of a basket, so it does not change a cosine.)
    """
    return _cluster_buyers(baskets, cluster_count, rng, _make_cosine_assigner)


def balance_cluster_sizes(baskets: SparseCounts, cluster_of: IntArray, requested_size: int) -> IntArray:
    """Enlarge clusters to min(``requested_size``, floor(n / c)) customers (P3 Algorithm 4, Method 2).

    Each small cluster in turn takes customers, one by one, from the cluster that is largest at the time. It
    takes the customer with the highest Jaccard coefficient with one of its members. The largest cluster is
    always above the mean size, so it never becomes too small. Customers without a cluster stay without one.
    """
    balanced = cluster_of.copy()
    sizes = np.bincount(balanced[balanced >= 0])
    min_size = min(requested_size, int(sizes.sum()) // max(len(sizes), 1))
    compute_similarity = _make_similarity_function(baskets)
    for cluster in np.flatnonzero(sizes < min_size):
        _grow_cluster(balanced, sizes, int(cluster), min_size, compute_similarity)
    return balanced


def build_membership_matrix(cluster_of: IntArray, cluster_count: int) -> SparseCounts:
    """Return 1 if a customer is in a cluster, else 0, (clusters, n)."""
    members = np.flatnonzero(cluster_of >= 0)
    entries = np.ones_like(members), (cluster_of[members], members)
    return coo_array(entries, shape=(cluster_count, len(cluster_of))).tocsr()


def _cluster_buyers(
    baskets: SparseCounts,
    requested_count: int,
    rng: Generator,
    make_assigner: Callable[[SparseCounts, IntArray], _AssignToClusters],
    rounds: int = _MAX_ROUNDS,
) -> IntArray:
    buyers = np.flatnonzero(np.diff(baskets.indptr))
    cluster_of = np.full(baskets.shape[0], NO_CLUSTER, dtype=np.int64)
    if len(buyers):
        cluster_count = min(max(requested_count, 1), len(buyers))
        cluster_of[buyers] = _run_k_means(
            make_assigner(baskets, buyers), len(buyers), cluster_count, rng, rounds
        )
    return cluster_of


def _run_k_means(
    assign: _AssignToClusters, customer_count: int, cluster_count: int, rng: Generator, rounds: int
) -> IntArray:
    """Compute centres and assign customers to them until nobody moves."""
    cluster_of = np.full(customer_count, NO_CLUSTER, dtype=np.int64)
    cluster_of[rng.permutation(customer_count)[:cluster_count]] = np.arange(cluster_count)
    for _ in range(rounds):
        new_cluster_of = _fill_empty_clusters(*assign(cluster_of, cluster_count), cluster_count)
        if np.array_equal(new_cluster_of, cluster_of):
            break
        cluster_of = new_cluster_of
    return cluster_of


def _fill_empty_clusters(nearest: IntArray, similarity: FloatArray, cluster_count: int) -> IntArray:
    """Fill each empty cluster with the customer who is least similar to their own centre.

    Customers who are alone in their cluster stay there.
    """
    sizes = np.bincount(nearest, minlength=cluster_count)
    cluster_of = nearest.copy()
    outliers = iter(np.argsort(similarity, kind="stable"))
    for empty_cluster in np.flatnonzero(sizes == 0):
        outlier = next(row for row in outliers if sizes[nearest[row]] > 1)
        sizes[nearest[outlier]] -= 1
        cluster_of[outlier] = empty_cluster
    return cluster_of


def _make_jaccard_assigner(all_baskets: SparseCounts, buyers: IntArray) -> _AssignToClusters:
    baskets = all_baskets[buyers]
    basket_sizes = sum_rows(baskets)

    def assign(cluster_of: IntArray, cluster_count: int) -> _NearestClusters:
        is_member = build_membership_matrix(cluster_of, cluster_count)
        centres, cluster_sizes = is_member @ baskets, sum_rows(is_member)

        def compute_similarity(rows: slice) -> FloatArray:
            shared = (baskets[rows] @ centres.T).toarray()
            return jaccard_coefficients(shared, basket_sizes[rows, None] * cluster_sizes, sum_rows(centres))

        return _find_nearest_clusters(compute_similarity, len(buyers), cluster_count)

    return assign


def _make_cosine_assigner(all_baskets: SparseCounts, buyers: IntArray) -> _AssignToClusters:
    vectors = _compute_tfidf(all_baskets)[buyers]

    def assign(cluster_of: IntArray, cluster_count: int) -> _NearestClusters:
        centres: SparseWeights = (
            build_membership_matrix(cluster_of, cluster_count).astype(np.float64) @ vectors
        )
        norms = np.sqrt(centres.power(2).sum(axis=1))

        def compute_similarity(rows: slice) -> FloatArray:
            return (vectors[rows] @ centres.T).toarray() / norms

        return _find_nearest_clusters(compute_similarity, len(buyers), cluster_count)

    return assign


def _compute_tfidf(baskets: SparseCounts) -> SparseWeights:
    """Return every basket as a vector of TF-IDF weights with length 1."""
    customers, goods = baskets.shape
    buyers = np.bincount(baskets.indices, minlength=goods)
    vectors = apply_weights(baskets, np.log(customers / np.maximum(buyers, 1)) + 1.0)
    norms = np.sqrt(vectors.power(2).sum(axis=1))
    vectors.data /= np.repeat(norms, np.diff(vectors.indptr))
    return vectors


def _find_nearest_clusters(
    compute_similarity: Callable[[slice], FloatArray], customer_count: int, cluster_count: int
) -> _NearestClusters:
    nearest, similarity_to_nearest = np.empty(customer_count, dtype=np.int64), np.empty(customer_count)
    step = max(MAX_PAIRS_PER_BLOCK // cluster_count, 1)
    for first in range(0, customer_count, step):
        rows = slice(first, first + step)
        similarities = compute_similarity(rows)
        nearest[rows] = find_best_columns(similarities)
        similarity_to_nearest[rows] = np.take_along_axis(similarities, nearest[rows, None], axis=1)[:, 0]
    return nearest, similarity_to_nearest


def _make_similarity_function(baskets: SparseCounts) -> Callable[[int], FloatArray]:
    """Return a function that computes the Jaccard coefficients of one customer with all, (n,)."""
    baskets_by_good, basket_sizes = baskets.T.tocsr(), sum_rows(baskets)

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
    """Move customers into ``cluster`` until it has ``min_size`` members; the given arrays are modified."""
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
