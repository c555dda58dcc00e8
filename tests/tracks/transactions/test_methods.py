"""Sample methods for transactions on hostile tables, and P3's Table 8 on TC400."""

from collections import Counter
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.geometry.arrays import IntArray
from anoncup.tracks.linkage.attack_rates import rate_guess
from anoncup.tracks.transactions.attackers.baskets import jaccard, random_in_cluster
from anoncup.tracks.transactions.clustering import (
    NO_CLUSTER,
    balance_cluster_sizes,
    build_purchase_matrix,
    cluster_by_jaccard,
    cluster_by_representatives,
    cluster_by_tfidf,
)
from anoncup.tracks.transactions.example import load_tc400
from anoncup.tracks.transactions.methods import add_dummy_records, shuffle_customers
from anoncup.tracks.transactions.registry import TRANSACTION_METHODS
from anoncup.tracks.transactions.release import TransactionOriginal, build_target
from anoncup.tracks.transactions.tables import AnonymizedTransactions, TransactionTables
from tests.support.hypothesis_profiles import limit_examples
from tests.support.transactions_cases import PRICES, build_tables, originals, palettes
from tests.support.transactions_reference import Customer, PlainTables, Record

pytestmark = pytest.mark.full

CLUSTERINGS = [cluster_by_representatives, cluster_by_jaccard, cluster_by_tfidf]
CLUSTER_METHODS = ["add_dummies", "cluster_kmeans_jaccard", "cluster_tfidf", "balance_clusters"]
CLUSTER_METHOD_CASES = [
    *(pytest.param(name, marks=pytest.mark.full) for name in CLUSTER_METHODS[:-1]),
    CLUSTER_METHODS[-1],
]
PERMUTATION_METHODS = ["shift", "random_permutation", "group_permutation", "cheating_permutation"]
hostile_examples = limit_examples(30)
method_names = st.sampled_from(sorted(TRANSACTION_METHODS))
clusterings = st.sampled_from(CLUSTERINGS)
Row = tuple[object, ...]
Clustering = Callable[..., IntArray]


hostile_tables = palettes(PRICES).flatmap(originals).map(build_tables)


def apply_method(
    name: str, tables: TransactionTables, seed: int = 0, **parameters: object
) -> AnonymizedTransactions:
    return TRANSACTION_METHODS[name].apply(tables, rng=np.random.default_rng(seed), **parameters)


def copy_tables(tables: TransactionTables) -> TransactionTables:
    return TransactionTables(tables.customers.copy(deep=True), tables.transactions.copy(deep=True))


def assert_tables_equal(tables: TransactionTables, expected: TransactionTables) -> None:
    pd.testing.assert_frame_equal(tables.customers, expected.customers)
    pd.testing.assert_frame_equal(tables.transactions, expected.transactions)


def list_rows(table: pd.DataFrame) -> list[Row]:
    return list(table.itertuples(index=False, name=None))


def group_records(tables: TransactionTables) -> dict[str, list[Row]]:
    """Return the records of each customer, without the id and in file order."""
    records: dict[str, list[Row]] = {name: [] for name in tables.customers["customer_id"]}
    for customer, *record in list_rows(tables.transactions):
        records[str(customer)].append(tuple(record))
    return records


def list_customers(tables: TransactionTables) -> list[tuple[Row, Counter[Row]]]:
    """Return the master data and records of each customer, in the order of the customers' file."""
    masters = list_rows(tables.customers.drop(columns="customer_id"))
    records = [Counter(rows) for rows in group_records(tables).values()]
    return list(zip(masters, records, strict=True))


def list_baskets(tables: TransactionTables) -> list[set[object]]:
    return [{row[3] for row in rows} for rows in group_records(tables).values()]


@hostile_examples
@given(name=st.sampled_from(CLUSTER_METHODS), tables=hostile_tables, clusters=st.integers(1, 10))
def test_cluster_methods_leave_one_basket_and_one_hit_per_cluster(
    name: str, tables: TransactionTables, clusters: int
) -> None:
    released, source = apply_method(name, tables, clusters=clusters)
    baskets = {frozenset(basket) for basket in list_baskets(released) if basket}
    assert len(baskets) <= clusters
    target = build_target(TransactionOriginal(tables), released)
    assert (jaccard(target) == source).sum() <= clusters


@hostile_examples
@given(tables=hostile_tables, data=st.data())
def test_dummies_extend_baskets_to_the_union_of_their_cluster(
    tables: TransactionTables, data: st.DataObject
) -> None:
    baskets = list_baskets(tables)
    cluster_of = [data.draw(st.integers(NO_CLUSTER, 3)) for _ in baskets]
    release = add_dummy_records(tables, np.array(cluster_of))
    cluster_members = [
        {j for j, other_cluster in enumerate(cluster_of) if other_cluster == basket >= 0 and baskets[j]}
        or {i}
        for i, basket in enumerate(cluster_of)
    ]
    expected = [
        set().union(*(baskets[j] for j in neighbours)) if basket and cluster >= 0 else basket
        for neighbours, basket, cluster in zip(cluster_members, baskets, cluster_of, strict=True)
    ]
    assert list_baskets(release) == expected
    pd.testing.assert_frame_equal(release.customers, tables.customers)
    pd.testing.assert_frame_equal(release.transactions[: len(tables.transactions)], tables.transactions)
    added_count = sum(
        len(unified_basket) - len(basket) for unified_basket, basket in zip(expected, baskets, strict=True)
    )
    assert len(release.transactions) == len(tables.transactions) + added_count


@hostile_examples
@given(tables=hostile_tables)
def test_dummies_copy_the_latest_record_with_the_commonest_price(tables: TransactionTables) -> None:
    release = add_dummy_records(tables, np.zeros(len(tables.customers), dtype=np.int64))
    rows, records = list_rows(tables.transactions), group_records(tables)
    for customer, receipt, day, time, goods, price, quantity in list_rows(release.transactions)[len(rows) :]:
        latest_record = max(enumerate(records[str(customer)]), key=lambda entry: (*entry[1][1:3], entry[0]))[
            1
        ]
        prices = Counter(row[5] for row in rows if row[4] == goods)
        commonest_price = min(prices, key=lambda candidate: (-prices[candidate], candidate))
        assert (receipt, day, time, price, quantity) == (*latest_record[:3], commonest_price, 1)


def test_missing_good_is_added_to_the_latest_record_as_in_the_paper() -> None:
    """P3 Fig. 5: of A, B, C and A, B the second customer gets C, once, in the last of its receipts."""
    tables = build_small_tables(["abc", "ab"])
    release = add_dummy_records(tables, np.array([0, 0]))
    assert list_rows(release.transactions)[5:] == [("c1", "r1", "2011-01-05", "08:45", "c", 1.0, 1)]


@hostile_examples
@given(clustering=clusterings, tables=hostile_tables, clusters=st.integers(1, 10), seed=st.integers(0, 9))
def test_clusterings_use_every_cluster_number(
    clustering: Clustering, tables: TransactionTables, clusters: int, seed: int
) -> None:
    cluster_of = clustering(build_purchase_matrix(tables), clusters, rng=np.random.default_rng(seed))
    has_goods = np.array([bool(basket) for basket in list_baskets(tables)])
    assert set(cluster_of[has_goods].tolist()) == set(range(min(clusters, int(has_goods.sum()))))
    assert (cluster_of[~has_goods] == NO_CLUSTER).all()


@pytest.mark.parametrize("clustering", [cluster_by_jaccard, cluster_by_tfidf])
def test_customers_who_share_goods_are_clustered_together(clustering: Clustering) -> None:
    tables = build_small_tables(["ab", "xy", "abc", "xyz", "bc", "yz", ""])
    clusterings = {
        tuple(clustering(build_purchase_matrix(tables), 2, rng=np.random.default_rng(seed)).tolist())
        for seed in range(20)
    }
    assert clusterings & {(0, 1, 0, 1, 0, 1, NO_CLUSTER), (1, 0, 1, 0, 1, 0, NO_CLUSTER)}


def build_small_tables(baskets: list[str]) -> TransactionTables:
    """Return tables of customers c0, c1, … who bought the goods named by the letters of their texts."""
    customers = [Customer(f"c{i}", "f", "", "France") for i in range(len(baskets))]
    records = [
        Record(f"c{i}", f"r{i}", "2011-01-05", "08:45", good, 1.0, 2)
        for i, goods in enumerate(baskets)
        for good in goods
    ]
    return build_tables(PlainTables(customers, records))


def balance_by_definition(baskets: list[set[object]], cluster_of: list[int], smallest: int) -> list[int]:
    """Return the balanced clusters by a literal version of P3's Algorithm 4."""

    def compute_similarity(first_row: int, second_row: int) -> float:
        return len(baskets[first_row] & baskets[second_row]) / len(baskets[first_row] | baskets[second_row])

    balanced_clusters, clusters = list(cluster_of), range(max(cluster_of) + 1)
    for small_cluster in clusters:
        while balanced_clusters.count(small_cluster) < smallest:
            largest = max(clusters, key=lambda cluster: (balanced_clusters.count(cluster), -cluster))
            members = [i for i, cluster in enumerate(balanced_clusters) if cluster == small_cluster]
            candidates = [i for i, cluster in enumerate(balanced_clusters) if cluster == largest]
            balanced_clusters[
                max(candidates, key=lambda j: (max(compute_similarity(i, j) for i in members), -j))
            ] = small_cluster
    return balanced_clusters


@hostile_examples
@given(
    baskets=st.lists(st.text("abcdef", min_size=1, max_size=5), min_size=1, max_size=14),
    clusters=st.integers(1, 5),
    smallest=st.integers(1, 9),
)
def test_balancing_equals_the_papers_algorithm(baskets: list[str], clusters: int, smallest: int) -> None:
    sets = build_purchase_matrix(build_small_tables(baskets))
    cluster_of = cluster_by_tfidf(sets, clusters, rng=np.random.default_rng(0))
    balanced_clusters = balance_cluster_sizes(sets, cluster_of, smallest)
    minimum = min(smallest, len(baskets) // (int(cluster_of.max()) + 1))
    expected = balance_by_definition([set(basket) for basket in baskets], cluster_of.tolist(), minimum)
    assert balanced_clusters.tolist() == expected
    assert np.bincount(balanced_clusters).min() >= minimum


def test_balancing_ignores_customers_without_goods() -> None:
    sets = build_purchase_matrix(build_small_tables(["a", "", "ab", "b", "ac"]))
    balanced_clusters = balance_cluster_sizes(sets, np.array([0, NO_CLUSTER, 0, 1, 0]), 2)
    assert balanced_clusters.tolist() == [0, NO_CLUSTER, 1, 1, 0]


@hostile_examples
@given(name=st.sampled_from(PERMUTATION_METHODS), tables=hostile_tables, seed=st.integers(0, 9))
def test_permutations_move_customers_with_all_records(
    name: str, tables: TransactionTables, seed: int
) -> None:
    released, source = apply_method(name, tables, seed)
    customers, released_customers = list_customers(tables), list_customers(released)
    assert source.tolist() == list(range(len(customers)))
    assert all(customers.count(customer) == released_customers.count(customer) for customer in customers)
    if name == "shift":
        assert released_customers == customers[1:] + customers[:1]
    if name == "group_permutation":
        assert [(row[0], row[2]) for row, _ in released_customers] == [
            (row[0], row[2]) for row, _ in customers
        ]


def test_group_columns_can_be_chosen() -> None:
    tables = build_tables(
        PlainTables([Customer(f"c{i}", "fm"[i % 2], f"19{i:02}-01-01", "") for i in range(20)], [])
    )
    released, _ = apply_method("group_permutation", tables, columns=["birthday"])
    assert released.customers["birthday"].tolist() == tables.customers["birthday"].tolist()
    released, _ = apply_method("group_permutation", tables, columns=["sex"])
    assert released.customers["birthday"].tolist() != tables.customers["birthday"].tolist()


@hostile_examples
@given(tables=hostile_tables, share=st.floats(0, 1), seed=st.integers(0, 9))
def test_deletions_remove_exactly_their_share(tables: TransactionTables, share: float, seed: int) -> None:
    release_with_fewer_customers, source = apply_method("delete_customers", tables, seed, share=share)
    customers = list_customers(tables)
    assert list_customers(release_with_fewer_customers) == [customers[i] for i in source]
    assert len(customers) - len(source) == min(round(share * len(customers)), len(customers) - 1)
    release_with_fewer_records, source = apply_method("delete_records", tables, seed, share=share)
    records = len(tables.transactions)
    assert len(release_with_fewer_records.transactions) == records - round(share * records)
    for original, remaining in zip(
        list_customers(tables), list_customers(release_with_fewer_records), strict=True
    ):
        assert original[0] == remaining[0]
        assert remaining[1] <= original[1]


@hostile_examples
@given(name=method_names, tables=hostile_tables, seed=st.integers(0, 9))
def test_shuffling_changes_only_order_and_pseudonyms(name: str, tables: TransactionTables, seed: int) -> None:
    released, source = apply_method(name, tables)
    original_release = copy_tables(released)
    shuffled_release, shuffled_source = shuffle_customers(released, source, rng=np.random.default_rng(seed))
    assert_tables_equal(released, original_release)
    positions = {customer: position for position, customer in enumerate(source.tolist())}
    order = [positions[customer] for customer in shuffled_source.tolist()]
    assert sorted(order) == list(range(len(source)))
    customers = list_customers(released)
    assert list_customers(shuffled_release) == [customers[position] for position in order]
    assert shuffled_release.customers["customer_id"].tolist() == [
        f"p{j + 1}" for j in range(len(shuffled_source))
    ]


load_cached_tc400 = cache(load_tc400)


@cache
def measure_method(name: str, clusters: int, smallest: int | None, seed: int) -> tuple[int, float]:
    """Return the number of added records (Δm) and the re-identification rate of ``jaccard``."""
    sizes = {} if smallest is None else {"smallest": smallest}
    tables, source = apply_method(name, load_cached_tc400(), seed, clusters=clusters, **sizes)
    guess = jaccard(build_target(TransactionOriginal(load_cached_tc400()), tables))
    return len(tables.transactions) - len(load_cached_tc400().transactions), float((guess == source).mean())


def count_dummies(name: str, clusters: int, smallest: int | None = None) -> float:
    """Return the mean number of added records (Δm) over two seeds."""
    return sum(measure_method(name, clusters, smallest, seed)[0] for seed in range(2)) / 2


def compute_reidentification_rate(name: str, clusters: int) -> float:
    return measure_method(name, clusters, None, 0)[1]


@pytest.mark.parametrize("name", CLUSTER_METHOD_CASES)
def test_more_clusters_need_fewer_dummies_but_reveal_more(name: str) -> None:
    cluster_counts = (25, 50, 100)
    dummy_counts = [count_dummies(name, clusters) for clusters in cluster_counts]
    rates = [compute_reidentification_rate(name, clusters) for clusters in cluster_counts]
    assert sorted(dummy_counts, reverse=True) == dummy_counts
    assert sorted(rates) == rates
    assert all(value <= clusters / 400 for value, clusters in zip(rates, cluster_counts, strict=True))
    assert rates[-2] >= 0.85 * 50 / 400
    assert rates[-1] >= 0.95 * 100 / 400


@pytest.mark.parametrize("clusters", [25, 50, 100])
def test_balanced_clusters_need_fewer_dummies(clusters: int) -> None:
    unbalanced_count = count_dummies("cluster_tfidf", clusters)
    balanced_count = count_dummies("balance_clusters", clusters, 400 // clusters)
    assert balanced_count < 0.85 * unbalanced_count


@pytest.mark.parametrize(
    ("clusters", "smallest", "published_count"),
    [
        (50, 1, 182_897),
        (50, 2, 183_902),
        (50, 4, 162_474),
        (50, 8, 125_798),
        (100, 4, 59_374),
        (125, 3, 46_101),
    ],
)
def test_dummy_counts_are_close_to_the_papers(clusters: int, smallest: int, published_count: int) -> None:
    """P3 Table 8. At c = 100 the paper's Method 1 and its s_min = 2 need a fifth more dummies than ours."""
    dummy_count = count_dummies("balance_clusters", clusters, smallest)
    assert dummy_count == pytest.approx(published_count, rel=0.1)


def test_cluster_sizes_are_close_to_the_papers() -> None:
    """P3 Table 6 and Figs. 7 and 8: the largest of 50 clusters has 32 customers, after balancing 16."""
    baskets = build_purchase_matrix(load_cached_tc400())
    clusterings = [cluster_by_tfidf(baskets, 50, rng=np.random.default_rng(seed)) for seed in range(4)]
    largest_sizes = [np.bincount(cluster_of).max() for cluster_of in clusterings]
    balanced_sizes = [
        np.bincount(balance_cluster_sizes(baskets, cluster_of, 5)) for cluster_of in clusterings
    ]
    assert np.mean(largest_sizes) == pytest.approx(32, rel=0.1)
    assert np.mean([sizes.max() for sizes in balanced_sizes]) == pytest.approx(16, rel=0.1)
    assert min(sizes.min() for sizes in balanced_sizes) == 5


@pytest.mark.parametrize("clusters", [50, 100, 125])
def test_random_guesses_in_a_cluster_find_one_customer_each(clusters: int) -> None:
    """P3 §4.3: E(Reid) = c / n."""
    released, source = apply_method("balance_clusters", load_cached_tc400(), clusters=clusters)
    answer = random_in_cluster(build_target(TransactionOriginal(load_cached_tc400()), released))
    assert rate_guess(answer, source, rows=400).value == pytest.approx(clusters / 400)
