"""The built-in attackers of each track by name."""

from anoncup.lazy import deferred, deferred_in
from anoncup.rules.parameters import Parameter
from anoncup.tracks.linkage.parameters import DENSE_LIMIT_PARAMETER
from anoncup.tracks.parts import Attacker

_by = deferred_in(__name__)
_quasi = Parameter("quasi_identifiers", "columns", "quasi_identifiers")
_sensitive = Parameter("sensitive", "columns", "sensitive")
_column = Parameter("column", "column", "sensitive")
_give_up = Parameter("give_up", "choice", ("abstain", "own_row"))

ATTACKERS = {
    "id_rand": Attacker("id_rand", 1, _by("linkage.id_rand"), (_quasi,)),
    "id_sa": Attacker("id_sa", 1, _by("linkage.id_sa"), (_column, _quasi)),
    "sort": Attacker("sort", 1, _by("ranks.sort"), (_sensitive,)),
    "sa_rank": Attacker("sa_rank", 1, _by("ranks.sa_rank"), (_column,)),
    "sa_nearest": Attacker("sa_nearest", 1, _by("ranks.sa_nearest"), (_column,)),
    "euc1": Attacker("euc1", 1, _by("euclidean.euc1"), (_quasi, _sensitive, _give_up)),
    "euc2": Attacker("euc2", 1, _by("euclidean.euc2"), (_quasi, _sensitive)),
    "aya": Attacker("aya", 1, _by("euclidean.aya"), (_quasi, _sensitive)),
    "own_row": Attacker("own_row", 1, deferred("anoncup.tracks.linkage.attackers.own_row")),
    "gower": Attacker("gower", 1, _by("gower.gower")),
    "euc2_assignment": Attacker(
        "euc2_assignment",
        1,
        _by("one_to_one.euc2_assignment"),
        (_quasi, _sensitive, DENSE_LIMIT_PARAMETER),
    ),
    "gower_assignment": Attacker(
        "gower_assignment", 1, _by("one_to_one.gower_assignment"), (DENSE_LIMIT_PARAMETER,)
    ),
}

TRANSACTION_ATTACKERS = {
    "jaccard": Attacker("jaccard", 1, _by("baskets.jaccard")),
    "jaccard_quantity": Attacker("jaccard_quantity", 1, _by("baskets.jaccard_quantity")),
    "tfidf": Attacker("tfidf", 1, _by("baskets.tfidf")),
    "random_in_cluster": Attacker(
        "random_in_cluster", 1, _by("baskets.random_in_cluster"), may_count=False, reads_secret=False
    ),
    "master_match": Attacker("master_match", 1, _by("baskets.master_match")),
    "receipt_match": Attacker("receipt_match", 1, _by("records.receipt_match")),
    "own_row": Attacker("own_row", 1, deferred("anoncup.tracks.linkage.attackers.own_row")),
    "sort_spend": Attacker("sort_spend", 1, _by("spend.sort_spend")),
    "record_keys": Attacker("record_keys", 1, _by("records.record_keys")),
    "jaccard_assignment": Attacker(
        "jaccard_assignment", 1, _by("basket_assignment.jaccard_assignment"), (DENSE_LIMIT_PARAMETER,)
    ),
    "jaccard_quantity_assignment": Attacker(
        "jaccard_quantity_assignment",
        1,
        _by("basket_assignment.jaccard_quantity_assignment"),
        (DENSE_LIMIT_PARAMETER,),
    ),
}
