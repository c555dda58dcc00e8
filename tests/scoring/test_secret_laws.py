"""What a measure or an attacker says of itself: whether its value depends on the secret, a permutation.

A law over the registries: a new entry is held to it by being registered.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.geometry.arrays import IntArray
from anoncup.plugins import TRACKS
from anoncup.tracks.linkage.attack_rates import OwnCluster, rate_of
from anoncup.tracks.model import Track
from anoncup.tracks.parts import Attacker, Measure
from tests.scoring import tables_to_break, transactions_to_break
from tests.support.hypothesis_profiles import examples
from tests.support.small_release import ORIGINAL, TABLE
from tests.support.transactions_example import CASE

Value = Callable[[Track, Any, IntArray], float]
hostile = examples(25)
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


def test_whoever_knows_the_clusters_is_right_as_often_under_any_secret() -> None:
    sizes = OwnCluster(np.array([1, 2, 4]))
    assert {rate_of(sizes, np.array(source), rows=5).correct for source in ([2, 1, 0], [4, 3, 1])} == {1.75}
