"""Detection of a secret that belongs to another file, the most common mistake of teams.

The distance of a release to its original is computed with the uploaded secret, with random secrets, and with
the row orders that typical mistakes produce. Distances are capped, so that a few outliers do not decide.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.random import PCG64, Generator

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.messages import Message
from anoncup.tables.files import Remark
from anoncup.tracks.parts import AnyDistance, AnyScoredRelease

WARNING_CODE = "secret_of_another_file"
_MIN_ROWS = 20
"""Releases with fewer rows are not checked, because the result would depend too much on chance."""
_RANDOM_SECRETS = 2
"""Number of random secrets with which the uploaded one is compared."""
_STANDARD_ERRORS = 5.0
"""A secret is accepted if its distance is below the random distance by this number of standard errors."""
_RIGHT_SECRET_SHARE = 0.5
"""A secret whose distance is below this share of the random distance is right; nothing else is tried."""
RANDOM_LIKE_REMARK = Remark(
    WARNING_CODE,
    Message(
        "the secret may belong to another file: with it the release is as far from the original as "
        "with a random assignment"
    ),
)
ORIGINAL_ORDER = Message("if its rows stand in the order of the original")
SWAPPED_COLUMNS = Message("if original_row and anonymized_row are exchanged")
SHIFTED_ROWS = Message("if the rows are shifted by one")


def find_secret_warnings(
    release: AnyScoredRelease, distance: AnyDistance, distances_to_source: FloatArray
) -> list[Remark]:
    """Return a warning if the secret probably belongs to another file.

    ``distances_to_source`` (n',): the distance of every released individual to its original, according to the
    secret.
    """
    source = release.answer
    if len(source) < _MIN_ROWS:
        return []
    rng = Generator(PCG64(0))
    random_distances = np.stack(
        [_compute_distances_with(release, distance, rng.permutation(source)) for _ in range(_RANDOM_SECRETS)]
    )
    cap = float(np.median(random_distances))
    if not 0.0 < cap < np.inf:
        return []
    random_distances = np.minimum(random_distances, cap)
    mean_distance = float(np.minimum(distances_to_source, cap).mean())
    random_means = random_distances.mean(axis=1)
    if np.ptp(random_means) <= 1e-9 * cap:  # all individuals look alike, so any secret fits equally well
        return []
    random_mean = float(random_means.mean())
    margin = _STANDARD_ERRORS * float(random_distances.std()) * (2.0 / len(source)) ** 0.5
    if mean_distance < _RIGHT_SECRET_SHARE * random_mean:
        return []
    for description, candidate in _list_likely_orders(source, release.original.rows):
        order_mean = float(np.minimum(_compute_distances_with(release, distance, candidate), cap).mean())
        if order_mean < mean_distance / 2 and mean_distance - order_mean > margin:
            return [_build_closer_order_remark(description)]
    return [RANDOM_LIKE_REMARK] if random_mean - mean_distance < margin else []


def _build_closer_order_remark(description: Message) -> Remark:
    message = Message(
        "the secret may belong to another file: the release is much closer to the original {other}",
        other=description,
    )
    return Remark(WARNING_CODE, message)


def _compute_distances_with(release: AnyScoredRelease, distance: AnyDistance, source: IntArray) -> FloatArray:
    """Return the distances of a release to its originals with another secret, (n',)."""
    return distance.to_source(replace(release, answer=np.ascontiguousarray(source), memo={}))


def _list_likely_orders(source: IntArray, original_count: int) -> Iterator[tuple[Message, IntArray]]:
    """Yield the orders of rows that common mistakes with the secret would produce."""
    ascending = np.sort(source)
    yield ORIGINAL_ORDER, ascending
    yield SWAPPED_COLUMNS, ascending[np.argsort(np.searchsorted(ascending, source))]
    for step in (1, -1):
        yield SHIFTED_ROWS, np.roll(source, step)
        if len(source) == original_count:
            yield SHIFTED_ROWS, (source + step) % original_count
