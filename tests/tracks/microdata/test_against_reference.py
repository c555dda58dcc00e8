"""Microdata measures, distances and attackers equal a second implementation on hostile tables."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given

from anoncup.excessive.rejection_rule import compute_individual_distances
from anoncup.tracks.linkage import attack_rates
from anoncup.tracks.microdata import MICRODATA, anonymity, distances, utility
from anoncup.tracks.microdata.attackers import official
from tests.support import microdata_reference
from tests.support.attacker_guesses import guess_rows
from tests.support.hypothesis_profiles import limit_examples
from tests.support.microdata_cases import MicrodataCase, cases

hostile_examples = limit_examples(150)


def find_largest_cell(case: MicrodataCase) -> float:
    return max(abs(x) for row in case.xs + case.ys for x in row)


def check_close(value: float, expected: float, *, unit: float = 1.0) -> None:
    assert type(value) is float
    assert math.isfinite(value)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-12 * unit)


@hostile_examples
@given(cases())
def test_utility_measures_equal_the_reference(case: MicrodataCase) -> None:
    xs, ys, unit = case.xs, case.ys, find_largest_cell(case)
    check_close(utility.mean_mae(case.release), microdata_reference.mean_mae(xs, ys), unit=unit)
    check_close(utility.cor_mae(case.release), microdata_reference.cor_mae(xs, ys))
    loss = microdata_reference.information_loss(xs, ys, case.source)
    check_close(utility.information_loss(case.release), loss)
    check_close(utility.row_difference(case.release), float(len(xs) - len(ys)))


@hostile_examples
@given(cases())
def test_cross_table_measures_equal_the_reference(case: MicrodataCase) -> None:
    roles, quasi, sensitive = case.release.original.columns, range(len(case.xq[0])), range(len(case.xs[0]))
    tables, unit = (case.xq, case.xs, case.yq, case.ys), find_largest_cell(case)
    expected = microdata_reference.cross_mean(tables, quasi, [0])
    check_close(utility.cross_mean(case.release), expected, unit=unit)
    options = {"columns": roles.quasi_identifiers[1:], "target": roles.sensitive}
    expected = microdata_reference.cross_mean(tables, quasi[1:], sensitive)
    check_close(utility.cross_mean(case.release, **options), expected, unit=unit)
    check_close(utility.cross_count(case.release), microdata_reference.cross_count(case.xq, case.yq, quasi))
    one_column = utility.cross_count(case.release, columns=roles.quasi_identifiers[:1])
    check_close(one_column, microdata_reference.cross_count(case.xq, case.yq, quasi[:1]))


@hostile_examples
@given(cases())
def test_anonymity_measures_equal_the_reference(case: MicrodataCase) -> None:
    sizes = microdata_reference.class_sizes(case.yq)
    check_close(anonymity.k_min(case.release), float(min(sizes)))
    check_close(anonymity.k_mean(case.release), len(case.yq) / len(sizes))
    check_close(anonymity.classes(case.release), float(len(sizes)))
    check_close(anonymity.unique_share(case.release), sizes.count(1) / len(case.yq))
    names = list(enumerate(case.release.original.columns.sensitive))
    by_l = {name: microdata_reference.column_l_diversity(case.yq, case.ys, index) for index, name in names}
    by_t = {name: microdata_reference.column_t_closeness(case.yq, case.ys, index) for index, name in names}
    assert anonymity.compute_l_diversity_by_column(case.release) == by_l
    assert anonymity.compute_t_closeness_by_column(case.release) == pytest.approx(by_t, rel=1e-12)
    check_close(anonymity.l_diversity(case.release), min(by_l.values()))
    check_close(anonymity.t_closeness(case.release), max(by_t.values()))


@hostile_examples
@given(cases())
def test_gower_distances_equal_the_reference(case: MicrodataCase) -> None:
    widths = microdata_reference.column_widths(case.xs)

    def distance(i: int, j: int) -> float:
        return microdata_reference.gower(case.xq[i], case.xs[i], case.yq[j], case.ys[j], widths)

    own_distances = [distance(i, j) for j, i in enumerate(case.source)]
    assert distances.gower_to_source(case.release) == pytest.approx(own_distances, rel=1e-9, abs=1e-12)
    all_distances = [[distance(i, j) for i in range(len(case.xs))] for j in range(len(case.ys))]
    sums = distances.compute_gower_sums(case.release.target, np.arange(len(case.ys)))
    assert distances.to_distances(sums, case.release.original) == pytest.approx(
        np.array(all_distances), rel=1e-9, abs=1e-12
    )
    result = compute_individual_distances(case.release, MICRODATA.distances["gower"])
    expected = own_distances + [1.0] * (len(case.xs) - len(case.ys))
    check_close(result.mean, sum(expected) / len(expected))
    check_close(result.largest, max(expected))
    for threshold in (None, 0.0, 0.04, 3.0):
        histogram = result.histogram(threshold)
        farthest = max(threshold or 0.0, *expected)
        assert histogram.end == pytest.approx(farthest if farthest > 1e-6 else 1.0, rel=1e-12)
        assert sum(histogram.counts) == len(expected)


@hostile_examples
@given(cases())
def test_nearest_gower_distances_equal_the_reference(case: MicrodataCase) -> None:
    texts, cells, widths = case.xq, case.xs, microdata_reference.column_widths(case.xs)
    all_distances = {
        (i, j): microdata_reference.gower(texts[i], cells[i], texts[j], cells[j], widths)
        for i, j in permutations(range(len(cells)), 2)
    }
    expected = [
        min((all_distances[i, j] for j in range(len(cells)) if j != i), default=math.inf)
        for i in range(len(cells))
    ]
    assert distances.gower_nearest_other(case.release.original) == pytest.approx(
        expected, rel=1e-9, abs=1e-12
    )


@hostile_examples
@given(cases())
def test_id_rand_equals_the_reference(case: MicrodataCase) -> None:
    answer = official.id_rand(case.release.target)
    rate = attack_rates.rate_guess(answer, case.release.answer, rows=len(case.xs))
    check_close(
        rate.value, microdata_reference.id_rand_rate(case.xq, case.yq, case.source, range(len(case.xq[0])))
    )
    guess = answer.sample(np.random.default_rng(0))
    sets = microdata_reference.candidates(case.xq, case.yq, range(len(case.xq[0])))
    assert all(g in c if c else g == -1 for g, c in zip(guess.tolist(), sets, strict=True))


@hostile_examples
@given(cases())
def test_value_and_rank_attackers_equal_the_reference(case: MicrodataCase) -> None:
    target, last, xs, ys = case.release.target, len(case.xs[0]) - 1, case.xs, case.ys
    tables, quasi, name = (case.xq, xs, case.yq, ys), range(len(case.xq[0])), f"s{last}"
    assert guess_rows("id_sa", target, column=name) == microdata_reference.id_sa(tables, quasi, last)
    assert guess_rows("id_sa", target, quasi_identifiers=()) == microdata_reference.id_sa(tables, [], 0)
    assert guess_rows("sa_nearest", target, column=name) == microdata_reference.id_sa(tables, [], last)
    assert guess_rows("sa_rank", target, column=name) == microdata_reference.sa_rank(xs, ys, last)
    assert guess_rows("sort", target) == microdata_reference.sort(xs, ys, range(last + 1))
    assert guess_rows("sort", target, sensitive=(name,)) == microdata_reference.sort(xs, ys, [last])


@hostile_examples
@given(cases())
def test_euclidean_attackers_equal_the_reference(case: MicrodataCase) -> None:
    target, tables = case.release.target, (case.xq, case.xs, case.yq, case.ys)
    columns = range(len(case.xq[0])), range(len(case.xs[0]))
    expected = microdata_reference.euclidean_guess(tables, *columns, search_all=False)
    assert guess_rows("euc1", target) == expected
    own_rows = [index if row < 0 else row for index, row in enumerate(expected)]
    assert guess_rows("euc1", target, give_up="own_row") == own_rows
    expected = microdata_reference.euclidean_guess(tables, *columns, search_all=True)
    assert guess_rows("euc2", target) == expected
    expected = microdata_reference.euclidean_guess(tables, [0], [0], search_all=True)
    assert guess_rows("euc2", target, quasi_identifiers=("q0",), sensitive=("s0",)) == expected
