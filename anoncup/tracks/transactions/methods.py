"""Sample anonymization methods for transactions (P3 §3; P2 §3).

Each takes M, T and a seeded generator and returns ((M', T'), source): customer j of M' is customer
``source[j]`` of M, counted from 0. M' has the original's order and the pseudonyms p1, p2, …; receipts keep
their numbers. The input tables are not changed.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.random import Generator

from anoncup.geometry.arrays import FloatArray, IntArray, SparseCounts
from anoncup.geometry.encoding import build_vocabulary, column_texts, encode
from anoncup.tracks.linkage.merging import find_representatives
from anoncup.tracks.linkage.shuffling import derangement, equivalence_classes, shuffle_within
from anoncup.tracks.transactions.clustering import (
    NO_CLUSTER,
    balance_cluster_sizes,
    build_goods_sets,
    cluster_by_jaccard,
    cluster_by_representatives,
    cluster_by_tfidf,
    encode_goods,
    encode_owners,
    membership_matrix,
)
from anoncup.tracks.transactions.tables import TransactionTables

AnonymizedTransactions = tuple[TransactionTables, IntArray]


def add_dummies(tables: TransactionTables, *, rng: Generator, clusters: int = 50) -> AnonymizedTransactions:
    """Equalize baskets in clusters around ``clusters`` random customers (P3 §3.1, Algorithm 2)."""
    cluster_of = cluster_by_representatives(build_goods_sets(tables), clusters, rng=rng)
    return _keep_all_customers(add_dummy_records(tables, cluster_of))


def cluster_kmeans_jaccard(
    tables: TransactionTables, *, rng: Generator, clusters: int = 50
) -> AnonymizedTransactions:
    """Equalize baskets in the clusters of a k-means with the Jaccard coefficient (P3 §3.2)."""
    cluster_of = cluster_by_jaccard(build_goods_sets(tables), clusters, rng=rng)
    return _keep_all_customers(add_dummy_records(tables, cluster_of))


def cluster_tfidf(tables: TransactionTables, *, rng: Generator, clusters: int = 50) -> AnonymizedTransactions:
    """Equalize baskets in the clusters of a k-means with TF-IDF weights (P3 Method 1)."""
    cluster_of = cluster_by_tfidf(build_goods_sets(tables), clusters, rng=rng)
    return _keep_all_customers(add_dummy_records(tables, cluster_of))


def balance_clusters(
    tables: TransactionTables, *, rng: Generator, clusters: int = 50, smallest: int = 5
) -> AnonymizedTransactions:
    """As :func:`cluster_tfidf`, with at least ``smallest`` customers in each cluster (P3 Method 2).

    Sizes above floor(n / clusters) are impossible; then this is the smallest size.
    """
    baskets = build_goods_sets(tables)
    cluster_of = balance_cluster_sizes(baskets, cluster_by_tfidf(baskets, clusters, rng=rng), smallest)
    return _keep_all_customers(add_dummy_records(tables, cluster_of))


def delete_customers(
    tables: TransactionTables, *, rng: Generator, share: float = 0.01
) -> AnonymizedTransactions:
    """Delete a random ``share`` of the customers with all their records; at least one customer stays."""
    customers = len(tables.customers)
    deleted = min(round(share * customers), customers - 1)
    kept_rows = np.sort(rng.permutation(customers)[deleted:])
    return select_customers(tables, kept_rows), kept_rows


def delete_records(
    tables: TransactionTables, *, rng: Generator, share: float = 0.01
) -> AnonymizedTransactions:
    """Delete a random ``share`` of the records; all customers stay, even without records."""
    records = len(tables.transactions)
    kept_rows = np.sort(rng.permutation(records)[min(round(share * records), records) :])
    return _keep_all_customers(TransactionTables(tables.customers, tables.transactions.iloc[kept_rows]))


def shift(tables: TransactionTables, *, rng: Generator) -> AnonymizedTransactions:  # noqa: ARG001
    """Every customer claims the next one's row and records: p(i) = i mod n + 1."""
    return _claim_rows(tables, np.roll(np.arange(len(tables.customers)), -1))


def random_permutation(tables: TransactionTables, *, rng: Generator) -> AnonymizedTransactions:
    """Every customer claims a row and its records by a uniformly random permutation."""
    return _claim_rows(tables, rng.permutation(len(tables.customers)))


def group_permutation(
    tables: TransactionTables, *, rng: Generator, columns: Sequence[str] = ("sex", "country")
) -> AnonymizedTransactions:
    """Permute randomly inside each group of customers that are equal in ``columns``."""
    return _claim_rows(tables, shuffle_within(equivalence_classes(tables.customers, columns), rng))


def cheating_permutation(tables: TransactionTables, *, rng: Generator) -> AnonymizedTransactions:
    """Apply a uniformly random derangement: nobody keeps his row and records, except a single customer."""
    return _claim_rows(tables, derangement(len(tables.customers), rng))


def shuffle_customers(
    tables: TransactionTables, source: IntArray, *, rng: Generator
) -> AnonymizedTransactions:
    """Return the release with customers and records in random order, as teams should submit it.

    Pseudonyms are assigned again in the new order.
    """
    order = rng.permutation(len(tables.customers))
    shuffled = select_customers(tables, order)
    records = shuffled.transactions.iloc[rng.permutation(len(shuffled.transactions))]
    return TransactionTables(shuffled.customers, records.reset_index(drop=True)), source[order]


def select_customers(tables: TransactionTables, rows: IntArray) -> TransactionTables:
    """Return the distinct customers ``rows``, in this order as p1, p2, …, with all their records."""
    new_rows = np.full(len(tables.customers), NO_CLUSTER, dtype=np.int64)
    new_rows[rows] = np.arange(len(rows))
    owner = new_rows[encode_owners(tables)]
    customers = tables.customers.iloc[rows].reset_index(drop=True)
    records = tables.transactions.iloc[np.flatnonzero(owner >= 0)].reset_index(drop=True)
    names = pd.Series([f"p{row + 1}" for row in range(len(rows))], dtype=customers["customer_id"].dtype)
    record_ids = names.iloc[owner[owner >= 0]].reset_index(drop=True)
    return TransactionTables(customers.assign(customer_id=names), records.assign(customer_id=record_ids))


def add_dummy_records(tables: TransactionTables, cluster_of: IntArray) -> TransactionTables:
    """Replace every basket by the union of its cluster (P3 Algorithm 2); ids stay, dummies come last.

    A dummy copies the id, receipt, date and time of its customer's latest record (ties: the last row). It has
    the most frequent unit price of its good in T (ties: the lowest) and quantity 1. Customers without records
    get none; customers with ``cluster_of`` (n,) < 0 stay as they are.
    """
    records = tables.transactions
    customer, good = _find_missing_goods(build_goods_sets(tables), cluster_of)
    if not len(good):
        return tables
    goods = encode_goods(tables)
    prices = _find_commonest_prices(records["unit_price"].to_numpy(dtype=np.float64), goods)
    _, examples = np.unique(goods, return_index=True)
    dummies = records.iloc[_find_latest_records(tables)[customer]].assign(
        goods=records["goods"].iloc[examples[good]].array,
        unit_price=prices[good],
        quantity=np.ones(len(good), dtype=np.int64),
    )
    return TransactionTables(tables.customers, pd.concat([records, dummies], ignore_index=True))


def _find_missing_goods(baskets: SparseCounts, cluster_of: IntArray) -> tuple[IntArray, IntArray]:
    """Return (customers, goods), sorted, (dummies,): goods of the cluster that a customer did not buy."""
    is_clustered = (cluster_of >= 0) & (np.diff(baskets.indptr) > 0)
    buyers = np.flatnonzero(is_clustered)
    is_member = membership_matrix(
        np.where(is_clustered, cluster_of, NO_CLUSTER), int(cluster_of.max(initial=0)) + 1
    )
    union = (is_member @ baskets).sign()
    missing = union[cluster_of[buyers]] - baskets[buyers]
    missing.eliminate_zeros()
    missing.sort_indices()
    customer = np.repeat(buyers, np.diff(missing.indptr))
    return customer, np.asarray(missing.indices, dtype=np.int64)


def _find_commonest_prices(prices: FloatArray, goods: IntArray) -> FloatArray:
    """Return the most frequent unit price of every good, (goods,); ties: the lowest."""
    levels, codes = np.unique(prices, return_inverse=True)
    return levels[find_representatives(codes[:, None], goods)[:, 0]]


def _find_latest_records(tables: TransactionTables) -> IntArray:
    """Return the row in T of every customer's latest record (ties: the last), (n,); -1 without one."""
    owner = encode_owners(tables)
    time_columns = [column_texts(tables.transactions, name) for name in ("time", "date")]
    ranks = [encode(cells, build_vocabulary(sorted(set(cells)))) for cells in time_columns]
    newest_first = np.lexsort((*ranks, owner))[::-1]
    customers, first = np.unique(owner[newest_first], return_index=True)
    latest = np.full(len(tables.customers), -1, dtype=np.int64)
    latest[customers] = newest_first[first]
    return latest


def _claim_rows(tables: TransactionTables, claims: IntArray) -> AnonymizedTransactions:
    """Give customer i the row ``claims[i]`` of M and its records."""
    return select_customers(tables, claims), np.arange(len(claims))


def _keep_all_customers(tables: TransactionTables) -> AnonymizedTransactions:
    rows = np.arange(len(tables.customers))
    return select_customers(tables, rows), rows
