"""What each sample method does, on a table of the 2015 shape; the pattern of P0's Tables 12 and 13."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.excessive.advisor import advise
from anoncup.excessive.individual_distances import individual_distances
from anoncup.rules.settings import Columns
from anoncup.tracks.linkage.attack_rates import rate_of
from anoncup.tracks.linkage.shuffling import derangement
from anoncup.tracks.microdata import MICRODATA
from anoncup.tracks.microdata.example import household_columns, household_table
from anoncup.tracks.microdata.permutations import shuffle_rows
from anoncup.tracks.microdata.registry import ANONYMITY, ATTACKERS, METHODS, UTILITIES
from anoncup.tracks.microdata.release import PreparedOriginal, Release, prepare, release_of

GOWER = MICRODATA.distances["gower"]
CROSS = household_columns().quasi_identifiers[:6]
PARAMETERS: dict[str, dict[str, object]] = {
    "cross_mean": {"columns": CROSS, "target": ("Youto038",)},
    "cross_count": {"columns": CROSS},
    "id_sa": {"column": "Youto038"},
    "sa_rank": {"column": "Youto117"},
    "sa_nearest": {"column": "Youto117"},
}
UNIFIED = {"cross": ["Tatekata"], "other": ["S1_Sangyou"]}
HONEST = (
    "k_anonymize",
    "add_noise",
    "cross",
    "other",
    "microaggregate",
    "swap_within_classes",
    "delete_rows",
)


@cache
def original(rows: int = 8333) -> PreparedOriginal:
    return prepare(household_table(rows), household_columns())


@cache
def released(name: str) -> Release:
    """By a method's name; ``cross``, ``other``: one column of, outside the cross-tables unified."""
    if name == "identity":
        return release_of(original(), original().table, np.arange(original().rows))
    method = METHODS["unify_columns" if name in UNIFIED else name]
    chosen = {"columns": UNIFIED[name]} if name in UNIFIED else {}
    rng = np.random.default_rng(1)
    return release_of(original(), *method.apply(original().table, original().columns, rng=rng, **chosen))


def measured(measure: str, name: str) -> float:
    """A utility below the zero rule's 1e-9 of the largest cell is 0."""
    entry = (UTILITIES | ANONYMITY)[measure]
    value = entry.compute(released(name), **PARAMETERS.get(measure, {}))
    tiny = 1e-9 * (float(original().values.max()) if entry.in_data_units else 1.0)
    return 0.0 if value < tiny else value


def rate(attacker: str, name: str) -> float:
    answer = ATTACKERS[attacker].attack(released(name).target, **PARAMETERS.get(attacker, {}))
    return rate_of(answer, released(name).source, rows=original().rows).rate


OF_THE_PAPER = set(parse_competition(template(2015)).weights)
ZERO = {
    "k_anonymize": {"mean_mae", "cor_mae", "information_loss", "row_difference"},
    "add_noise": {"cross_count", "row_difference"},
    "cheating_permutation": {"mean_mae", "cross_mean", "cross_count", "cor_mae", "row_difference"},
    "cross": {"mean_mae", "cor_mae", "information_loss", "row_difference"},
    "other": OF_THE_PAPER,
    "microaggregate": {"mean_mae", "cross_mean", "cross_count", "row_difference"},
    "swap_within_classes": {"mean_mae", "cross_mean", "cross_count", "row_difference"},
    "delete_rows": {"information_loss"},
}
"""Which utilities a method leaves at 0 (P0 Table 13; its Df and Dg had too few classes to show U4 and U5)."""


@pytest.mark.parametrize("name", ZERO)
def test_each_method_costs_the_utilities_it_costs_in_the_paper(name: str) -> None:
    assert {measure for measure in OF_THE_PAPER if measured(measure, name) == 0.0} == ZERO[name]


@pytest.mark.parametrize(
    "name", ["add_noise", "cheating_permutation", "microaggregate", "swap_within_classes"]
)
def test_methods_that_leave_the_quasi_identifiers_leave_the_classes(name: str) -> None:
    for measure in ("k_min", "k_mean", "classes"):
        assert measured(measure, name) == measured(measure, "identity")


@pytest.mark.parametrize("name", ["k_anonymize", "cross", "other"])
def test_methods_on_quasi_identifiers_make_larger_classes_and_leave_the_sorted_order(name: str) -> None:
    assert measured("k_mean", name) > measured("k_mean", "identity")
    assert rate("id_rand", name) < rate("id_rand", "identity")
    assert rate("sort", name) == rate("sort", "identity") == 1.0


@pytest.mark.parametrize("attacker", ["id_sa", "sort", "sa_rank", "euc1", "euc2"])
def test_the_cheating_permutation_deceives_every_attacker(attacker: str) -> None:
    assert rate(attacker, "cheating_permutation") < 0.01


def test_id_rand_is_not_changed_where_no_quasi_identifier_is() -> None:
    expected = measured("classes", "identity") / original().rows
    for name in ("identity", "add_noise", "microaggregate", "swap_within_classes"):
        assert rate("id_rand", name) == pytest.approx(expected)


def test_noise_averages_and_swaps_hinder_the_attackers_by_value() -> None:
    for name in ("add_noise", "microaggregate", "swap_within_classes"):
        assert rate("sort", name) < rate("sort", "identity")
        assert rate("euc1", name) <= rate("euc1", "identity")
        assert rate("id_sa", name) < rate("id_sa", "identity")


def test_deleting_rows_breaks_the_ranks_but_not_the_links() -> None:
    assert rate("sort", "delete_rows") < 0.2
    assert rate("id_sa", "delete_rows") == rate("id_sa", "identity")
    assert rate("euc1", "delete_rows") == rate("euc1", "identity") == 1.0


def test_after_unification_euc2_finds_more_rows_than_euc1() -> None:
    assert rate("euc1", "cross") < rate("euc2", "cross") > 0.9


@pytest.mark.parametrize("k", [2, 3, 10, 5000])
def test_k_anonymize_leaves_no_smaller_class(k: int) -> None:
    table, columns = original(600).table, original(600).columns
    anonymized, source = METHODS["k_anonymize"].apply(table, columns, rng=np.random.default_rng(0), k=k)
    release = release_of(original(600), anonymized, source)
    assert ANONYMITY["k_min"].compute(release) >= min(k, 600)


def test_a_unified_column_has_its_commonest_text() -> None:
    column = released("cross").target.anonymized["Tatekata"]
    assert set(column) == {original().table["Tatekata"].mode()[0]}


def test_a_derangement_moves_everybody() -> None:
    rng = np.random.default_rng(2)
    assert all((derangement(rows, rng) != np.arange(rows)).all() for rows in range(2, 40))
    drawn = {tuple(derangement(4, rng).tolist()) for _ in range(500)}
    assert len(drawn) == 9


def test_shuffling_rows_keeps_the_release() -> None:
    release = released("delete_rows")
    table, source = shuffle_rows(release.target.anonymized, release.source, rng=np.random.default_rng(3))
    assert (table["Youto037"].to_numpy() == original().values[source, 1]).all()
    assert (np.diff(source) < 0).any()


@pytest.mark.full
def test_the_suggested_threshold_lets_honest_methods_pass_and_no_cheating() -> None:
    groups = MICRODATA.groups(original(), ("S1_Sex", "S1_Age"))
    threshold = advise(original(), GOWER, groups, draws=0).threshold
    assert threshold is not None
    means = {name: individual_distances(released(name), GOWER).mean for name in HONEST}
    assert sum(mean <= threshold for mean in means.values()) >= 6
    for name in ("cheating_permutation", "shift", "random_permutation"):
        assert individual_distances(released(name), GOWER).mean > 2 * threshold


@pytest.mark.parametrize("name", METHODS)
def test_whole_numbers_and_another_index_change_no_release(name: str) -> None:
    roles = Columns(("sex", "town"), ("pay", "rent"))
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"sex": rng.choice(["f", "m"], 30), "town": rng.choice(["a", "b", "c"], 30)})
    table[list(roles.sensitive)] = rng.integers(0, 9, (30, 2))
    whole = table.set_axis(range(70, 100))
    expected, source = METHODS[name].apply(
        table.astype({"pay": float, "rent": float}), roles, rng=np.random.default_rng(6)
    )
    found, from_rows = METHODS[name].apply(whole, roles, rng=np.random.default_rng(6))
    assert from_rows.tolist() == source.tolist()
    assert found.to_numpy().tolist() == expected.to_numpy().tolist()
