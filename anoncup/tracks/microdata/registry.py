"""The measures, attackers and methods of the microdata track by name."""

from __future__ import annotations  # the numeric types are imported for type checkers only

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anoncup.lazy import lazy, lazy_in
from anoncup.rules.parameters import Parameter
from anoncup.tracks.linkage.question import (
    DENSE_LIMIT_PARAMETER,
    SHARE_PARAMETER,
    SHARE_STRENGTHS,
    keep_columns,
    vary_parameter,
)
from anoncup.tracks.parts import Attacker, Measure, Method, Registry

if TYPE_CHECKING:
    from anoncup.tracks.linkage.attack_rates import LinkGuess
    from anoncup.tracks.microdata.release import (
        AnonymizedTable,
        MicrodataOriginal,
        MicrodataTarget,
        ScoredMicrodata,
    )

_lazy = lazy_in("anoncup.tracks.microdata")
_columns_parameter = Parameter("columns", "columns", "quasi_identifiers")
_target_parameter = Parameter("target", "columns", "sensitive", default=1)


def _register_utility(
    name: str, *parameters: Parameter, reads_secret: bool = False, **options: Any
) -> Measure[MicrodataOriginal, ScoredMicrodata]:
    compute = _lazy(f"utility.{name}")
    return Measure(name, 1, compute, parameters, weighs=True, reads_secret=reads_secret, **options)


def _register_anonymity(
    name: str, *, is_exact: bool = True, **options: Any
) -> Measure[MicrodataOriginal, ScoredMicrodata]:
    return Measure(name, 1, _lazy(f"anonymity.{name}"), is_exact=is_exact, reads_secret=False, **options)


UTILITIES: Registry[Measure[MicrodataOriginal, ScoredMicrodata]] = Registry.from_parts(
    _register_utility(
        "mean_mae",
        largest_cell=_lazy("utility.find_largest_sensitive_cell"),
        scale=_lazy("utility.mean_deviation"),
    ),
    _register_utility(
        "cross_mean",
        _columns_parameter,
        _target_parameter,
        largest_cell=_lazy("utility.find_largest_target_cell"),
        cross_table_parameter="columns",
    ),
    _register_utility("cross_count", _columns_parameter, is_exact=True, cross_table_parameter="columns"),
    _register_utility("cor_mae"),
    _register_utility("information_loss", reads_secret=True),
    _register_utility("row_difference", is_exact=True, scale=_lazy("utility.count_original_rows")),
)
ANONYMITY: Registry[Measure[MicrodataOriginal, ScoredMicrodata]] = Registry.from_parts(
    _register_anonymity("k_min", higher_is_better=True),
    _register_anonymity("k_mean", higher_is_better=True),
    _register_anonymity("classes"),
    _register_anonymity("unique_share"),
    _register_anonymity(
        "l_diversity", higher_is_better=True, details=_lazy("anonymity.compute_l_diversity_by_column")
    ),
    _register_anonymity(
        "t_closeness", is_exact=False, details=_lazy("anonymity.compute_t_closeness_by_column")
    ),
)

_quasi_identifiers_parameter = Parameter("quasi_identifiers", "columns", "quasi_identifiers")
_sensitive_parameter = Parameter("sensitive", "columns", "sensitive")
_roles_parameters = (_quasi_identifiers_parameter, _sensitive_parameter)
_column_parameter = Parameter("column", "column", "sensitive")
_give_up_parameter = Parameter("give_up", "choice", ("abstain", "own_row"))


def _register_attacker(path: str, *parameters: Parameter) -> Attacker[MicrodataTarget, LinkGuess]:
    """Register ``MODULE.NAME`` of the package ``attackers``."""
    return Attacker(path.partition(".")[2], 1, _lazy(f"attackers.{path}"), parameters)


ATTACKERS: Registry[Attacker[MicrodataTarget, LinkGuess]] = Registry.from_parts(
    _register_attacker("official.id_rand", _quasi_identifiers_parameter),
    _register_attacker("official.id_sa", _column_parameter, _quasi_identifiers_parameter),
    _register_attacker("official.sort", _sensitive_parameter),
    _register_attacker("official.sa_rank", _column_parameter),
    _register_attacker("official.sa_nearest", _column_parameter),
    _register_attacker("euclidean.euc1", *_roles_parameters, _give_up_parameter),
    _register_attacker("euclidean.euc2", *_roles_parameters),
    _register_attacker("euclidean.aya", *_roles_parameters),
    Attacker("own_row", 1, lazy("anoncup.tracks.linkage.attack_rates.own_row")),
    _register_attacker("gower.gower"),
    _register_attacker("assignment.euc2_assignment", *_roles_parameters, DENSE_LIMIT_PARAMETER),
    _register_attacker("assignment.gower_assignment", DENSE_LIMIT_PARAMETER),
)


def _vary_columns(rows: int, columns: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    """Vary the columns: the last one, and the last half."""
    column_counts = sorted({min(1, len(columns)), (len(columns) + 1) // 2} - {0})
    return [{"columns": list(columns[-column_count:])} for column_count in column_counts]


def _register_method(name: str, *parameters: Parameter, **options: Any) -> Method[AnonymizedTable]:
    return Method(name, _lazy(f"methods.{name}"), parameters, **options)


METHODS: Registry[Method[AnonymizedTable]] = Registry.from_parts(
    _register_method("k_anonymize", Parameter("k", "whole", default=3), strengths=vary_parameter("k", 3, 10)),
    _register_method(
        "add_noise",
        Parameter("strength", "amount", default=0.1),
        strengths=vary_parameter("strength", 0.1, 0.5),
    ),
    _register_method("cheating_permutation", cheats=True),
    _register_method("unify_columns", _columns_parameter, strengths=_vary_columns),
    _register_method("microaggregate"),
    _register_method("swap_within_classes"),
    _register_method("delete_rows", SHARE_PARAMETER, strengths=SHARE_STRENGTHS),
    _register_method("shift", cheats=True),
    _register_method("random_permutation", cheats=True),
    _register_method("group_permutation", _columns_parameter, strengths=keep_columns, cheats=True),
)
