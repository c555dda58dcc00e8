"""Sample methods of the monthly track on hostile tables."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import PCG64, Generator

from anoncup.rules.model import Rules
from anoncup.tracks.monthly import MONTHLY
from anoncup.tracks.monthly.release import MonthlyRelease
from tests.support import monthly_reference as reference
from tests.support.hypothesis_profiles import limit_examples
from tests.support.monthly_cases import MonthlyCase, build_original, cases, compute_measures

pytestmark = pytest.mark.full

RULES = Rules("small", {}, "monthly", "UTC")


def anonymize(name: str, case: MonthlyCase, seed: int, **parameters: Any) -> MonthlyRelease:
    rng = Generator(PCG64(seed))
    release: MonthlyRelease = MONTHLY.anonymize(
        MONTHLY.methods[name], case.release.original, RULES, rng, parameters
    )[0]
    return release


@limit_examples(60)
@given(case=cases(), seed=st.integers(0, 9))
def test_pseudonyms_change_monthly_and_change_nothing_else(case: MonthlyCase, seed: int) -> None:
    release = anonymize("pseudonyms", case, seed)
    rows = [tuple(row) for row in release.kept_rows.to_numpy()]
    assert [row[1:] for row in rows] == [row[1:] for row in case.original_rows]
    customer_months = {(row[0], reference.parse_month(row)) for row in case.original_rows}
    pairs = {
        (row[0], reference.parse_month(row), released_row[0])
        for row, released_row in zip(case.original_rows, rows, strict=True)
    }
    assert len(pairs) == len({released_row for _, _, released_row in pairs}) == len(customer_months)
    losses = compute_measures(release)
    assert (losses["date_shift"], losses["price_ratio"], losses["top_goods"]) == (0, 0, 0)


def test_pseudonyms_differ_from_all_customer_ids() -> None:
    original = build_original(["p000000", "pp1", "p"], [("pp1", "", "2011-01-05", "", "A", "1", "1")])
    release, _ = MONTHLY.methods["pseudonyms"].apply(original, rng=Generator(PCG64(1)))
    assert release.kept_rows["customer"].tolist() == ["ppp000000"]


@pytest.mark.parametrize(("share", "deleted_count"), [(0.0, 0), (0.25, 1), (0.5, 2), (0.9, 2)])
def test_at_most_half_of_the_purchases_are_deleted(share: float, deleted_count: int) -> None:
    rows = [("c", "", "2011-01-05", "", f"A{number}", "1", "1") for number in range(4)]
    original = build_original(["c"], rows)
    deletions_by_row = Counter[int]()
    for seed in range(40):
        release, _ = MONTHLY.methods["delete_purchases"].apply(
            original, rng=Generator(PCG64(seed)), share=share
        )
        assert int((~release.records.is_kept).sum()) == deleted_count
        deletions_by_row.update(np.flatnonzero(~release.records.is_kept).tolist())
    assert len(deletions_by_row) == (4 if deleted_count else 0)


@limit_examples(60)
@given(case=cases(), seed=st.integers(0, 9))
def test_noise_stays_within_its_limits(case: MonthlyCase, seed: int) -> None:
    release = anonymize("noisy_purchases", case, seed, days=2, strength=0.5)
    original, released = release.original.records, release.records
    assert (np.abs(released.day - original.day) <= 2).all()
    assert (np.abs(released.quantity - original.quantity) <= 1).all()
    is_near = np.abs(released.price - original.price) <= 0.5 * original.price * (1 + 1e-12) + 0.005
    assert is_near.all()
    is_same_day = released.day == original.day
    assert (released.cells["date"][is_same_day] == original.cells["date"][is_same_day]).all()


def test_noise_changes_dates_prices_and_quantities() -> None:
    rows = [("c", "", "2011-01-15", "", "A", "100", "50") for _ in range(60)]
    release, _ = MONTHLY.methods["noisy_purchases"].apply(
        build_original(["c"], rows), rng=Generator(PCG64(3))
    )
    for column, limit in (("date", 7), ("price", 60), ("quantity", 3)):
        distinct = len(set(release.kept_rows[column]))
        assert 2 < distinct <= limit, column
