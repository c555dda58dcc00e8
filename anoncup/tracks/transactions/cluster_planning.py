"""How many clusters to make: what dummies and re-identification are to be expected (P3 §4.2, §4.3)."""

import math

import numpy as np

from anoncup.geometry.arrays import FloatArray


def expected_dummies(clusters: float, *, customers: int, records: int, goods: int) -> float:
    """E(Δm) = nℓ{(1 - 1/ℓ)^(m/n) - (1 - 1/ℓ)^(m/c)}, the dummies of c clusters, >= 0 (P3 §4.2).

    Each of n ``customers`` draws m/n of the ℓ ``goods``, a cluster m/c, uniformly and with replacement: he
    lacks what his cluster drew and he did not. ``clusters`` c is in [1, n]; c = n takes none.

    >>> round(expected_dummies(1, customers=400, records=38_000, goods=2_700))
    1042653
    """
    return float(_expected(np.array([clusters], dtype=np.float64), customers, records, goods)[0])


def best_clusters(*, customers: int, records: int, goods: int, weight: float | None = None) -> int:
    """The number c of clusters in 1..n that minimises αE(Δm) + c/n, of several the lowest (P3 §4.3, Fig. 14).

    c/n is the expected re-identification rate, α the ``weight`` of a dummy. Without one it is 1/E(Δm) at
    c = 1, as P3's 1/1,042,653 is: both terms then lie in [0, 1].

    >>> best_clusters(customers=400, records=38_000, goods=2_700, weight=1 / 1_042_653)
    69
    """
    clusters = np.arange(1, customers + 1, dtype=np.float64)
    dummies = _expected(clusters, customers, records, goods)
    most = float(dummies[0])
    alpha = weight if weight is not None else 1.0 / most if most > 0 else 0.0
    return int((alpha * dummies + clusters / customers).argmin()) + 1


def expected_shared_goods(mean_goods: float, mean_jaccard: float) -> float:
    """h = 2bμ/(1 + μ), the goods that two customers share on average (P3 Proposition 1).

    b ``mean_goods`` of a customer, μ ``mean_jaccard`` of two customers' sets of goods, in [0, 1].

    >>> round(expected_shared_goods(65, 0.03), 2)
    3.79
    """
    return 2.0 * mean_goods * mean_jaccard / (1.0 + mean_jaccard)


def _expected(clusters: FloatArray, customers: int, records: int, goods: int) -> FloatArray:
    """As nℓ(1 - 1/ℓ)^(m/n){1 - (1 - 1/ℓ)^(m/c - m/n)}: no difference of nearly equal powers is taken."""
    if goods == 1:
        return np.zeros_like(clusters)  # everybody has the only good
    never = math.log1p(-1.0 / goods)
    more = records * (customers - clusters) / (customers * clusters)
    found: FloatArray = -customers * goods * math.exp(never * records / customers) * np.expm1(never * more)
    return found
