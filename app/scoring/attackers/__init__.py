"""The built-in attackers by name."""

from app.scoring.attackers import euclidean, linkage, ranks
from app.scoring.registry import Attacker

ATTACKERS = {
    "id_rand": Attacker("id_rand", 1, linkage.id_rand, ("quasi_identifiers",)),
    "id_sa": Attacker("id_sa", 1, linkage.id_sa, ("column", "quasi_identifiers")),
    "sort": Attacker("sort", 1, ranks.sort, ("sensitive",)),
    "sa_rank": Attacker("sa_rank", 1, ranks.sa_rank, ("column",)),
    "sa_nearest": Attacker("sa_nearest", 1, ranks.sa_nearest, ("column",)),
    "euc1": Attacker("euc1", 1, euclidean.euc1, ("quasi_identifiers", "sensitive", "give_up")),
    "euc2": Attacker("euc2", 1, euclidean.euc2, ("quasi_identifiers", "sensitive")),
}
