"""The built-in attackers of each track by name."""

from app.scoring.attackers import (
    basket_assignment,
    baskets,
    euclidean,
    gower,
    linkage,
    one_to_one,
    ranks,
    records,
    spend,
)
from app.scoring.registry import Attacker

ATTACKERS = {
    "id_rand": Attacker("id_rand", 1, linkage.id_rand, ("quasi_identifiers",)),
    "id_sa": Attacker("id_sa", 1, linkage.id_sa, ("column", "quasi_identifiers")),
    "sort": Attacker("sort", 1, ranks.sort, ("sensitive",)),
    "sa_rank": Attacker("sa_rank", 1, ranks.sa_rank, ("column",)),
    "sa_nearest": Attacker("sa_nearest", 1, ranks.sa_nearest, ("column",)),
    "euc1": Attacker("euc1", 1, euclidean.euc1, ("quasi_identifiers", "sensitive", "give_up")),
    "euc2": Attacker("euc2", 1, euclidean.euc2, ("quasi_identifiers", "sensitive")),
    "aya": Attacker("aya", 1, euclidean.aya, ("quasi_identifiers", "sensitive")),
    "own_row": Attacker("own_row", 1, linkage.own_row),
    "gower": Attacker("gower", 1, gower.gower),
    "euc2_assignment": Attacker(
        "euc2_assignment", 1, one_to_one.euc2_assignment, ("quasi_identifiers", "sensitive", "dense_limit")
    ),
    "gower_assignment": Attacker("gower_assignment", 1, one_to_one.gower_assignment, ("dense_limit",)),
}

TRANSACTION_ATTACKERS = {
    "jaccard": Attacker("jaccard", 1, baskets.jaccard),
    "jaccard_quantity": Attacker("jaccard_quantity", 1, baskets.jaccard_quantity),
    "tfidf": Attacker("tfidf", 1, baskets.tfidf),
    "random_in_cluster": Attacker("random_in_cluster", 1, baskets.random_in_cluster, may_count=False),
    "master_match": Attacker("master_match", 1, baskets.master_match),
    "receipt_match": Attacker("receipt_match", 1, records.receipt_match),
    "own_row": Attacker("own_row", 1, linkage.own_row),
    "sort_spend": Attacker("sort_spend", 1, spend.sort_spend),
    "record_keys": Attacker("record_keys", 1, records.record_keys),
    "jaccard_assignment": Attacker(
        "jaccard_assignment", 1, basket_assignment.jaccard_assignment, ("dense_limit",)
    ),
    "jaccard_quantity_assignment": Attacker(
        "jaccard_quantity_assignment", 1, basket_assignment.jaccard_quantity_assignment, ("dense_limit",)
    ),
}
