"""Releases of sample methods, as the files that a team would submit."""

from typing import TYPE_CHECKING

from anoncup.rules.model import Rules
from anoncup.tracks.files import SECRET_FILE
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import HasRows

if TYPE_CHECKING:
    from numpy.random import Generator


def build_sample_release(
    track: AnyTrack, method: str, original: HasRows, rules: Rules, rng: "Generator", **allocation: object
) -> dict[str, bytes]:
    """Return the files of a release with shuffled rows.

    They include the secret, unless the service has an ``allocation`` for the team and knows it already.
    """
    release, secret = track.anonymize(track.methods[method], original, rules, rng, {}, **allocation)
    release, secret = track.shuffle(release, secret, rng=rng)
    files = track.files_of(release)
    return files if allocation else {**files, SECRET_FILE: track.answer_spec.write(secret)}
