"""The measures, attackers and methods of the transactions track by name."""

from __future__ import annotations  # the numeric types are imported for type checkers only

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anoncup.lazy import lazy, lazy_in
from anoncup.rules.parameters import Parameter
from anoncup.tracks.linkage.parameters import (
    DENSE_LIMIT_PARAMETER,
    SHARE_PARAMETER,
    SHARE_STRENGTHS,
)
from anoncup.tracks.parts import Attacker, Measure, Method

if TYPE_CHECKING:
    from anoncup.tracks.linkage.attack_rates import Prediction
    from anoncup.tracks.transactions.methods import AnonymizedTransactions
    from anoncup.tracks.transactions.release import ScoredTransactions, TransactionOriginal, TransactionTarget

_lazy = lazy_in("anoncup.tracks.transactions")
TRANSACTION_UTILITIES: dict[str, Measure[TransactionOriginal, ScoredTransactions]] = {
    "cmae_price": Measure(
        "cmae_price",
        1,
        _lazy("utility.cmae_price"),
        largest_cell=_lazy("utility.find_largest_price"),
        weighs=True,
        reads_secret=False,
    ),
    "cmae_spend": Measure(
        "cmae_spend",
        1,
        _lazy("utility.cmae_spend"),
        largest_cell=_lazy("utility.find_largest_spend"),
        weighs=True,
        reads_secret=False,
    ),
    "rfm": Measure("rfm", 1, _lazy("utility.rfm"), is_exact=True, weighs=True, reads_secret=False),
    "row_difference": Measure(
        "row_difference",
        1,
        _lazy("utility.row_difference"),
        details=_lazy("utility.signed_row_difference"),
        is_exact=True,
        weighs=True,
        reads_secret=False,
        scale=_lazy("utility.count_original_records"),
    ),
    "goods_cosine": Measure(
        "goods_cosine", 1, _lazy("utility.goods_cosine"), weighs=True, reads_secret=False
    ),
    "top_goods": Measure(
        "top_goods", 1, _lazy("utility.top_goods"), is_exact=True, weighs=True, reads_secret=False
    ),
}

CUSTOMER_ANONYMITY: dict[str, Measure[TransactionOriginal, ScoredTransactions]] = {
    "k_min": Measure(
        "k_min", 1, _lazy("anonymity.k_min"), is_exact=True, higher_is_better=True, reads_secret=False
    ),
    "k_mean": Measure(
        "k_mean", 1, _lazy("anonymity.k_mean"), is_exact=True, higher_is_better=True, reads_secret=False
    ),
    "basket_k_min": Measure(
        "basket_k_min",
        1,
        _lazy("anonymity.basket_k_min"),
        is_exact=True,
        higher_is_better=True,
        reads_secret=False,
    ),
    "basket_k_mean": Measure(
        "basket_k_mean",
        1,
        _lazy("anonymity.basket_k_mean"),
        is_exact=True,
        higher_is_better=True,
        reads_secret=False,
    ),
}

TRANSACTION_ATTACKERS: dict[str, Attacker[TransactionTarget, Prediction]] = {
    "jaccard": Attacker("jaccard", 1, _lazy("attackers.baskets.jaccard")),
    "jaccard_quantity": Attacker("jaccard_quantity", 1, _lazy("attackers.baskets.jaccard_quantity")),
    "tfidf": Attacker("tfidf", 1, _lazy("attackers.baskets.tfidf")),
    "random_in_cluster": Attacker(
        "random_in_cluster",
        1,
        _lazy("attackers.baskets.random_in_cluster"),
        may_count=False,
        reads_secret=False,
    ),
    "master_match": Attacker("master_match", 1, _lazy("attackers.baskets.master_match")),
    "receipt_match": Attacker("receipt_match", 1, _lazy("attackers.records.receipt_match")),
    "own_row": Attacker("own_row", 1, lazy("anoncup.tracks.linkage.attackers.own_row")),
    "sort_spend": Attacker("sort_spend", 1, _lazy("attackers.spending.sort_spend")),
    "record_keys": Attacker("record_keys", 1, _lazy("attackers.records.record_keys")),
    "jaccard_assignment": Attacker(
        "jaccard_assignment", 1, _lazy("attackers.assignment.jaccard_assignment"), (DENSE_LIMIT_PARAMETER,)
    ),
    "jaccard_quantity_assignment": Attacker(
        "jaccard_quantity_assignment",
        1,
        _lazy("attackers.assignment.jaccard_quantity_assignment"),
        (DENSE_LIMIT_PARAMETER,),
    ),
}

_master_columns_parameter = Parameter("columns", "columns", "master", default=("sex", "country"))
_cluster_count_parameter = Parameter("clusters", "whole", default=50)


def _vary_cluster_count(rows: int, columns: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    """Vary the number of clusters: half of the customers, and an eighth."""
    cluster_counts = {max(rows // 2, 1), max(rows // 8, 1)}
    return [{"clusters": cluster_count} for cluster_count in sorted(cluster_counts, reverse=True)]


TRANSACTION_METHODS: dict[str, Method[AnonymizedTransactions]] = {
    "add_dummies": Method(
        "add_dummies", _lazy("methods.add_dummies"), (_cluster_count_parameter,), _vary_cluster_count
    ),
    "cluster_kmeans_jaccard": Method(
        "cluster_kmeans_jaccard",
        _lazy("methods.cluster_kmeans_jaccard"),
        (_cluster_count_parameter,),
        _vary_cluster_count,
    ),
    "cluster_tfidf": Method(
        "cluster_tfidf", _lazy("methods.cluster_tfidf"), (_cluster_count_parameter,), _vary_cluster_count
    ),
    "balance_clusters": Method(
        "balance_clusters",
        _lazy("methods.balance_clusters"),
        (_cluster_count_parameter, Parameter("smallest", "whole", default=5)),
        _vary_cluster_count,
    ),
    "delete_customers": Method(
        "delete_customers", _lazy("methods.delete_customers"), (SHARE_PARAMETER,), SHARE_STRENGTHS
    ),
    "delete_records": Method(
        "delete_records",
        _lazy("methods.delete_records"),
        (SHARE_PARAMETER,),
        SHARE_STRENGTHS,
    ),
    "shift": Method("shift", _lazy("methods.shift"), cheats=True),
    "random_permutation": Method("random_permutation", _lazy("methods.random_permutation"), cheats=True),
    "group_permutation": Method(
        "group_permutation",
        _lazy("methods.group_permutation"),
        (_master_columns_parameter,),
        lambda rows, columns: [{"columns": list(columns)}],  # noqa: ARG005
        cheats=True,
    ),
    "cheating_permutation": Method(
        "cheating_permutation", _lazy("methods.cheating_permutation"), cheats=True
    ),
}
