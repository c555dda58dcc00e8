"""Every registered measure and attacker declares correctly whether its value depends on the secret."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.geometry.arrays import IntArray
from anoncup.plugins import TRACKS
from anoncup.tracks.linkage.attack_rates import KnownCluster, rate_prediction
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyAttacker, AnyMeasure, Attacker, Measure
from tests.support import microdata_cases, transactions_cases
from tests.support.hypothesis_profiles import limit_examples
from tests.support.small_release import ORIGINAL, TABLE
from tests.support.transactions_example import CASE

ValueFunction = Callable[[AnyTrack, Any, IntArray], float]
hostile_examples = limit_examples(25)
RELEASES = {"microdata": microdata_cases.cases(), "transactions": transactions_cases.cases()}
EXAMPLE_RELEASES: dict[str, Any] = {
    "microdata": TRACKS["microdata"].add_answer(ORIGINAL, TABLE, np.arange(6)),
    "transactions": CASE.release,
}


def list_parts(track: AnyTrack) -> list[AnyMeasure | AnyAttacker]:
    return [*track.measures.values(), *track.attackers.values()]


PARTS = [
    pytest.param(track, entry, id=f"{track.name}-{entry.name}")
    for track in map(TRACKS.__getitem__, RELEASES)
    for entry in list_parts(track)
]


def get_tables(track: AnyTrack, release: Any) -> Any:
    return release.target.anonymized if track.name == "microdata" else release.target.tables


def compute_value(track: AnyTrack, entry: AnyMeasure | AnyAttacker, release: Any, source: IntArray) -> float:
    """Return the value of a measure or the rate of an attacker if ``source`` is the secret."""
    release_view = track.add_answer(release.original, get_tables(track, release), source)
    if isinstance(entry, Measure):
        return entry.compute(release_view)
    return rate_prediction(entry.attack(release_view.target), source, rows=release_view.original.rows).rate


def generate_secrets(release: Any, seed: int) -> Iterator[IntArray]:
    """Yield other secrets for the same tables: rotated, reversed, the identity and five random ones."""
    rows, originals = release.target.rows, release.original.rows
    yield (release.answer + 1) % originals
    yield release.answer[::-1].copy()
    yield np.arange(rows)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        yield rng.permutation(originals)[:rows]


@pytest.mark.parametrize("track", [TRACKS[name] for name in RELEASES], ids=RELEASES)
def test_parts_that_do_not_read_the_secret_ignore_it(track: AnyTrack) -> None:
    entries = [candidate for candidate in list_parts(track) if not candidate.reads_secret]

    @hostile_examples
    @given(case=RELEASES[track.name], seed=st.integers(0, 99))
    def check(case: Any, seed: int) -> None:
        for entry in entries:
            expected = compute_value(track, entry, case.release, case.release.answer)
            for source in generate_secrets(case.release, seed):
                assert compute_value(track, entry, case.release, source) == expected, entry.name

    check()


@pytest.mark.parametrize(("track", "entry"), PARTS)
def test_parts_that_read_the_secret_depend_on_it(track: AnyTrack, entry: AnyMeasure | AnyAttacker) -> None:
    release = EXAMPLE_RELEASES[track.name]
    values = {compute_value(track, entry, release, source) for source in generate_secrets(release, 0)}
    assert (len(values) > 1) is entry.reads_secret


def test_new_parts_are_assumed_to_read_the_secret() -> None:
    assert Measure("new", 1, lambda _: 0.0).reads_secret
    assert Attacker("new", 1, lambda _: np.zeros(0, dtype=np.int64)).reads_secret


def test_rates_of_known_clusters_ignore_the_secret() -> None:
    sizes = KnownCluster(np.array([1, 2, 4]))
    assert {
        rate_prediction(sizes, np.array(source), rows=5).correct for source in ([2, 1, 0], [4, 3, 1])
    } == {1.75}
