"""The measures, attackers and methods of the microdata track by name."""

from collections.abc import Mapping, Sequence
from typing import Any

from anoncup.lazy import deferred, deferred_in
from anoncup.rules.parameters import Parameter
from anoncup.tracks.linkage.parameters import DENSE_LIMIT_PARAMETER, SHARE, SHARES, each_of, no_strengths
from anoncup.tracks.parts import Attacker, Measure, Method

_by = deferred_in("anoncup.tracks.microdata")
_columns = Parameter("columns", "columns", "quasi_identifiers")
_target = Parameter("target", "columns", "sensitive", default=1)

UTILITIES = {
    "mean_mae": Measure(
        "mean_mae",
        1,
        _by("utility.mean_mae"),
        in_data_units=True,
        weighs=True,
        reads_secret=False,
        scale=_by("utility.mean_deviation"),
    ),
    "cross_mean": Measure(
        "cross_mean",
        1,
        _by("utility.cross_mean"),
        (_columns, _target),
        in_data_units=True,
        weighs=True,
        reads_secret=False,
        crosses=_columns.name,
    ),
    "cross_count": Measure(
        "cross_count",
        1,
        _by("utility.cross_count"),
        (_columns,),
        weighs=True,
        reads_secret=False,
        crosses=_columns.name,
    ),
    "cor_mae": Measure("cor_mae", 1, _by("utility.cor_mae"), weighs=True, reads_secret=False),
    "information_loss": Measure(
        "information_loss",
        1,
        _by("utility.information_loss"),
        weighs=True,
    ),
    "row_difference": Measure(
        "row_difference",
        1,
        _by("utility.row_difference"),
        weighs=True,
        reads_secret=False,
        scale=_by("utility.original_rows"),
    ),
}

ANONYMITY = {
    "k_min": Measure("k_min", 1, _by("anonymity.k_min"), higher_is_better=True, reads_secret=False),
    "k_mean": Measure("k_mean", 1, _by("anonymity.k_mean"), higher_is_better=True, reads_secret=False),
    "classes": Measure("classes", 1, _by("anonymity.classes"), reads_secret=False),
    "unique_share": Measure("unique_share", 1, _by("anonymity.unique_share"), reads_secret=False),
    "l_diversity": Measure(
        "l_diversity",
        1,
        _by("anonymity.l_diversity"),
        details=_by("anonymity.l_diversity_by_column"),
        higher_is_better=True,
        reads_secret=False,
    ),
    "t_closeness": Measure(
        "t_closeness",
        1,
        _by("anonymity.t_closeness"),
        details=_by("anonymity.t_closeness_by_column"),
        reads_secret=False,
    ),
}

_quasi = Parameter("quasi_identifiers", "columns", "quasi_identifiers")
_sensitive = Parameter("sensitive", "columns", "sensitive")
_column = Parameter("column", "column", "sensitive")
_give_up = Parameter("give_up", "choice", ("abstain", "own_row"))

ATTACKERS = {
    "id_rand": Attacker("id_rand", 1, _by("attackers.quasi_identifiers.id_rand"), (_quasi,)),
    "id_sa": Attacker("id_sa", 1, _by("attackers.quasi_identifiers.id_sa"), (_column, _quasi)),
    "sort": Attacker("sort", 1, _by("attackers.ranks.sort"), (_sensitive,)),
    "sa_rank": Attacker("sa_rank", 1, _by("attackers.ranks.sa_rank"), (_column,)),
    "sa_nearest": Attacker("sa_nearest", 1, _by("attackers.ranks.sa_nearest"), (_column,)),
    "euc1": Attacker("euc1", 1, _by("attackers.euclidean.euc1"), (_quasi, _sensitive, _give_up)),
    "euc2": Attacker("euc2", 1, _by("attackers.euclidean.euc2"), (_quasi, _sensitive)),
    "aya": Attacker("aya", 1, _by("attackers.euclidean.aya"), (_quasi, _sensitive)),
    "own_row": Attacker("own_row", 1, deferred("anoncup.tracks.linkage.attackers.own_row")),
    "gower": Attacker("gower", 1, _by("attackers.gower.gower")),
    "euc2_assignment": Attacker(
        "euc2_assignment",
        1,
        _by("attackers.assignment.euc2_assignment"),
        (_quasi, _sensitive, DENSE_LIMIT_PARAMETER),
    ),
    "gower_assignment": Attacker(
        "gower_assignment", 1, _by("attackers.assignment.gower_assignment"), (DENSE_LIMIT_PARAMETER,)
    ),
}


def _more_columns(rows: int, columns: Sequence[str]) -> Sequence[Mapping[str, Any]]:  # noqa: ARG001
    """The last column, the last two, the last half."""
    numbers = sorted({min(number, len(columns)) for number in (1, 2, (len(columns) + 1) // 2)} - {0})
    return [{"columns": list(columns[-number:])} for number in numbers]


METHODS = {
    "k_anonymize": Method(
        "k_anonymize",
        _by("methods.k_anonymize"),
        (Parameter("k", "whole", default=3),),
        each_of("k", 2, 3, 5, 10),
    ),
    "add_noise": Method(
        "add_noise",
        _by("methods.add_noise"),
        (Parameter("strength", "amount", default=0.1),),
        each_of("strength", 0.05, 0.1, 0.2, 0.5),
    ),
    "cheating_permutation": Method(
        "cheating_permutation", _by("permutations.cheating_permutation"), (), no_strengths
    ),
    "unify_columns": Method("unify_columns", _by("methods.unify_columns"), (_columns,), _more_columns),
    "microaggregate": Method("microaggregate", _by("methods.microaggregate")),
    "swap_within_classes": Method("swap_within_classes", _by("methods.swap_within_classes")),
    "delete_rows": Method("delete_rows", _by("methods.delete_rows"), (SHARE,), SHARES),
    "shift": Method("shift", _by("permutations.shift"), (), no_strengths),
    "random_permutation": Method(
        "random_permutation", _by("permutations.random_permutation"), (), no_strengths
    ),
    "group_permutation": Method(
        "group_permutation", _by("permutations.group_permutation"), (_columns,), no_strengths
    ),
}
