"""The sample anonymization methods of each track by name."""

from app.deferred import deferred_in
from app.scoring.registry import Method

_by = deferred_in(__name__)

METHODS = {
    "k_anonymize": Method("k_anonymize", _by("microdata.k_anonymize"), ("k",)),
    "add_noise": Method("add_noise", _by("microdata.add_noise"), ("strength",)),
    "cheating_permutation": Method("cheating_permutation", _by("permutations.cheating_permutation")),
    "unify_columns": Method("unify_columns", _by("microdata.unify_columns"), ("columns",)),
    "microaggregate": Method("microaggregate", _by("microdata.microaggregate")),
    "swap_within_classes": Method("swap_within_classes", _by("microdata.swap_within_classes")),
    "delete_rows": Method("delete_rows", _by("microdata.delete_rows"), ("share",)),
    "shift": Method("shift", _by("permutations.shift")),
    "random_permutation": Method("random_permutation", _by("permutations.random_permutation")),
    "group_permutation": Method("group_permutation", _by("permutations.group_permutation"), ("columns",)),
}

TRANSACTION_METHODS = {
    "add_dummies": Method("add_dummies", _by("transactions.add_dummies"), ("clusters",)),
    "cluster_kmeans_jaccard": Method(
        "cluster_kmeans_jaccard", _by("transactions.cluster_kmeans_jaccard"), ("clusters",)
    ),
    "cluster_tfidf": Method("cluster_tfidf", _by("transactions.cluster_tfidf"), ("clusters",)),
    "balance_clusters": Method(
        "balance_clusters", _by("transactions.balance_clusters"), ("clusters", "smallest")
    ),
    "delete_customers": Method("delete_customers", _by("transactions.delete_customers"), ("share",)),
    "delete_records": Method("delete_records", _by("transactions.delete_records"), ("share",)),
    "shift": Method("shift", _by("transactions.shift")),
    "random_permutation": Method("random_permutation", _by("transactions.random_permutation")),
    "group_permutation": Method("group_permutation", _by("transactions.group_permutation"), ("columns",)),
    "cheating_permutation": Method("cheating_permutation", _by("transactions.cheating_permutation")),
}
