"""Every number equals a second implementation's on tables made to break it."""

import math
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given

from anoncup.excessive.individual_distances import Histogram, individual_distances
from anoncup.tracks.linkage import attack_rates
from anoncup.tracks.microdata import MICRODATA, anonymity, distances, utility
from anoncup.tracks.microdata.attackers import quasi_identifiers
from tests.scoring import reference
from tests.scoring.guesses import guessed
from tests.scoring.tables_to_break import Case, cases
from tests.support.hypothesis_profiles import examples

hostile = examples(150)


def largest_cell(case: Case) -> float:
    return max(abs(x) for row in case.xs + case.ys for x in row)


def agree(value: float, expected: float, *, unit: float = 1.0) -> None:
    assert type(value) is float
    assert math.isfinite(value)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-12 * unit)


@hostile
@given(cases())
def test_mean_mae(case: Case) -> None:
    agree(utility.mean_mae(case.release), reference.mean_mae(case.xs, case.ys), unit=largest_cell(case))


@hostile
@given(cases())
def test_cross_tables(case: Case) -> None:
    roles, quasi = case.release.original.columns, range(len(case.xq[0]))
    tables = case.xq, case.xs, case.yq, case.ys
    unit = largest_cell(case)
    agree(utility.cross_mean(case.release), reference.cross_mean(tables, quasi, [0]), unit=unit)
    every = utility.cross_mean(case.release, columns=roles.quasi_identifiers[1:], target=roles.sensitive)
    agree(every, reference.cross_mean(tables, quasi[1:], range(len(case.xs[0]))), unit=unit)
    agree(utility.cross_count(case.release), reference.cross_count(case.xq, case.yq, quasi))
    some = utility.cross_count(case.release, columns=roles.quasi_identifiers[:1])
    agree(some, reference.cross_count(case.xq, case.yq, quasi[:1]))


@hostile
@given(cases())
def test_correlations_losses_and_rows(case: Case) -> None:
    agree(utility.cor_mae(case.release), reference.cor_mae(case.xs, case.ys))
    agree(utility.information_loss(case.release), reference.information_loss(case.xs, case.ys, case.source))
    agree(utility.row_difference(case.release), float(len(case.xs) - len(case.ys)))


@hostile
@given(cases())
def test_anonymity(case: Case) -> None:
    sizes = reference.class_sizes(case.yq)
    agree(anonymity.k_min(case.release), float(min(sizes)))
    agree(anonymity.k_mean(case.release), len(case.yq) / len(sizes))
    agree(anonymity.classes(case.release), float(len(sizes)))
    agree(anonymity.unique_share(case.release), sizes.count(1) / len(case.yq))
    names = case.release.original.columns.sensitive
    by_l = {n: reference.l_of_column(case.yq, case.ys, p) for p, n in enumerate(names)}
    by_t = {n: reference.t_of_column(case.yq, case.ys, p) for p, n in enumerate(names)}
    assert anonymity.l_diversity_by_column(case.release) == by_l
    assert anonymity.t_closeness_by_column(case.release) == pytest.approx(by_t, rel=1e-12)
    agree(anonymity.l_diversity(case.release), min(by_l.values()))
    agree(anonymity.t_closeness(case.release), max(by_t.values()))


@hostile
@given(cases())
def test_gower_and_the_distances_of_individuals(case: Case) -> None:
    def between(i: int, j: int) -> float:
        return reference.gower(case.xq, case.xs, i, case.yq[j], case.ys[j])

    own = [between(i, j) for j, i in enumerate(case.source)]
    assert distances.gower_rows(case.release) == pytest.approx(own, rel=1e-9, abs=1e-12)
    every = [[between(i, j) for i in range(len(case.xs))] for j in range(len(case.ys))]
    block = distances.gower_block(case.release.target, 0, len(case.ys))
    assert block == pytest.approx(np.array(every), rel=1e-9, abs=1e-12)
    moved = individual_distances(case.release, MICRODATA.distances["gower"])
    expected = own + [1.0] * (len(case.xs) - len(case.ys))
    agree(moved.mean, sum(expected) / len(expected))
    agree(moved.largest, max(expected))
    for threshold in (None, 0.0, 0.04, 3.0):
        holds(moved.histogram(threshold), expected, threshold or 0.0)


def holds(found: Histogram, distances: list[float], threshold: float) -> None:
    """As many up to each edge as there are distances below it; one on the edge may count on either side."""
    farthest = max(threshold, *distances)
    assert found.end == pytest.approx(farthest if farthest > 1e-6 else 1.0, rel=1e-12)
    assert sum(found.counts) == len(distances)
    for i, below in enumerate(accumulate(found.counts), start=1):
        edge = found.end * i / len(found.counts)
        assert sum(d < edge - 1e-9 for d in distances) <= below
        assert below <= sum(d <= edge + 1e-9 for d in distances)


@hostile
@given(cases())
def test_the_nearest_other_row_by_gower(case: Case) -> None:
    n = len(case.xs)
    expected = [
        min(
            (reference.gower(case.xq, case.xs, j, case.xq[i], case.xs[i]) for j in range(n) if j != i),
            default=math.inf,
        )
        for i in range(n)
    ]
    assert distances.gower_nearest_other(case.release.original) == pytest.approx(
        expected, rel=1e-9, abs=1e-12
    )


@hostile
@given(cases())
def test_id_rand(case: Case) -> None:
    answer = quasi_identifiers.id_rand(case.release.target)
    rate = attack_rates.rate_of(answer, case.release.source, rows=len(case.xs))
    agree(rate.rate, reference.id_rand_rate(case.xq, case.yq, case.source, range(len(case.xq[0]))))
    guess = attack_rates.sampled_guess(answer, np.random.default_rng(0))
    sets = reference.candidates(case.xq, case.yq, range(len(case.xq[0])))
    assert all(g in c if c else g == -1 for g, c in zip(guess.tolist(), sets, strict=True))


@hostile
@given(cases())
def test_attackers_by_value_and_rank(case: Case) -> None:
    target, last = case.release.target, len(case.xs[0]) - 1
    quasi, sensitive = range(len(case.xq[0])), range(last + 1)
    tables, name = (case.xq, case.xs, case.yq, case.ys), f"s{last}"
    assert guessed("id_sa", target, column=name) == reference.id_sa(tables, quasi, last)
    assert guessed("id_sa", target, quasi_identifiers=()) == reference.id_sa(tables, [], 0)
    assert guessed("sa_nearest", target, column=name) == reference.id_sa(tables, [], last)
    assert guessed("sa_rank", target, column=name) == reference.sa_rank(case.xs, case.ys, last)
    assert guessed("sort", target) == reference.sort(case.xs, case.ys, sensitive)
    assert guessed("sort", target, sensitive=(name,)) == reference.sort(case.xs, case.ys, [last])


@hostile
@given(cases())
def test_euclidean_attackers(case: Case) -> None:
    target = case.release.target
    quasi, sensitive = range(len(case.xq[0])), range(len(case.xs[0]))
    tables = case.xq, case.xs, case.yq, case.ys
    found = reference.euclid(tables, quasi, sensitive, search_all=False)
    assert guessed("euc1", target) == found
    assert guessed("euc1", target, give_up="own_row") == [j if g < 0 else g for j, g in enumerate(found)]
    assert guessed("euc2", target) == reference.euclid(tables, quasi, sensitive, search_all=True)
    subset = {"quasi_identifiers": ("q0",), "sensitive": ("s0",)}
    assert guessed("euc2", target, **subset) == reference.euclid(tables, [0], [0], search_all=True)
