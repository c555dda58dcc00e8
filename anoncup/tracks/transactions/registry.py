"""The measures, attackers and methods of the transactions track by name."""

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
)
from anoncup.tracks.parts import Attacker, Measure, Method, Registry

if TYPE_CHECKING:
    from anoncup.tracks.linkage.attack_rates import LinkGuess
    from anoncup.tracks.transactions.release import ScoredTransactions, TransactionOriginal, TransactionTarget
    from anoncup.tracks.transactions.tables import AnonymizedTransactions

_lazy = lazy_in("anoncup.tracks.transactions")


def _register_utility(name: str, **options: Any) -> Measure[TransactionOriginal, ScoredTransactions]:
    return Measure(name, 1, _lazy(f"utility.{name}"), weighs=True, reads_secret=False, **options)


def _register_anonymity(name: str) -> Measure[TransactionOriginal, ScoredTransactions]:
    compute = _lazy(f"anonymity.{name}")
    return Measure(name, 1, compute, is_exact=True, higher_is_better=True, reads_secret=False)


def _register_attackers(
    module: str, *names: str, parameters: tuple[Parameter, ...] = ()
) -> dict[str, Attacker[TransactionTarget, LinkGuess]]:
    """Register the attackers of a module of the package ``attackers``."""
    return {name: Attacker(name, 1, _lazy(f"attackers.{module}.{name}"), parameters) for name in names}


TRANSACTION_UTILITIES: Registry[Measure[TransactionOriginal, ScoredTransactions]] = Registry.from_parts(
    _register_utility("cmae_price", largest_cell=_lazy("utility.find_largest_price")),
    _register_utility("cmae_spend", largest_cell=_lazy("utility.find_largest_spend")),
    _register_utility("rfm", is_exact=True),
    _register_utility(
        "row_difference",
        details=_lazy("utility.signed_row_difference"),
        is_exact=True,
        scale=_lazy("utility.count_original_records"),
    ),
    _register_utility("goods_cosine"),
    _register_utility("top_goods", is_exact=True),
)

CUSTOMER_ANONYMITY: dict[str, Measure[TransactionOriginal, ScoredTransactions]] = {
    name: _register_anonymity(name) for name in ("k_min", "k_mean", "basket_k_min", "basket_k_mean")
}

TRANSACTION_ATTACKERS: dict[str, Attacker[TransactionTarget, LinkGuess]] = {
    **_register_attackers("baskets", "jaccard", "jaccard_quantity", "tfidf"),
    "random_in_cluster": Attacker(
        "random_in_cluster",
        1,
        _lazy("attackers.baskets.random_in_cluster"),
        may_count=False,
        reads_secret=False,
    ),
    **_register_attackers("baskets", "master_match"),
    **_register_attackers("records", "receipt_match"),
    "own_row": Attacker("own_row", 1, lazy("anoncup.tracks.linkage.attack_rates.own_row")),
    **_register_attackers("baskets", "sort_spend"),
    **_register_attackers("records", "record_keys"),
    **_register_attackers(
        "assignment",
        "jaccard_assignment",
        "jaccard_quantity_assignment",
        parameters=(DENSE_LIMIT_PARAMETER,),
    ),
}

_master_columns_parameter = Parameter("columns", "columns", "master", default=("sex", "country"))
_cluster_count_parameter = Parameter("clusters", "whole", default=50)


def _vary_cluster_count(rows: int, columns: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    """Vary the number of clusters: half of the customers, and an eighth."""
    cluster_counts = {max(rows // 2, 1), max(rows // 8, 1)}
    return [{"clusters": cluster_count} for cluster_count in sorted(cluster_counts, reverse=True)]


def _register_clustering(name: str, *parameters: Parameter) -> Method[AnonymizedTransactions]:
    parameters = (_cluster_count_parameter, *parameters)
    return Method(name, _lazy(f"methods.{name}"), parameters, _vary_cluster_count)


def _register_deletion(name: str) -> Method[AnonymizedTransactions]:
    return Method(name, _lazy(f"methods.{name}"), (SHARE_PARAMETER,), SHARE_STRENGTHS)


def _register_cheat(name: str, **options: Any) -> Method[AnonymizedTransactions]:
    return Method(name, _lazy(f"methods.{name}"), cheats=True, **options)


TRANSACTION_METHODS: Registry[Method[AnonymizedTransactions]] = Registry.from_parts(
    _register_clustering("add_dummies"),
    _register_clustering("cluster_kmeans_jaccard"),
    _register_clustering("cluster_tfidf"),
    _register_clustering("balance_clusters", Parameter("smallest", "whole", default=5)),
    _register_deletion("delete_customers"),
    _register_deletion("delete_records"),
    _register_cheat("shift"),
    _register_cheat("random_permutation"),
    _register_cheat("group_permutation", parameters=(_master_columns_parameter,), strengths=keep_columns),
    _register_cheat("cheating_permutation"),
)
