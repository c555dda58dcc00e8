"""Utilities and attack rates of the sample methods on a table of the 2015 shape (P0 Tables 12 and 13)."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.ranking import rounding_threshold
from anoncup.rules.settings import Columns
from anoncup.tracks.linkage.attack_rates import rate_guess
from anoncup.tracks.linkage.shuffling import sample_derangement
from anoncup.tracks.microdata.example import generate_households, get_household_columns
from anoncup.tracks.microdata.registry import ANONYMITY, ATTACKERS, METHODS, UTILITIES
from anoncup.tracks.microdata.release import (
    MicrodataOriginal,
    ScoredMicrodata,
    build_release,
)
from tests.support.attacker_guesses import guess_rows

CROSS_COLUMNS = get_household_columns().quasi_identifiers[:6]
MEASURE_PARAMETERS: dict[str, dict[str, object]] = {
    "cross_mean": {"columns": CROSS_COLUMNS, "target": ("Youto038",)},
    "cross_count": {"columns": CROSS_COLUMNS},
    "id_sa": {"column": "Youto038"},
    "sa_rank": {"column": "Youto117"},
    "sa_nearest": {"column": "Youto117"},
}
UNIFIED_COLUMNS = {"cross": ["Tatekata"], "other": ["S1_Sangyou"]}


@cache
def prepare_original(rows: int = 8333) -> MicrodataOriginal:
    return MicrodataOriginal(generate_households(rows), get_household_columns())


@cache
def run_method(name: str) -> ScoredMicrodata:
    """Return the release of a method.

    ``cross`` unifies a column of the cross-tables, ``other`` a column outside of them.
    """
    if name == "identity":
        return build_release(prepare_original(), prepare_original().table, np.arange(prepare_original().rows))
    method = METHODS["unify_columns" if name in UNIFIED_COLUMNS else name]
    parameters = {"columns": UNIFIED_COLUMNS[name]} if name in UNIFIED_COLUMNS else {}
    rng = np.random.default_rng(1)
    return build_release(
        prepare_original(),
        *method.apply(prepare_original().table, prepare_original().columns, rng=rng, **parameters),
    )


def compute_measure(measure: str, name: str) -> float:
    """Return a measure's value, or 0 if it is rounding noise."""
    entry = (UTILITIES | ANONYMITY)[measure]
    parameters = MEASURE_PARAMETERS.get(measure, {})
    value = entry.compute(run_method(name), **parameters)
    return 0.0 if value <= rounding_threshold(entry, prepare_original(), parameters) else value


def compute_rate(attacker: str, name: str) -> float:
    answer = ATTACKERS[attacker].attack(run_method(name).target, **MEASURE_PARAMETERS.get(attacker, {}))
    return rate_guess(answer, run_method(name).answer, rows=prepare_original().rows).value


PAPER_UTILITIES = set(parse_competition(template(2015)).weights)
ZERO_UTILITIES = {
    "k_anonymize": {"mean_mae", "cor_mae", "information_loss", "row_difference"},
    "add_noise": {"cross_count", "row_difference"},
    "cheating_permutation": {"mean_mae", "cross_mean", "cross_count", "cor_mae", "row_difference"},
    "cross": {"mean_mae", "cor_mae", "information_loss", "row_difference"},
    "other": PAPER_UTILITIES,
    "microaggregate": {"mean_mae", "cross_mean", "cross_count", "row_difference"},
    "swap_within_classes": {"mean_mae", "cross_mean", "cross_count", "row_difference"},
    "delete_rows": {"information_loss"},
}
"""Utilities that a method leaves at 0 (P0 Table 13; its Df and Dg had too few classes to show U4 and U5)."""


@pytest.mark.parametrize("name", ZERO_UTILITIES)
def test_methods_keep_the_same_utilities_at_zero_as_in_the_paper(name: str) -> None:
    assert {
        measure for measure in PAPER_UTILITIES if compute_measure(measure, name) == 0.0
    } == ZERO_UTILITIES[name]


@pytest.mark.parametrize("name", ["k_anonymize", "cross", "other"])
def test_generalization_enlarges_classes_but_does_not_stop_sort(name: str) -> None:
    assert compute_measure("k_mean", name) > compute_measure("k_mean", "identity")
    assert compute_rate("id_rand", name) < compute_rate("id_rand", "identity")
    assert compute_rate("sort", name) == compute_rate("sort", "identity") == 1.0


@pytest.mark.parametrize("attacker", ["id_sa", "sort", "sa_rank", "euc1", "euc2"])
def test_cheating_permutation_defeats_every_attacker(attacker: str) -> None:
    assert compute_rate(attacker, "cheating_permutation") < 0.01


def test_id_rand_depends_only_on_quasi_identifiers() -> None:
    expected = compute_measure("classes", "identity") / prepare_original().rows
    for name in ("identity", "add_noise", "microaggregate", "swap_within_classes"):
        assert compute_rate("id_rand", name) == pytest.approx(expected)


def test_noise_averaging_and_swapping_hinder_value_attackers() -> None:
    for name in ("add_noise", "microaggregate", "swap_within_classes"):
        assert compute_rate("sort", name) < compute_rate("sort", "identity")
        assert compute_rate("euc1", name) <= compute_rate("euc1", "identity")
        assert compute_rate("id_sa", name) < compute_rate("id_sa", "identity")


def test_deleting_rows_defeats_rank_attackers_but_not_linkage() -> None:
    assert compute_rate("sort", "delete_rows") < 0.2
    assert compute_rate("id_sa", "delete_rows") == compute_rate("id_sa", "identity")
    assert compute_rate("euc1", "delete_rows") == compute_rate("euc1", "identity") == 1.0


def test_euc1_needs_few_quasi_identifiers_and_any_sensitive_column() -> None:
    """P4 Figs. 3 and 5: on 100 noisy rows the rate grows up to five columns of Q, and S is irrelevant."""
    original, roles = prepare_original(100), prepare_original(100).columns
    noisy = METHODS["add_noise"].apply(original.table, roles, rng=np.random.default_rng(1))
    release = build_release(original, *noisy)

    def count_found(**columns: tuple[str, ...]) -> int:
        guess = np.array(guess_rows("euc1", release.target, **columns))
        return int((guess == release.answer).sum())

    by_quasi_identifiers = [
        count_found(quasi_identifiers=roles.quasi_identifiers[:count]) for count in range(14)
    ]
    assert by_quasi_identifiers == sorted(by_quasi_identifiers)
    assert by_quasi_identifiers[0] < by_quasi_identifiers[5] == by_quasi_identifiers[13]
    assert len({count_found(sensitive=roles.sensitive[:count]) for count in range(1, 13)}) == 1


@pytest.mark.parametrize("k", [2, 3, 10, 5000])
def test_k_anonymize_leaves_no_smaller_class(k: int) -> None:
    table, columns = prepare_original(600).table, prepare_original(600).columns
    anonymized, source = METHODS["k_anonymize"].apply(table, columns, rng=np.random.default_rng(0), k=k)
    release = build_release(prepare_original(600), anonymized, source)
    assert ANONYMITY["k_min"].compute(release) >= min(k, 600)


def test_derangements_have_no_fixed_points() -> None:
    rng = np.random.default_rng(2)
    assert all((sample_derangement(rows, rng) != np.arange(rows)).all() for rows in range(2, 40))
    derangements = {tuple(sample_derangement(4, rng).tolist()) for _ in range(500)}
    assert len(derangements) == 9


@pytest.mark.parametrize("name", METHODS)
def test_releases_do_not_depend_on_dtype_or_index(name: str) -> None:
    roles = Columns(("sex", "town"), ("pay", "rent"))
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"sex": rng.choice(["f", "m"], 30), "town": rng.choice(["a", "b", "c"], 30)})
    table[list(roles.sensitive)] = rng.integers(0, 9, (30, 2))
    integer_table = table.set_axis(range(70, 100))
    expected, source = METHODS[name].apply(
        table.astype({"pay": float, "rent": float}), roles, rng=np.random.default_rng(6)
    )
    anonymized, anonymized_source = METHODS[name].apply(integer_table, roles, rng=np.random.default_rng(6))
    assert anonymized_source.tolist() == source.tolist()
    assert anonymized.to_numpy().tolist() == expected.to_numpy().tolist()
