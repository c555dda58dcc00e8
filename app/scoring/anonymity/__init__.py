"""The k-anonymity of each track and its companions by name."""

from anoncup.lazy import deferred_in
from anoncup.tracks.parts import Measure

_by = deferred_in(__name__)

ANONYMITY = {
    "k_min": Measure("k_min", 1, _by("microdata.k_min"), higher_is_better=True, reads_secret=False),
    "k_mean": Measure("k_mean", 1, _by("microdata.k_mean"), higher_is_better=True, reads_secret=False),
    "classes": Measure("classes", 1, _by("microdata.classes"), reads_secret=False),
    "unique_share": Measure("unique_share", 1, _by("microdata.unique_share"), reads_secret=False),
    "l_diversity": Measure(
        "l_diversity",
        1,
        _by("microdata.l_diversity"),
        details=_by("microdata.l_diversity_by_column"),
        higher_is_better=True,
        reads_secret=False,
    ),
    "t_closeness": Measure(
        "t_closeness",
        1,
        _by("microdata.t_closeness"),
        details=_by("microdata.t_closeness_by_column"),
        reads_secret=False,
    ),
}

CUSTOMER_ANONYMITY = {
    "k_min": Measure("k_min", 1, _by("transactions.k_min"), higher_is_better=True, reads_secret=False),
    "k_mean": Measure("k_mean", 1, _by("transactions.k_mean"), higher_is_better=True, reads_secret=False),
    "basket_k_min": Measure(
        "basket_k_min", 1, _by("transactions.basket_k_min"), higher_is_better=True, reads_secret=False
    ),
    "basket_k_mean": Measure(
        "basket_k_mean", 1, _by("transactions.basket_k_mean"), higher_is_better=True, reads_secret=False
    ),
}
