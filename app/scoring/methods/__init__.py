"""The sample anonymization methods of each track by name."""

from collections.abc import Mapping, Sequence
from typing import Any

from anoncup.lazy import deferred_in
from anoncup.rules.parameters import Parameter
from anoncup.tracks.linkage.parameters import SHARE, SHARES, each_of, no_strengths
from anoncup.tracks.parts import Method, Strengths

_by = deferred_in(__name__)
_columns = Parameter("columns", "columns", "quasi_identifiers")
_master = Parameter("columns", "columns", "master", default=("sex", "country"))
_clusters = Parameter("clusters", "whole", default=50)


def _more_columns(rows: int, columns: Sequence[str]) -> Sequence[Mapping[str, Any]]:  # noqa: ARG001
    """The last column, the last two, the last half."""
    numbers = sorted({min(number, len(columns)) for number in (1, 2, (len(columns) + 1) // 2)} - {0})
    return [{"columns": list(columns[-number:])} for number in numbers]


def _fewer_clusters(rows: int, columns: Sequence[str]) -> Sequence[Mapping[str, Any]]:  # noqa: ARG001
    """From three quarters of the customers to an eighth."""
    numbers = {max(rows * eighths // 8, 1) for eighths in (6, 4, 2, 1)}
    return [{"clusters": number} for number in sorted(numbers, reverse=True)]


METHODS = {
    "k_anonymize": Method(
        "k_anonymize",
        _by("microdata.k_anonymize"),
        (Parameter("k", "whole", default=3),),
        each_of("k", 2, 3, 5, 10),
    ),
    "add_noise": Method(
        "add_noise",
        _by("microdata.add_noise"),
        (Parameter("strength", "amount", default=0.1),),
        each_of("strength", 0.05, 0.1, 0.2, 0.5),
    ),
    "cheating_permutation": Method(
        "cheating_permutation", _by("permutations.cheating_permutation"), (), no_strengths
    ),
    "unify_columns": Method("unify_columns", _by("microdata.unify_columns"), (_columns,), _more_columns),
    "microaggregate": Method("microaggregate", _by("microdata.microaggregate")),
    "swap_within_classes": Method("swap_within_classes", _by("microdata.swap_within_classes")),
    "delete_rows": Method("delete_rows", _by("microdata.delete_rows"), (SHARE,), SHARES),
    "shift": Method("shift", _by("permutations.shift"), (), no_strengths),
    "random_permutation": Method(
        "random_permutation", _by("permutations.random_permutation"), (), no_strengths
    ),
    "group_permutation": Method(
        "group_permutation", _by("permutations.group_permutation"), (_columns,), no_strengths
    ),
}

TRANSACTION_METHODS = {
    "add_dummies": Method("add_dummies", _by("transactions.add_dummies"), (_clusters,), _fewer_clusters),
    "cluster_kmeans_jaccard": Method(
        "cluster_kmeans_jaccard", _by("transactions.cluster_kmeans_jaccard"), (_clusters,), _fewer_clusters
    ),
    "cluster_tfidf": Method(
        "cluster_tfidf", _by("transactions.cluster_tfidf"), (_clusters,), _fewer_clusters
    ),
    "balance_clusters": Method(
        "balance_clusters",
        _by("transactions.balance_clusters"),
        (_clusters, Parameter("smallest", "whole", default=5)),
        _fewer_clusters,
    ),
    "delete_customers": Method("delete_customers", _by("transactions.delete_customers"), (SHARE,), SHARES),
    "delete_records": Method(
        "delete_records", _by("transactions.delete_records"), (SHARE,), each_of("share", 0.01, 0.1, 0.3)
    ),
    "shift": Method("shift", _by("transactions.shift"), (), no_strengths),
    "random_permutation": Method(
        "random_permutation", _by("transactions.random_permutation"), (), no_strengths
    ),
    "group_permutation": Method(
        "group_permutation", _by("transactions.group_permutation"), (_master,), no_strengths
    ),
    "cheating_permutation": Method(
        "cheating_permutation", _by("transactions.cheating_permutation"), (), no_strengths
    ),
}
