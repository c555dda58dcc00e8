"""Every registered measure and attacker declares correctly whether its value depends on the secret."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anoncup.geometry.arrays import IntArray
from anoncup.plugins import TRACKS
from anoncup.tracks.linkage.attack_rates import rate_guess
from anoncup.tracks.microdata.release import build_release
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyAttacker, AnyMeasure, Measure
from tests.support.small_release import ORIGINAL, TABLE
from tests.tracks.transactions.test_worked_example import CASE

EXAMPLE_RELEASES: dict[str, Any] = {
    "microdata": build_release(ORIGINAL, TABLE, np.arange(6)),
    "transactions": CASE.release,
}


PARTS = [
    pytest.param(TRACKS[name], entry, id=f"{name}-{part}")
    for name in EXAMPLE_RELEASES
    for part, entry in (*TRACKS[name].measures.items(), *TRACKS[name].attackers.items())
]


def compute_value(track: AnyTrack, entry: AnyMeasure | AnyAttacker, release: Any, source: IntArray) -> float:
    """Return the value of a measure or the rate of an attacker if ``source`` is the secret."""
    release_view = replace(release, answer=source, memo={})
    if isinstance(entry, Measure):
        return entry.compute(release_view)
    return rate_guess(entry.attack(release_view.target), source, rows=release_view.original.rows).value


def generate_secrets(release: Any) -> Iterator[IntArray]:
    """Yield other secrets for the same tables: rotated, reversed, the identity and five random ones."""
    rows, originals = release.target.rows, release.original.rows
    yield from ((release.answer + 1) % originals, release.answer[::-1].copy(), np.arange(rows))
    rng = np.random.default_rng(0)
    for _ in range(5):
        yield rng.permutation(originals)[:rows]


@pytest.mark.parametrize(("track", "entry"), PARTS)
def test_exactly_the_parts_that_read_the_secret_depend_on_it(
    track: AnyTrack, entry: AnyMeasure | AnyAttacker
) -> None:
    release = EXAMPLE_RELEASES[track.name]
    values = {compute_value(track, entry, release, source) for source in generate_secrets(release)}
    assert (len(values) > 1) is entry.reads_secret
