"""What a measure or an attacker says of itself: whether its value depends on the secret, a permutation.

A law over the registries: a new entry is held to it by being registered.
"""

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.messages import Message
from app.scoring.arrays import IntArray
from app.scoring.parts import Attacker, Measure
from app.scoring.rates import ABSTAIN, Answer, Candidates, Noted, OwnCluster, rate_of
from app.scoring.reach import LARGEST_NUMBER
from app.scoring.registry import Track
from app.scoring.tracks import TRACKS
from tests.scoring import tables_to_break, transactions_to_break
from tests.scoring.test_evaluate import ORIGINAL, TABLE
from tests.scoring.test_transactions_worked_example import CASE
from tests.trying import tries

Value = Callable[[Track, Any, IntArray], float]
hostile = tries(25)
RELEASES = {"microdata": tables_to_break.cases(), "transactions": transactions_to_break.cases()}
PLAIN: dict[str, Any] = {
    "microdata": TRACKS["microdata"].release_of(ORIGINAL, TABLE, np.arange(6)),
    "transactions": CASE.release,
}


def entries_of(track: Track) -> list[Measure | Attacker]:
    return [*track.measures.values(), *track.attackers.values()]


ENTRIES = [
    pytest.param(track, entry, id=f"{track.name}-{entry.name}")
    for track in map(TRACKS.__getitem__, RELEASES)
    for entry in entries_of(track)
]


def tables_of(track: Track, release: Any) -> Any:
    return release.target.anonymized if track.name == "microdata" else release.target.tables


def value(track: Track, entry: Measure | Attacker, release: Any, source: IntArray) -> float:
    """What is measured if ``source`` is the secret."""
    told = track.release_of(release.original, tables_of(track, release), source)
    if isinstance(entry, Measure):
        return entry.compute(told)
    return rate_of(entry.attack(told.target), source, rows=told.original.rows).rate


def secrets(release: Any, seed: int) -> Iterator[IntArray]:
    """Others that the same tables may have: turned, reversed, the identity, and drawn."""
    rows, originals = release.target.rows, release.original.rows
    yield (release.source + 1) % originals
    yield release.source[::-1].copy()
    yield np.arange(rows)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        yield rng.permutation(originals)[:rows]


@pytest.mark.parametrize("track", [TRACKS[name] for name in RELEASES], ids=RELEASES)
def test_what_reads_no_secret_is_the_same_under_any(track: Track) -> None:
    entries = [one for one in entries_of(track) if not one.reads_secret]

    @hostile
    @given(case=RELEASES[track.name], seed=st.integers(0, 99))
    def law(case: Any, seed: int) -> None:
        for entry in entries:
            found = value(track, entry, case.release, case.release.source)
            for source in secrets(case.release, seed):
                assert value(track, entry, case.release, source) == found, entry.name

    law()


@pytest.mark.parametrize(("track", "entry"), ENTRIES)
def test_what_reads_the_secret_changes_with_it(track: Track, entry: Measure | Attacker) -> None:
    release = PLAIN[track.name]
    found = {value(track, entry, release, source) for source in secrets(release, 0)}
    assert (len(found) > 1) is entry.reads_secret


def test_a_new_entry_is_taken_to_read_it() -> None:
    assert Measure("new", 1, lambda _: 0.0).reads_secret
    assert Attacker("new", 1, lambda _: np.zeros(0, dtype=np.int64)).reads_secret


@st.composite
def answers(draw: st.DrawFn) -> tuple[Answer, int, int]:
    """An answer about a few rows, with the numbers of rows and of originals."""
    originals = draw(st.integers(1, 5))
    rows = draw(st.integers(1, originals))
    guess = st.lists(st.integers(ABSTAIN, originals - 1), min_size=rows, max_size=rows).map(np.array)
    if draw(st.booleans()):
        return draw(st.one_of(guess, guess.map(lambda one: Noted(one, Message("noted"))))), rows, originals
    labels = draw(st.lists(st.integers(0, 2), min_size=originals, max_size=originals))
    group_of = np.unique(labels, return_inverse=True)[1]
    sizes = np.bincount(group_of)
    chosen = st.lists(st.integers(ABSTAIN, len(sizes) - 1), min_size=rows, max_size=rows).map(np.array)
    return Candidates(draw(chosen), group_of, sizes), rows, originals


@tries(200)
@given(asked=answers())
def test_the_most_that_can_be_right_is_the_most_under_any_secret(asked: tuple[Answer, int, int]) -> None:
    answer, rows, originals = asked
    every = (np.array(source) for source in permutations(range(originals), rows))
    found = [rate_of(answer, source, rows=originals) for source in every]
    (most,) = {one.most for one in found}
    assert most == pytest.approx(max(one.correct or 0 for one in found))


def test_whoever_knows_the_clusters_is_right_as_often_under_any_secret() -> None:
    rate = rate_of(OwnCluster(np.array([1, 2, 4])), np.array([2, 1, 0]), rows=5)
    assert (rate.correct, rate.most) == (1.75, 1.75)


CELLS = [entry for entry in ENTRIES if isinstance(entry.values[1], Measure) and entry.values[1].cells]


@pytest.mark.parametrize(("track", "measure"), CELLS)
def test_what_is_a_mean_over_cells_is_that_of_these_cells(track: Track, measure: Measure) -> None:
    @tries(100)
    @given(case=RELEASES[track.name], seed=st.integers(0, 99))
    def law(case: Any, seed: int) -> None:
        assert measure.cells
        cells = measure.cells(case.release.target)
        for source in secrets(case.release, seed):
            mean = np.abs(cells.x[source] - cells.y).mean()
            if mean < LARGEST_NUMBER:
                slack = 1e-12 * np.abs(cells.y).max(initial=1.0)
                assert value(track, measure, case.release, source) == pytest.approx(
                    mean, abs=slack, rel=1e-12
                )

    assert measure.reads_secret
    law()
