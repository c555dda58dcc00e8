"""Sample anonymization methods for transactions (P3 §3; P2 §3).

Each takes M and T and a seeded generator and returns (M' and T', source): customer j of M' is customer
``source[j]`` of M, counted from 0. M' has the original's order and the pseudonyms p1, p2, …; receipts keep
their numbers, and the tables given are left alone.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.random import Generator

from anoncup.geometry.arrays import FloatArray, IntArray, SparseCounts
from anoncup.geometry.encoding import encode, texts, vocabulary_of
from anoncup.tracks.linkage.merging import representatives
from anoncup.tracks.linkage.shuffling import derangement, equivalence_classes, shuffled_within
from anoncup.tracks.transactions.clustering import (
    OUTSIDE,
    balanced_clusters,
    goods_codes,
    goods_sets,
    jaccard_clusters,
    membership,
    owners,
    representative_clusters,
    tfidf_clusters,
)
from anoncup.tracks.transactions.tables import TransactionTables

Released = tuple[TransactionTables, IntArray]


def add_dummies(tables: TransactionTables, *, rng: Generator, clusters: int = 50) -> Released:
    """Equal baskets in clusters around ``clusters`` random customers (P3 §3.1, Algorithm 2)."""
    cluster_of = representative_clusters(goods_sets(tables), clusters, rng=rng)
    return _everybody(with_dummies(tables, cluster_of))


def cluster_kmeans_jaccard(tables: TransactionTables, *, rng: Generator, clusters: int = 50) -> Released:
    """Equal baskets in the clusters of a k-means with the Jaccard coefficient (P3 §3.2)."""
    cluster_of = jaccard_clusters(goods_sets(tables), clusters, rng=rng)
    return _everybody(with_dummies(tables, cluster_of))


def cluster_tfidf(tables: TransactionTables, *, rng: Generator, clusters: int = 50) -> Released:
    """Equal baskets in the clusters of a k-means with TF-IDF weights (P3 Method 1)."""
    cluster_of = tfidf_clusters(goods_sets(tables), clusters, rng=rng)
    return _everybody(with_dummies(tables, cluster_of))


def balance_clusters(
    tables: TransactionTables, *, rng: Generator, clusters: int = 50, smallest: int = 5
) -> Released:
    """As :func:`cluster_tfidf`, no cluster being smaller than ``smallest`` customers (P3 Method 2).

    More than floor(n / clusters) is not possible: then that is the smallest size.
    """
    baskets = goods_sets(tables)
    cluster_of = balanced_clusters(baskets, tfidf_clusters(baskets, clusters, rng=rng), smallest)
    return _everybody(with_dummies(tables, cluster_of))


def delete_customers(tables: TransactionTables, *, rng: Generator, share: float = 0.01) -> Released:
    """Delete a random ``share`` of the customers with all their records; one customer always stays."""
    customers = len(tables.customers)
    deleted = min(round(share * customers), customers - 1)
    kept = np.sort(rng.permutation(customers)[deleted:])
    return chosen_customers(tables, kept), kept


def delete_records(tables: TransactionTables, *, rng: Generator, share: float = 0.01) -> Released:
    """Delete a random ``share`` of the records; the customers stay, if need be without records."""
    records = len(tables.transactions)
    kept = np.sort(rng.permutation(records)[min(round(share * records), records) :])
    return _everybody(TransactionTables(tables.customers, tables.transactions.iloc[kept]))


def shift(tables: TransactionTables, *, rng: Generator) -> Released:  # noqa: ARG001
    """Everybody claims the next one's row and records: p(i) = i mod n + 1."""
    return _claimed(tables, np.roll(np.arange(len(tables.customers)), -1))


def random_permutation(tables: TransactionTables, *, rng: Generator) -> Released:
    """Everybody claims somebody's row and records by a uniformly random permutation."""
    return _claimed(tables, rng.permutation(len(tables.customers)))


def group_permutation(
    tables: TransactionTables, *, rng: Generator, columns: Sequence[str] = ("sex", "country")
) -> Released:
    """A random permutation inside each group of customers equal in ``columns``."""
    return _claimed(tables, shuffled_within(equivalence_classes(tables.customers, columns), rng))


def cheating_permutation(tables: TransactionTables, *, rng: Generator) -> Released:
    """Nobody keeps his row and records: a uniformly random derangement. A single customer keeps his."""
    return _claimed(tables, derangement(len(tables.customers), rng))


def shuffle_customers(tables: TransactionTables, source: IntArray, *, rng: Generator) -> Released:
    """The same release with customers and records in random order, as a team should hand it in.

    The pseudonyms are given anew in the new order.
    """
    order = rng.permutation(len(tables.customers))
    shuffled = chosen_customers(tables, order)
    records = shuffled.transactions.iloc[rng.permutation(len(shuffled.transactions))]
    return TransactionTables(shuffled.customers, records.reset_index(drop=True)), source[order]


def chosen_customers(tables: TransactionTables, rows: IntArray) -> TransactionTables:
    """The customers ``rows``, all different, in this order as p1, p2, …, with all their records."""
    place = np.full(len(tables.customers), OUTSIDE, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    owner = place[owners(tables)]
    customers = tables.customers.iloc[rows].reset_index(drop=True)
    records = tables.transactions.iloc[np.flatnonzero(owner >= 0)].reset_index(drop=True)
    names = pd.Series([f"p{row + 1}" for row in range(len(rows))], dtype=customers["customer_id"].dtype)
    of_records = names.iloc[owner[owner >= 0]].reset_index(drop=True)
    return TransactionTables(customers.assign(customer_id=names), records.assign(customer_id=of_records))


def with_dummies(tables: TransactionTables, cluster_of: IntArray) -> TransactionTables:
    """Everybody's basket becomes the union of his cluster's (P3 Algorithm 2); ids stay, dummies come last.

    A dummy copies the id, receipt, date and time of its customer's latest record (of several the last row),
    has its good's commonest unit price in T (of equally common ones the lowest) and the quantity 1. Who has
    no record has none to copy: he stays without. Who has ``cluster_of`` (n,) < 0 stays as he is.
    """
    records = tables.transactions
    customer, good = missing_goods(goods_sets(tables), cluster_of)
    if not len(good):
        return tables
    goods = goods_codes(tables)
    prices = commonest_prices(records["unit_price"].to_numpy(dtype=np.float64), goods)
    _, examples = np.unique(goods, return_index=True)
    dummies = records.iloc[_latest_records(tables)[customer]].assign(
        goods=records["goods"].iloc[examples[good]].array,
        unit_price=prices[good],
        quantity=np.ones(len(good), dtype=np.int64),
    )
    return TransactionTables(tables.customers, pd.concat([records, dummies], ignore_index=True))


def missing_goods(baskets: SparseCounts, cluster_of: IntArray) -> tuple[IntArray, IntArray]:
    """What somebody in his cluster bought and a customer did not: (customers, goods), sorted, (dummies,)."""
    inside = (cluster_of >= 0) & (np.diff(baskets.indptr) > 0)
    buyers = np.flatnonzero(inside)
    member = membership(np.where(inside, cluster_of, OUTSIDE), int(cluster_of.max(initial=0)) + 1)
    union = (member @ baskets).sign()
    missing = union[cluster_of[buyers]] - baskets[buyers]
    missing.eliminate_zeros()
    missing.sort_indices()
    customer = np.repeat(buyers, np.diff(missing.indptr))
    return customer, np.asarray(missing.indices, dtype=np.int64)


def commonest_prices(prices: FloatArray, goods: IntArray) -> FloatArray:
    """Every good's commonest unit price, of equally common ones the lowest, (goods,)."""
    levels, codes = np.unique(prices, return_inverse=True)
    return levels[representatives(codes[:, None], goods)[:, 0]]


def _latest_records(tables: TransactionTables) -> IntArray:
    """The row in T of every customer's latest record, the last of several, (n,); -1 without records."""
    owner = owners(tables)
    moments = [texts(tables.transactions, name) for name in ("time", "date")]
    ranks = [encode(cells, vocabulary_of(sorted(set(cells)))) for cells in moments]
    newest_first = np.lexsort((*ranks, owner))[::-1]
    customers, first = np.unique(owner[newest_first], return_index=True)
    latest = np.full(len(tables.customers), -1, dtype=np.int64)
    latest[customers] = newest_first[first]
    return latest


def _claimed(tables: TransactionTables, claims: IntArray) -> Released:
    """Customer i's row in M' is row ``claims[i]`` of M, with its records."""
    return chosen_customers(tables, claims), np.arange(len(claims))


def _everybody(tables: TransactionTables) -> Released:
    rows = np.arange(len(tables.customers))
    return chosen_customers(tables, rows), rows
