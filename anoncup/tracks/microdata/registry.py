"""The measures, attackers and methods of the microdata track by name."""

from __future__ import annotations  # the numeric types are imported for type checkers only

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anoncup.lazy import lazy, lazy_in
from anoncup.rules.parameters import Parameter
from anoncup.tracks.linkage.parameters import (
    DENSE_LIMIT_PARAMETER,
    SHARE_PARAMETER,
    SHARE_STRENGTHS,
    vary_parameter,
)
from anoncup.tracks.parts import Attacker, Measure, Method

if TYPE_CHECKING:
    from anoncup.tracks.linkage.attack_rates import LinkGuess
    from anoncup.tracks.microdata.methods import AnonymizedTable
    from anoncup.tracks.microdata.release import MicrodataOriginal, MicrodataTarget, ScoredMicrodata

_lazy = lazy_in("anoncup.tracks.microdata")
_columns_parameter = Parameter("columns", "columns", "quasi_identifiers")
_target_parameter = Parameter("target", "columns", "sensitive", default=1)

UTILITIES: dict[str, Measure[MicrodataOriginal, ScoredMicrodata]] = {
    "mean_mae": Measure(
        "mean_mae",
        1,
        _lazy("utility.mean_mae"),
        largest_cell=_lazy("utility.find_largest_sensitive_cell"),
        weighs=True,
        reads_secret=False,
        scale=_lazy("utility.mean_deviation"),
    ),
    "cross_mean": Measure(
        "cross_mean",
        1,
        _lazy("utility.cross_mean"),
        (_columns_parameter, _target_parameter),
        largest_cell=_lazy("utility.find_largest_target_cell"),
        weighs=True,
        reads_secret=False,
        cross_table_parameter=_columns_parameter.name,
    ),
    "cross_count": Measure(
        "cross_count",
        1,
        _lazy("utility.cross_count"),
        (_columns_parameter,),
        is_exact=True,
        weighs=True,
        reads_secret=False,
        cross_table_parameter=_columns_parameter.name,
    ),
    "cor_mae": Measure("cor_mae", 1, _lazy("utility.cor_mae"), weighs=True, reads_secret=False),
    "information_loss": Measure(
        "information_loss",
        1,
        _lazy("utility.information_loss"),
        weighs=True,
    ),
    "row_difference": Measure(
        "row_difference",
        1,
        _lazy("utility.row_difference"),
        is_exact=True,
        weighs=True,
        reads_secret=False,
        scale=_lazy("utility.count_original_rows"),
    ),
}

ANONYMITY: dict[str, Measure[MicrodataOriginal, ScoredMicrodata]] = {
    "k_min": Measure(
        "k_min", 1, _lazy("anonymity.k_min"), is_exact=True, higher_is_better=True, reads_secret=False
    ),
    "k_mean": Measure(
        "k_mean", 1, _lazy("anonymity.k_mean"), is_exact=True, higher_is_better=True, reads_secret=False
    ),
    "classes": Measure("classes", 1, _lazy("anonymity.classes"), is_exact=True, reads_secret=False),
    "unique_share": Measure(
        "unique_share", 1, _lazy("anonymity.unique_share"), is_exact=True, reads_secret=False
    ),
    "l_diversity": Measure(
        "l_diversity",
        1,
        _lazy("anonymity.l_diversity"),
        details=_lazy("anonymity.compute_l_diversity_by_column"),
        is_exact=True,
        higher_is_better=True,
        reads_secret=False,
    ),
    "t_closeness": Measure(
        "t_closeness",
        1,
        _lazy("anonymity.t_closeness"),
        details=_lazy("anonymity.compute_t_closeness_by_column"),
        reads_secret=False,
    ),
}

_quasi_identifiers_parameter = Parameter("quasi_identifiers", "columns", "quasi_identifiers")
_sensitive_parameter = Parameter("sensitive", "columns", "sensitive")
_column_parameter = Parameter("column", "column", "sensitive")
_give_up_parameter = Parameter("give_up", "choice", ("abstain", "own_row"))

ATTACKERS: dict[str, Attacker[MicrodataTarget, LinkGuess]] = {
    "id_rand": Attacker(
        "id_rand", 1, _lazy("attackers.quasi_identifiers.id_rand"), (_quasi_identifiers_parameter,)
    ),
    "id_sa": Attacker(
        "id_sa",
        1,
        _lazy("attackers.quasi_identifiers.id_sa"),
        (_column_parameter, _quasi_identifiers_parameter),
    ),
    "sort": Attacker("sort", 1, _lazy("attackers.ranks.sort"), (_sensitive_parameter,)),
    "sa_rank": Attacker("sa_rank", 1, _lazy("attackers.ranks.sa_rank"), (_column_parameter,)),
    "sa_nearest": Attacker("sa_nearest", 1, _lazy("attackers.ranks.sa_nearest"), (_column_parameter,)),
    "euc1": Attacker(
        "euc1",
        1,
        _lazy("attackers.euclidean.euc1"),
        (_quasi_identifiers_parameter, _sensitive_parameter, _give_up_parameter),
    ),
    "euc2": Attacker(
        "euc2", 1, _lazy("attackers.euclidean.euc2"), (_quasi_identifiers_parameter, _sensitive_parameter)
    ),
    "aya": Attacker(
        "aya", 1, _lazy("attackers.euclidean.aya"), (_quasi_identifiers_parameter, _sensitive_parameter)
    ),
    "own_row": Attacker("own_row", 1, lazy("anoncup.tracks.linkage.attackers.own_row")),
    "gower": Attacker("gower", 1, _lazy("attackers.gower.gower")),
    "euc2_assignment": Attacker(
        "euc2_assignment",
        1,
        _lazy("attackers.assignment.euc2_assignment"),
        (_quasi_identifiers_parameter, _sensitive_parameter, DENSE_LIMIT_PARAMETER),
    ),
    "gower_assignment": Attacker(
        "gower_assignment", 1, _lazy("attackers.assignment.gower_assignment"), (DENSE_LIMIT_PARAMETER,)
    ),
}


def _vary_columns(rows: int, columns: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    """Vary the columns: the last one, and the last half."""
    column_counts = sorted({min(1, len(columns)), (len(columns) + 1) // 2} - {0})
    return [{"columns": list(columns[-column_count:])} for column_count in column_counts]


METHODS: dict[str, Method[AnonymizedTable]] = {
    "k_anonymize": Method(
        "k_anonymize",
        _lazy("methods.k_anonymize"),
        (Parameter("k", "whole", default=3),),
        vary_parameter("k", 3, 10),
    ),
    "add_noise": Method(
        "add_noise",
        _lazy("methods.add_noise"),
        (Parameter("strength", "amount", default=0.1),),
        vary_parameter("strength", 0.1, 0.5),
    ),
    "cheating_permutation": Method(
        "cheating_permutation", _lazy("methods.cheating_permutation"), cheats=True
    ),
    "unify_columns": Method(
        "unify_columns", _lazy("methods.unify_columns"), (_columns_parameter,), _vary_columns
    ),
    "microaggregate": Method("microaggregate", _lazy("methods.microaggregate")),
    "swap_within_classes": Method("swap_within_classes", _lazy("methods.swap_within_classes")),
    "delete_rows": Method("delete_rows", _lazy("methods.delete_rows"), (SHARE_PARAMETER,), SHARE_STRENGTHS),
    "shift": Method("shift", _lazy("methods.shift"), cheats=True),
    "random_permutation": Method("random_permutation", _lazy("methods.random_permutation"), cheats=True),
    "group_permutation": Method(
        "group_permutation",
        _lazy("methods.group_permutation"),
        (_columns_parameter,),
        lambda rows, columns: [{"columns": list(columns)}],  # noqa: ARG005
        cheats=True,
    ),
}
