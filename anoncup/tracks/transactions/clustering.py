"""Cluster customers who bought similar goods (P3 §3; ``anoncup.tracks`` lists the papers).

``baskets`` (n, goods) is 1 if a customer bought a good, else 0. A clustering X = {x_1, …, x_c} gives each
customer a cluster number, (n,), from 0 and without gaps. Customers who bought nothing are similar to nobody
and get ``NO_CLUSTER``. There is at least one cluster, and at most one for each customer with purchases. Ties
go to the lowest cluster number and to the first customer.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from anoncup.geometry.arrays import FloatArray, IntArray, SparseCounts
from anoncup.geometry.encoding import factorize, get_column_texts
from anoncup.tracks.transactions.baskets import (
    MAX_PAIRS_PER_BLOCK,
    build_incidence_matrix,
    compute_goods_weights,
    find_best_columns,
    jaccard_coefficients,
    sum_rows,
    weigh_baskets,
)
from anoncup.tracks.transactions.tables import TransactionTables

NO_CLUSTER = -1
_MAX_ROUNDS = 50
"""Limit for a k-means that does not converge. On TC400 it converges within 25 rounds."""

_Vectors: TypeAlias = "csr_array[Any, tuple[int, int]]"
_CompareWithCentres = Callable[[_Vectors, _Vectors, IntArray], FloatArray]
"""``compare(vectors, sums, sizes)`` returns the similarity of vectors to the centres, (vectors, clusters).

A centre is the mean of its cluster: the sum of the members' vectors, divided by the size of the cluster.
"""


def build_purchase_matrix(tables: TransactionTables) -> SparseCounts:
    """Return 1 if a customer bought a good, else 0, (n, goods), with the goods of ``list_goods``."""
    ids, goods = get_column_texts(tables.customers, "customer_id"), list_goods(tables)
    owner, _ = factorize(tables.transactions["customer_id"], ids)
    goods_numbers, _ = factorize(tables.transactions["goods"], goods)
    return build_incidence_matrix(owner, goods_numbers, (len(ids), len(goods)))


def list_goods(tables: TransactionTables) -> list[str]:
    """Return the goods of T. Alphabetical order makes sums independent of the order of the records."""
    return sorted(set(get_column_texts(tables.transactions, "goods")))


def cluster_by_representatives(baskets: SparseCounts, cluster_count: int, *, rng: Generator) -> IntArray:
    """Choose random customers as centres and assign all others to the most similar one (P3 §3.1)."""
    return _cluster_buyers(baskets, cluster_count, _compare_by_jaccard, rng=rng, max_rounds=1)


def cluster_by_jaccard(baskets: SparseCounts, cluster_count: int, *, rng: Generator) -> IntArray:
    """Cluster by k-means with the Jaccard coefficient (P3 §3.2, the simple method)."""
    return _cluster_buyers(baskets, cluster_count, _compare_by_jaccard, rng=rng)


def cluster_by_tfidf(baskets: SparseCounts, cluster_count: int, *, rng: Generator) -> IntArray:
    """Cluster by k-means with the cosine of TF-IDF weights (P3 Algorithm 3, Method 1)."""
    vectors = weigh_baskets(baskets, compute_goods_weights(baskets))
    return _cluster_buyers(vectors, cluster_count, _compare_by_cosine, rng=rng)


def balance_cluster_sizes(baskets: SparseCounts, cluster_of: IntArray, requested_size: int) -> IntArray:
    """Enlarge clusters to s_min = min(``requested_size``, floor(n / c)) customers (P3 Algorithm 4, Method 2).

    Each small cluster in turn takes customers, one by one, from the cluster that is largest at the time. It
    takes the customer with the highest Jaccard coefficient with one of its members. The largest cluster is
    always above the mean size, so it never becomes too small. Customers without a cluster stay without one.
    """
    balanced = cluster_of.copy()
    sizes = np.bincount(balanced[balanced >= 0])
    min_size = min(requested_size, int(sizes.sum()) // max(len(sizes), 1))
    for cluster in np.flatnonzero(sizes < min_size):
        members = np.flatnonzero(balanced == cluster)
        similarity = np.max([_compare_with_all(baskets, int(member)) for member in members], axis=0)
        while sizes[cluster] < min_size:
            largest = sizes.argmax()
            candidates = np.flatnonzero(balanced == largest)
            customer = candidates[similarity[candidates].argmax()]
            balanced[customer] = cluster
            sizes[[cluster, largest]] += (1, -1)
            similarity = np.maximum(similarity, _compare_with_all(baskets, int(customer)))
    return balanced


def build_membership_matrix(cluster_of: IntArray, cluster_count: int) -> SparseCounts:
    """Return 1 if a customer is in a cluster, else 0, (clusters, n)."""
    members = np.flatnonzero(cluster_of >= 0)
    return build_incidence_matrix(cluster_of[members], members, (cluster_count, len(cluster_of)))


def _cluster_buyers(
    vectors: _Vectors,
    requested_count: int,
    compare: _CompareWithCentres,
    *,
    rng: Generator,
    max_rounds: int = _MAX_ROUNDS,
) -> IntArray:
    """Cluster by k-means from random customers as the first centres, until nobody moves."""
    buyers = np.flatnonzero(np.diff(vectors.indptr))
    buyer_vectors, cluster_count = vectors[buyers], min(max(requested_count, 1), len(buyers))
    cluster_of = np.full(len(buyers), NO_CLUSTER, dtype=np.int64)
    cluster_of[rng.permutation(len(buyers))[:cluster_count]] = np.arange(cluster_count)
    for _ in range(max_rounds):
        previous = cluster_of
        cluster_of = _assign_to_centres(buyer_vectors, previous, cluster_count, compare)
        if np.array_equal(cluster_of, previous):
            break
    clusters = np.full(vectors.shape[0], NO_CLUSTER, dtype=np.int64)
    clusters[buyers] = cluster_of
    return clusters


def _assign_to_centres(
    vectors: _Vectors, cluster_of: IntArray, cluster_count: int, compare: _CompareWithCentres
) -> IntArray:
    """Assign customers to the nearest centre; customers without a cluster contribute to no centre."""
    is_member = build_membership_matrix(cluster_of, cluster_count)
    sums, sizes = (is_member @ vectors).tocsr(), sum_rows(is_member)
    nearest, similarity = np.empty(len(cluster_of), dtype=np.int64), np.empty(len(cluster_of))
    step = max(MAX_PAIRS_PER_BLOCK // max(cluster_count, 1), 1)
    for first in range(0, len(cluster_of), step):
        block = slice(first, first + step)
        similarities = compare(vectors[block], sums, sizes)
        nearest[block] = find_best_columns(similarities)
        similarity[block] = np.take_along_axis(similarities, nearest[block, np.newaxis], axis=1)[:, 0]
    return _fill_empty_clusters(nearest, similarity, cluster_count)


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


def _compare_by_jaccard(baskets: SparseCounts, sums: SparseCounts, sizes: IntArray) -> FloatArray:
    """Return the sum of min(x, y) divided by the sum of max(x, y) for each basket x and centre y.

    Numerator and denominator are multiplied by the size of the cluster. These are quotients of whole numbers,
    so results are the same on every machine.
    """
    shared = (baskets @ sums.T).toarray()
    return jaccard_coefficients(shared, sum_rows(baskets)[:, np.newaxis] * sizes, sum_rows(sums))


def _compare_by_cosine(vectors: _Vectors, sums: _Vectors, sizes: IntArray) -> FloatArray:
    """Return the cosine of each vector, which has length 1, and each centre; it does not depend on sizes."""
    cosines: FloatArray = (vectors @ sums.T).toarray() / np.sqrt(sums.power(2).sum(axis=1))
    return cosines


def _compare_with_all(baskets: SparseCounts, customer: int) -> FloatArray:
    """Return the Jaccard coefficients of one customer with all, (n,)."""
    shared, sizes = baskets @ baskets[[customer]].toarray()[0], sum_rows(baskets)
    return jaccard_coefficients(shared, sizes[customer], sizes)
