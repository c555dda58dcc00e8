"""Sample anonymization methods for transactions (P3 §3; P2 §3; ``anoncup.tracks`` lists the papers).

Each takes the customers M, the transactions T and a seeded generator and returns ((M', T'), source). Customer
j of M' is customer ``source[j]`` of M, counted from 0. M' has the original's order and the pseudonyms p1, p2,
…; receipts keep their numbers. The input tables are not changed.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.random import Generator

from anoncup.geometry.arrays import FloatArray, IntArray, SparseCounts
from anoncup.geometry.encoding import build_vocabulary, encode, get_column_texts
from anoncup.tracks.linkage.merging import find_representatives
from anoncup.tracks.linkage.shuffling import (
    find_equivalence_classes,
    sample_derangement,
    shuffle_within_groups,
)
from anoncup.tracks.transactions.clustering import (
    NO_CLUSTER,
    balance_cluster_sizes,
    build_membership_matrix,
    build_purchase_matrix,
    cluster_by_jaccard,
    cluster_by_representatives,
    cluster_by_tfidf,
    encode_customers,
    encode_goods,
)
from anoncup.tracks.transactions.tables import TransactionTables

AnonymizedTransactions = tuple[TransactionTables, IntArray]


def add_dummies(tables: TransactionTables, *, rng: Generator, clusters: int = 50) -> AnonymizedTransactions:
    """Equalize baskets in clusters around ``clusters`` random customers (P3 §3.1, Algorithm 2)."""
    cluster_of = cluster_by_representatives(build_purchase_matrix(tables), clusters, rng=rng)
    return _keep_all_customers(add_dummy_records(tables, cluster_of))


def cluster_kmeans_jaccard(
    tables: TransactionTables, *, rng: Generator, clusters: int = 50
) -> AnonymizedTransactions:
    """Equalize baskets in the clusters of a k-means with the Jaccard coefficient (P3 §3.2)."""
    cluster_of = cluster_by_jaccard(build_purchase_matrix(tables), clusters, rng=rng)
    return _keep_all_customers(add_dummy_records(tables, cluster_of))


def cluster_tfidf(tables: TransactionTables, *, rng: Generator, clusters: int = 50) -> AnonymizedTransactions:
    """Equalize baskets in the clusters of a k-means with TF-IDF weights (P3 Method 1)."""
    cluster_of = cluster_by_tfidf(build_purchase_matrix(tables), clusters, rng=rng)
    return _keep_all_customers(add_dummy_records(tables, cluster_of))


def balance_clusters(
    tables: TransactionTables, *, rng: Generator, clusters: int = 50, smallest: int = 5
) -> AnonymizedTransactions:
    """Anonymize like :func:`cluster_tfidf`, but with at least ``smallest`` customers in each cluster.

    This is Method 2 of P3. Sizes above floor(n / clusters) are impossible; then this is the smallest size.
    """
    baskets = build_purchase_matrix(tables)
    cluster_of = balance_cluster_sizes(baskets, cluster_by_tfidf(baskets, clusters, rng=rng), smallest)
    return _keep_all_customers(add_dummy_records(tables, cluster_of))


def delete_customers(
    tables: TransactionTables, *, rng: Generator, share: float = 0.01
) -> AnonymizedTransactions:
    """Delete a random ``share`` of the customers with all their records, but never all customers."""
    customer_count = len(tables.customers)
    deleted_count = min(round(share * customer_count), customer_count - 1)
    kept_rows = np.sort(rng.permutation(customer_count)[deleted_count:])
    return select_customers(tables, kept_rows), kept_rows


def delete_records(
    tables: TransactionTables, *, rng: Generator, share: float = 0.01
) -> AnonymizedTransactions:
    """Delete a random ``share`` of the records; all customers are kept, even those without records."""
    record_count = len(tables.transactions)
    kept_rows = np.sort(rng.permutation(record_count)[min(round(share * record_count), record_count) :])
    return _keep_all_customers(TransactionTables(tables.customers, tables.transactions.iloc[kept_rows]))


def shift(tables: TransactionTables, *, rng: Generator) -> AnonymizedTransactions:
    """Let every customer claim the next one's row and records: p(i) = i mod n + 1."""
    return _claim_rows(tables, np.roll(np.arange(len(tables.customers)), -1))


def random_permutation(tables: TransactionTables, *, rng: Generator) -> AnonymizedTransactions:
    """Let every customer claim a row and its records by a uniformly random permutation."""
    return _claim_rows(tables, rng.permutation(len(tables.customers)))


def group_permutation(
    tables: TransactionTables, *, rng: Generator, columns: Sequence[str] = ("sex", "country")
) -> AnonymizedTransactions:
    """Permute randomly within groups of customers with equal ``columns``."""
    return _claim_rows(
        tables, shuffle_within_groups(find_equivalence_classes(tables.customers, columns), rng)
    )


def cheating_permutation(tables: TransactionTables, *, rng: Generator) -> AnonymizedTransactions:
    """Apply a uniformly random derangement: nobody keeps their row and records, unless there is only one."""
    return _claim_rows(tables, sample_derangement(len(tables.customers), rng))


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
    """Return the customers ``rows``, renamed p1, p2, … in this order, with all their records.

    ``rows`` must be distinct.
    """
    new_rows = np.full(len(tables.customers), -1, dtype=np.int64)
    new_rows[rows] = np.arange(len(rows))
    owner = new_rows[encode_customers(tables)]
    customers = tables.customers.iloc[rows].reset_index(drop=True)
    records = tables.transactions.iloc[np.flatnonzero(owner >= 0)].reset_index(drop=True)
    pseudonyms = pd.Series([f"p{row + 1}" for row in range(len(rows))], dtype=customers["customer_id"].dtype)
    record_ids = pseudonyms.iloc[owner[owner >= 0]].reset_index(drop=True)
    return TransactionTables(customers.assign(customer_id=pseudonyms), records.assign(customer_id=record_ids))


def add_dummy_records(tables: TransactionTables, cluster_of: IntArray) -> TransactionTables:
    """Add dummy records so that every customer of a cluster has the same set of goods (P3 Algorithm 2).

    A dummy copies the id, receipt, date and time of its customer's latest record (ties: the last row). It has
    the most frequent unit price of its good in T (ties: the lowest) and quantity 1. Dummies are appended to
    the records. Customers without records, or with a negative ``cluster_of`` (n,), get none.
    """
    records = tables.transactions
    customer_rows, good_numbers = _find_missing_goods(build_purchase_matrix(tables), cluster_of)
    if not len(good_numbers):
        return tables
    goods = encode_goods(tables)
    prices = _find_commonest_prices(records["unit_price"].to_numpy(dtype=np.float64), goods)
    _, example_records = np.unique(goods, return_index=True)
    dummies = records.iloc[_find_latest_records(tables)[customer_rows]].assign(
        goods=records["goods"].iloc[example_records[good_numbers]].array,
        unit_price=prices[good_numbers],
        quantity=np.ones(len(good_numbers), dtype=np.int64),
    )
    return TransactionTables(tables.customers, pd.concat([records, dummies], ignore_index=True))


def _find_missing_goods(baskets: SparseCounts, cluster_of: IntArray) -> tuple[IntArray, IntArray]:
    """Return the goods of each customer's cluster that the customer did not buy, as sorted pairs.

    The result is an array of customers and one of goods, each (dummies,).
    """
    is_clustered = (cluster_of >= 0) & (np.diff(baskets.indptr) > 0)
    buyers = np.flatnonzero(is_clustered)
    is_member = build_membership_matrix(
        np.where(is_clustered, cluster_of, NO_CLUSTER), int(cluster_of.max(initial=0)) + 1
    )
    union = (is_member @ baskets).sign()
    missing = union[cluster_of[buyers]] - baskets[buyers]
    missing.eliminate_zeros()
    missing.sort_indices()
    customer_rows = np.repeat(buyers, np.diff(missing.indptr))
    return customer_rows, np.asarray(missing.indices, dtype=np.int64)


def _find_commonest_prices(prices: FloatArray, goods: IntArray) -> FloatArray:
    """Return the most frequent unit price of every good, (goods,); ties: the lowest."""
    levels, codes = np.unique(prices, return_inverse=True)
    return levels[find_representatives(codes[:, None], goods)[:, 0]]


def _find_latest_records(tables: TransactionTables) -> IntArray:
    """Return the row in T of every customer's latest record, (n,), or -1; ties go to the last row."""
    owner = encode_customers(tables)
    time_columns = [get_column_texts(tables.transactions, name) for name in ("time", "date")]
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
