"""The sample anonymization methods by name."""

from app.scoring.methods import microdata, permutations
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
