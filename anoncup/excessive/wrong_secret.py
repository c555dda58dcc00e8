"""Recognize a secret that belongs to another file: the commonest mistake of teams.

A release is held against its originals by the secret that was sent, by random ones, and by the orders that
a mistake would have made. Distances are capped, so that a few outliers decide nothing.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.messages import Message
from anoncup.tables.files import Remark
from anoncup.tracks.parts import Distance

CODE = "secret_of_another_file"
LEAST_ROWS = 20
"""With fewer rows chance decides too much."""
DRAWS = 2
"""Random secrets that are tried."""
STANDARD_ERRORS = 5.0
"""How much closer than by chance a release must be for its secret to be believed."""
CLOSE = 0.5
"""A release that is this much closer than by chance has its own secret, and nothing else is tried."""
AS_BY_CHANCE = Remark(
    CODE,
    Message(
        "the secret may belong to another file: with it the release is as far from the original as "
        "with a random assignment"
    ),
)
IN_ORDER = Message("if its rows stand in the order of the original")
EXCHANGED = Message("if original_row and anonymized_row are exchanged")
SHIFTED = Message("if the rows are shifted by one")


def warnings_about_secret(release: Any, distance: Distance, sent: FloatArray) -> list[Remark]:
    """Return a warning if the secret of a release is likely that of another file.

    ``sent``: the distance of every released individual to its original by the secret, (n',).
    """
    source = release.source
    if len(source) < LEAST_ROWS:
        return []
    rng = Generator(PCG64(0))
    random = np.stack([distances_by(release, distance, rng.permutation(source)) for _ in range(DRAWS)])
    cap = float(np.median(random))
    if not 0.0 < cap < np.inf:
        return []
    random, mean = np.minimum(random, cap), float(np.minimum(sent, cap).mean())
    means = random.mean(axis=1)
    if np.ptp(means) <= 1e-9 * cap:  # the release tells nothing of individuals: any secret fits as well
        return []
    by_chance = float(means.mean())
    margin = STANDARD_ERRORS * float(random.std()) * (2.0 / len(source)) ** 0.5
    if mean < CLOSE * by_chance:
        return []
    for other, order in likely_orders(source, release.original.rows):
        closer = float(np.minimum(distances_by(release, distance, order), cap).mean())
        if closer < mean / 2 and mean - closer > margin:
            return [closer_by(other)]
    return [AS_BY_CHANCE] if by_chance - mean < margin else []


def closer_by(other: Message) -> Remark:
    message = Message(
        "the secret may belong to another file: the release is much closer to the original {other}",
        other=other,
    )
    return Remark(CODE, message)


def distances_by(release: Any, distance: Distance, source: IntArray) -> FloatArray:
    """Return the distances of a release to its originals if this were its secret, (n',)."""
    other: Any = replace(release, source=np.ascontiguousarray(source), kept={})
    return distance.to_source(other)


def likely_orders(source: IntArray, originals: int) -> Iterator[tuple[Message, IntArray]]:
    """Yield the orders that the secret has if a common mistake was made with it."""
    kept = np.sort(source)
    yield IN_ORDER, kept
    yield EXCHANGED, kept[np.argsort(np.searchsorted(kept, source))]
    for step in (1, -1):
        yield SHIFTED, np.roll(source, step)
        if len(source) == originals:
            yield SHIFTED, (source + step) % originals
