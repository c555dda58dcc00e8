"""The sample anonymization methods of each track by name."""

from app.scoring.methods import microdata, permutations, transactions
from app.scoring.registry import Method

METHODS = {
    "k_anonymize": Method("k_anonymize", microdata.k_anonymize, ("k",)),
    "add_noise": Method("add_noise", microdata.add_noise, ("strength",)),
    "cheating_permutation": Method("cheating_permutation", permutations.cheating_permutation),
    "unify_columns": Method("unify_columns", microdata.unify_columns, ("columns",)),
    "microaggregate": Method("microaggregate", microdata.microaggregate),
    "swap_within_classes": Method("swap_within_classes", microdata.swap_within_classes),
    "delete_rows": Method("delete_rows", microdata.delete_rows, ("share",)),
    "shift": Method("shift", permutations.shift),
    "random_permutation": Method("random_permutation", permutations.random_permutation),
    "group_permutation": Method("group_permutation", permutations.group_permutation, ("columns",)),
}

TRANSACTION_METHODS = {
    "add_dummies": Method("add_dummies", transactions.add_dummies, ("clusters",)),
    "cluster_kmeans_jaccard": Method(
        "cluster_kmeans_jaccard", transactions.cluster_kmeans_jaccard, ("clusters",)
    ),
    "cluster_tfidf": Method("cluster_tfidf", transactions.cluster_tfidf, ("clusters",)),
    "balance_clusters": Method("balance_clusters", transactions.balance_clusters, ("clusters", "smallest")),
    "delete_customers": Method("delete_customers", transactions.delete_customers, ("share",)),
    "delete_records": Method("delete_records", transactions.delete_records, ("share",)),
    "shift": Method("shift", transactions.shift),
    "random_permutation": Method("random_permutation", transactions.random_permutation),
    "group_permutation": Method("group_permutation", transactions.group_permutation, ("columns",)),
    "cheating_permutation": Method("cheating_permutation", transactions.cheating_permutation),
}
