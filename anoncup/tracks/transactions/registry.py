"""The measures, attackers and methods of the transactions track by name."""

from collections.abc import Mapping, Sequence
from typing import Any

from anoncup.lazy import deferred, deferred_in
from anoncup.rules.parameters import Parameter
from anoncup.tracks.linkage.parameters import DENSE_LIMIT_PARAMETER, SHARE, SHARES, each_of, no_strengths
from anoncup.tracks.parts import Attacker, Measure, Method

_by = deferred_in("anoncup.tracks.transactions")
TRANSACTION_UTILITIES = {
    "cmae_price": Measure(
        "cmae_price", 1, _by("utility.cmae_price"), in_data_units=True, weighs=True, reads_secret=False
    ),
    "cmae_spend": Measure(
        "cmae_spend", 1, _by("utility.cmae_spend"), in_data_units=True, weighs=True, reads_secret=False
    ),
    "rfm": Measure("rfm", 1, _by("utility.rfm"), weighs=True, reads_secret=False),
    "row_difference": Measure(
        "row_difference",
        1,
        _by("utility.row_difference"),
        details=_by("utility.signed_row_difference"),
        weighs=True,
        reads_secret=False,
        scale=_by("utility.original_records"),
    ),
    "goods_cosine": Measure("goods_cosine", 1, _by("utility.goods_cosine"), weighs=True, reads_secret=False),
    "top_goods": Measure("top_goods", 1, _by("utility.top_goods"), weighs=True, reads_secret=False),
}

CUSTOMER_ANONYMITY = {
    "k_min": Measure("k_min", 1, _by("anonymity.k_min"), higher_is_better=True, reads_secret=False),
    "k_mean": Measure("k_mean", 1, _by("anonymity.k_mean"), higher_is_better=True, reads_secret=False),
    "basket_k_min": Measure(
        "basket_k_min", 1, _by("anonymity.basket_k_min"), higher_is_better=True, reads_secret=False
    ),
    "basket_k_mean": Measure(
        "basket_k_mean", 1, _by("anonymity.basket_k_mean"), higher_is_better=True, reads_secret=False
    ),
}

TRANSACTION_ATTACKERS = {
    "jaccard": Attacker("jaccard", 1, _by("attackers.baskets.jaccard")),
    "jaccard_quantity": Attacker("jaccard_quantity", 1, _by("attackers.baskets.jaccard_quantity")),
    "tfidf": Attacker("tfidf", 1, _by("attackers.baskets.tfidf")),
    "random_in_cluster": Attacker(
        "random_in_cluster",
        1,
        _by("attackers.baskets.random_in_cluster"),
        may_count=False,
        reads_secret=False,
    ),
    "master_match": Attacker("master_match", 1, _by("attackers.baskets.master_match")),
    "receipt_match": Attacker("receipt_match", 1, _by("attackers.records.receipt_match")),
    "own_row": Attacker("own_row", 1, deferred("anoncup.tracks.linkage.attackers.own_row")),
    "sort_spend": Attacker("sort_spend", 1, _by("attackers.spending.sort_spend")),
    "record_keys": Attacker("record_keys", 1, _by("attackers.records.record_keys")),
    "jaccard_assignment": Attacker(
        "jaccard_assignment", 1, _by("attackers.assignment.jaccard_assignment"), (DENSE_LIMIT_PARAMETER,)
    ),
    "jaccard_quantity_assignment": Attacker(
        "jaccard_quantity_assignment",
        1,
        _by("attackers.assignment.jaccard_quantity_assignment"),
        (DENSE_LIMIT_PARAMETER,),
    ),
}

_master = Parameter("columns", "columns", "master", default=("sex", "country"))
_clusters = Parameter("clusters", "whole", default=50)


def _fewer_clusters(rows: int, columns: Sequence[str]) -> Sequence[Mapping[str, Any]]:  # noqa: ARG001
    """From three quarters of the customers to an eighth."""
    numbers = {max(rows * eighths // 8, 1) for eighths in (6, 4, 2, 1)}
    return [{"clusters": number} for number in sorted(numbers, reverse=True)]


TRANSACTION_METHODS = {
    "add_dummies": Method("add_dummies", _by("methods.add_dummies"), (_clusters,), _fewer_clusters),
    "cluster_kmeans_jaccard": Method(
        "cluster_kmeans_jaccard", _by("methods.cluster_kmeans_jaccard"), (_clusters,), _fewer_clusters
    ),
    "cluster_tfidf": Method("cluster_tfidf", _by("methods.cluster_tfidf"), (_clusters,), _fewer_clusters),
    "balance_clusters": Method(
        "balance_clusters",
        _by("methods.balance_clusters"),
        (_clusters, Parameter("smallest", "whole", default=5)),
        _fewer_clusters,
    ),
    "delete_customers": Method("delete_customers", _by("methods.delete_customers"), (SHARE,), SHARES),
    "delete_records": Method(
        "delete_records", _by("methods.delete_records"), (SHARE,), each_of("share", 0.01, 0.1, 0.3)
    ),
    "shift": Method("shift", _by("methods.shift"), (), no_strengths),
    "random_permutation": Method("random_permutation", _by("methods.random_permutation"), (), no_strengths),
    "group_permutation": Method(
        "group_permutation", _by("methods.group_permutation"), (_master,), no_strengths
    ),
    "cheating_permutation": Method(
        "cheating_permutation", _by("methods.cheating_permutation"), (), no_strengths
    ),
}
