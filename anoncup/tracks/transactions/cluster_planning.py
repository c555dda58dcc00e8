"""Choose the number of clusters from the expected numbers of dummy records and re-identifications.

The model is that of P3 §4.2 and §4.3; ``anoncup.tracks`` lists the papers.
"""

import math


def expected_dummies(clusters: float, *, customers: int, records: int, goods: int) -> float:
    """Return E(Δm) = nℓ{(1 - 1/ℓ)^(m/n) - (1 - 1/ℓ)^(m/c)}, the dummies for c clusters, >= 0 (P3 §4.2).

    Each of the n ``customers`` picks m/n of the ℓ ``goods`` and each cluster m/c, uniformly with replacement,
    where m are the ``records``. A dummy is needed for each good that a customer's cluster picked and the
    customer did not. ``clusters`` c is in [1, n]; c = n needs no dummies.

    >>> round(expected_dummies(1, customers=400, records=38_000, goods=2_700))
    1042653
    """
    if goods == 1:
        return 0.0  # every customer already has the only good
    log_miss_probability = math.log1p(-1.0 / goods)
    customer_misses = math.exp(log_miss_probability * records / customers)
    # The form (1 - 1/ℓ)^(m/n) {1 - (1 - 1/ℓ)^(m/c - m/n)} avoids subtracting nearly equal powers.
    extra_draws = records * (customers - clusters) / (customers * clusters)
    return -customers * goods * customer_misses * math.expm1(log_miss_probability * extra_draws)


def best_clusters(*, customers: int, records: int, goods: int, weight: float | None = None) -> int:
    """Return the c in 1..n that minimises αE(Δm) + c/n; ties go to the lowest (P3 §4.3, Fig. 14).

    c/n is the expected re-identification rate, α the ``weight`` of a dummy. The default weight is 1/E(Δm) at
    c = 1, like the 1/1,042,653 of P3, so that both terms lie in [0, 1].

    >>> best_clusters(customers=400, records=38_000, goods=2_700, weight=1 / 1_042_653)
    69
    """
    dummies = [
        expected_dummies(clusters, customers=customers, records=records, goods=goods)
        for clusters in range(1, customers + 1)
    ]
    if weight is None:
        weight = 1.0 / dummies[0] if dummies[0] > 0 else 0.0
    losses = [weight * count + clusters / customers for clusters, count in enumerate(dummies, start=1)]
    return losses.index(min(losses)) + 1


def expected_shared_goods(mean_goods: float, mean_jaccard: float) -> float:
    """Return h = 2bμ/(1 + μ), the number of goods that two customers share on average (P3 Proposition 1).

    b = ``mean_goods`` of a customer, μ = ``mean_jaccard`` of two customers' sets of goods, in [0, 1].

    >>> round(expected_shared_goods(65, 0.03), 2)
    3.79
    """
    return 2.0 * mean_goods * mean_jaccard / (1.0 + mean_jaccard)
