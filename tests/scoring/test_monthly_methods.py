"""Sample methods of the monthly track: what each changes and leaves, on tables made to break them."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import PCG64, Generator

from anoncup.rules.model import Rules
from anoncup.tracks.model import About
from anoncup.tracks.monthly import MONTHLY
from anoncup.tracks.monthly.answer import Named, answer_of, read_answer
from anoncup.tracks.monthly.release import Release
from tests.scoring import monthly_reference as reference
from tests.scoring.monthly_to_break import Case, cases, measured, original_of
from tests.support.hypothesis_profiles import examples

pytestmark = pytest.mark.full

RULES = Rules("small", {}, "monthly", "UTC")
METHODS = pytest.mark.parametrize("name", list(MONTHLY.methods))


def made(name: str, case: Case, seed: int, **parameters: Any) -> tuple[Release, Named]:
    """As a team would send it."""
    rng = Generator(PCG64(seed))
    release, answer = MONTHLY.anonymize(MONTHLY.methods[name], case.release.original, RULES, rng, parameters)
    again, remarks = MONTHLY.parse_release(MONTHLY.files_of(release), case.release.original, RULES)
    assert remarks == []
    assert MONTHLY.files_of(again) == MONTHLY.files_of(release)
    return again, answer


@METHODS
@examples(60)
@given(case=cases(), seed=st.integers(0, 9))
def test_a_sample_release_can_be_sent_with_its_answer(name: str, case: Case, seed: int) -> None:
    release, answer = made(name, case, seed)
    about = About(RULES, MONTHLY.sizes(release.original, release), lambda: release.original, release)
    read = read_answer(MONTHLY.answers.write(answer), about)
    assert (read.names == answer_of(release)).all()
    assert MONTHLY.answers.write(made(name, case, seed)[1]) == MONTHLY.answers.write(answer)
    found = measured(release)
    assert all(0 <= value <= 1 for value in found.values())
    assert (name == "delete_purchases") or found["deleted"] == 0


@examples(60)
@given(case=cases(), seed=st.integers(0, 9))
def test_pseudonyms_alone_change_no_other_cell_and_last_for_a_month(case: Case, seed: int) -> None:
    release, _ = made("pseudonyms", case, seed)
    rows = [tuple(row) for row in release.kept_rows.to_numpy()]
    assert [row[1:] for row in rows] == [row[1:] for row in case.before]
    spells = {(row[0], reference.month_of(row)) for row in case.before}
    pairs = {(row[0], reference.month_of(row), new[0]) for row, new in zip(case.before, rows, strict=True)}
    assert len(pairs) == len({new for _, _, new in pairs}) == len(spells)
    found = measured(release)
    assert (found["date_shift"], found["price_ratio"], found["top_goods"]) == (0, 0, 0)


def test_pseudonyms_are_no_ids_of_customers() -> None:
    original = original_of(["p000000", "pp1", "p"], [("pp1", "", "2011-01-05", "", "A", "1", "1")])
    release, _ = MONTHLY.methods["pseudonyms"].apply(original, rng=Generator(PCG64(1)))
    assert release.kept_rows["customer"].tolist() == ["ppp000000"]


@pytest.mark.parametrize(("share", "gone"), [(0.0, 0), (0.25, 1), (0.5, 2), (0.9, 2)])
def test_so_many_purchases_are_deleted_but_never_more_than_half(share: float, gone: int) -> None:
    rows = [("c", "", "2011-01-05", "", f"A{place}", "1", "1") for place in range(4)]
    original = original_of(["c"], rows)
    seen = Counter[int]()
    for seed in range(40):
        release, _ = MONTHLY.methods["delete_purchases"].apply(
            original, rng=Generator(PCG64(seed)), share=share
        )
        assert int((~release.records.kept).sum()) == gone
        seen.update(np.flatnonzero(~release.records.kept).tolist())
    assert len(seen) == (4 if gone else 0)


@examples(60)
@given(case=cases(), seed=st.integers(0, 9))
def test_noise_stays_near(case: Case, seed: int) -> None:
    release, _ = made("noisy_purchases", case, seed, days=2, strength=0.5)
    before, after = release.original.records, release.records
    assert (np.abs(after.day - before.day) <= 2).all()
    assert (np.abs(after.quantity - before.quantity) <= 1).all()
    near = np.abs(after.price - before.price) <= 0.5 * before.price * (1 + 1e-12) + 0.005
    assert near.all()
    same = after.day == before.day
    assert (after.cells["date"][same] == before.cells["date"][same]).all()


def test_noise_moves_dates_prices_and_quantities_of_most_rows() -> None:
    rows = [("c", "", "2011-01-15", "", "A", "100", "50") for _ in range(60)]
    release, _ = MONTHLY.methods["noisy_purchases"].apply(original_of(["c"], rows), rng=Generator(PCG64(3)))
    for column, most in (("date", 7), ("price", 60), ("quantity", 3)):
        distinct = len(set(release.kept_rows[column]))
        assert 2 < distinct <= most, column
