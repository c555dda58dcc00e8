"""Utilities of the sample methods on a table of the 2015 shape (P0 Tables 12 and 13)."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.ranking import rounding_threshold
from anoncup.rules.settings import Columns
from anoncup.tracks.linkage.shuffling import sample_derangement
from anoncup.tracks.microdata.example import generate_households, get_household_columns
from anoncup.tracks.microdata.registry import ANONYMITY, METHODS, UTILITIES
from anoncup.tracks.microdata.release import (
    MicrodataOriginal,
    build_release,
)
from tests.support.attacker_guesses import guess_rows

CROSS_COLUMNS = get_household_columns().quasi_identifiers[:6]
MEASURE_PARAMETERS: dict[str, dict[str, object]] = {
    "cross_mean": {"columns": CROSS_COLUMNS, "target": ("Youto038",)},
    "cross_count": {"columns": CROSS_COLUMNS},
}
UNIFIED_COLUMNS = {"cross": ["Tatekata"], "other": ["S1_Sangyou"]}


@cache
def prepare_original(rows: int = 8333) -> MicrodataOriginal:
    return MicrodataOriginal(generate_households(rows), get_household_columns())


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
    """``cross`` unifies a column of the cross-tables, ``other`` a column outside of them."""
    original, rng = prepare_original(), np.random.default_rng(1)
    method = METHODS["unify_columns" if name in UNIFIED_COLUMNS else name]
    parameters = {"columns": UNIFIED_COLUMNS[name]} if name in UNIFIED_COLUMNS else {}
    release = build_release(original, *method.apply(original.table, original.columns, rng=rng, **parameters))
    zero_utilities = set()
    for measure in PAPER_UTILITIES:
        settings = MEASURE_PARAMETERS.get(measure, {})
        value = UTILITIES[measure].compute(release, **settings)
        if value <= rounding_threshold(UTILITIES[measure], original, settings):
            zero_utilities.add(measure)
    assert zero_utilities == ZERO_UTILITIES[name]


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
