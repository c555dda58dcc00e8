"""Sample anonymization methods for transactions (P3 §3; P2 §3; ``anoncup.tracks`` lists the papers).

Each takes the customers M, the transactions T and a seeded generator and returns ((M', T'), source). Customer
j of M' is customer ``source[j]`` of M, counted from 0. M' has the original's order and the pseudonyms p1, p2,
…; receipts keep their numbers. The input tables are not changed.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.random import Generator

from anoncup.geometry.arrays import IntArray, SparseCounts
from anoncup.tracks.linkage.shuffling import (
    find_equivalence_classes,
    sample_derangement,
    shuffle_within_groups,
)
from anoncup.tracks.transactions.clustering import (
    balance_cluster_sizes,
    build_membership_matrix,
    build_purchase_matrix,
    cluster_by_jaccard,
    cluster_by_representatives,
    cluster_by_tfidf,
    list_goods,
)
from anoncup.tracks.transactions.tables import AnonymizedTransactions, TransactionTables, select_customers


def add_dummies(tables: TransactionTables, *, rng: Generator, clusters: int = 50) -> AnonymizedTransactions:
    """Equalize baskets in clusters around ``clusters`` random customers (P3 §3.1, Algorithm 2)."""
    cluster_of = cluster_by_representatives(build_purchase_matrix(tables), clusters, rng=rng)
    return _unify_clusters(tables, cluster_of)


def cluster_kmeans_jaccard(
    tables: TransactionTables, *, rng: Generator, clusters: int = 50
) -> AnonymizedTransactions:
    """Equalize baskets in the clusters of a k-means with the Jaccard coefficient (P3 §3.2)."""
    cluster_of = cluster_by_jaccard(build_purchase_matrix(tables), clusters, rng=rng)
    return _unify_clusters(tables, cluster_of)


def cluster_tfidf(tables: TransactionTables, *, rng: Generator, clusters: int = 50) -> AnonymizedTransactions:
    """Equalize baskets in the clusters of a k-means with TF-IDF weights (P3 Method 1)."""
    cluster_of = cluster_by_tfidf(build_purchase_matrix(tables), clusters, rng=rng)
    return _unify_clusters(tables, cluster_of)


def balance_clusters(
    tables: TransactionTables, *, rng: Generator, clusters: int = 50, smallest: int = 5
) -> AnonymizedTransactions:
    """Anonymize like ``cluster_tfidf``, but with at least ``smallest`` customers in each cluster.

    This is Method 2 of P3. Sizes above floor(n / clusters) are impossible; then this is the smallest size.
    """
    baskets = build_purchase_matrix(tables)
    cluster_of = balance_cluster_sizes(baskets, cluster_by_tfidf(baskets, clusters, rng=rng), smallest)
    return _unify_clusters(tables, cluster_of)


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


def add_dummy_records(tables: TransactionTables, cluster_of: IntArray) -> TransactionTables:
    """Add dummy records so that each customer u of a cluster x has its goods I(x) (P3 Algorithm 2).

    A dummy copies the id, receipt, date and time of its customer's latest record (ties: the last row). It has
    the most frequent unit price of its good in T (ties: the lowest) and quantity 1. Dummies are appended to
    the records. Customers without records, or with a negative ``cluster_of`` (n,), get none.
    """
    records = tables.transactions
    customers, goods = _find_missing_goods(build_purchase_matrix(tables), cluster_of)
    if not len(goods):
        return tables
    goods_ids = pd.Series(list_goods(tables), dtype=records["goods"].dtype).iloc[goods]
    latest_records = _find_latest_records(records).loc[tables.customers["customer_id"].iloc[customers]]
    dummies = latest_records.assign(
        goods=goods_ids.array, unit_price=_find_commonest_prices(records)[goods_ids].array, quantity=1
    )
    return TransactionTables(tables.customers, pd.concat([records, dummies], ignore_index=True))


def _find_missing_goods(baskets: SparseCounts, cluster_of: IntArray) -> tuple[IntArray, IntArray]:
    """Return the goods I(x) - I(u) of all customers u, where I(x) are those of their cluster x.

    The result is an array of customers and one of goods, each (dummies,), in ascending order.
    """
    is_member = build_membership_matrix(cluster_of, int(cluster_of.max(initial=0)) + 1)
    cluster_goods = (is_member @ baskets).sign()
    customers = np.flatnonzero((cluster_of >= 0) & (np.diff(baskets.indptr) > 0))
    missing = cluster_goods[cluster_of[customers]] - baskets[customers]
    missing.sort_indices()
    rows, goods = missing.nonzero()
    return customers[rows], goods.astype(np.int64)


def _find_commonest_prices(records: pd.DataFrame) -> pd.Series:
    """Return the most frequent unit price of every good, by its id; ties: the lowest."""
    counts = records.groupby(["goods", "unit_price"], as_index=False).size()
    counts = counts.sort_values(["size", "unit_price"], ascending=[False, True])
    return counts.drop_duplicates("goods").set_index("goods")["unit_price"]


def _find_latest_records(records: pd.DataFrame) -> pd.DataFrame:
    """Return every customer's latest record, by the customer's id; ties go to the last row."""
    latest_last = records.sort_values(["date", "time"], kind="stable")
    return latest_last.drop_duplicates("customer_id", keep="last").set_index("customer_id", drop=False)


def _unify_clusters(tables: TransactionTables, cluster_of: IntArray) -> AnonymizedTransactions:
    return _keep_all_customers(add_dummy_records(tables, cluster_of))


def _claim_rows(tables: TransactionTables, claims: IntArray) -> AnonymizedTransactions:
    """Give customer i the row ``claims[i]`` of M and its records."""
    return select_customers(tables, claims), np.arange(len(claims))


def _keep_all_customers(tables: TransactionTables) -> AnonymizedTransactions:
    rows = np.arange(len(tables.customers))
    return select_customers(tables, rows), rows
