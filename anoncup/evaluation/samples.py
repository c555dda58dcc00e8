"""Releases of sample methods, in the form in which a team would send them."""

from typing import TYPE_CHECKING, Any

from anoncup.rules.model import Rules
from anoncup.tracks.files import SECRET
from anoncup.tracks.model import Tables, Track

if TYPE_CHECKING:
    from numpy.random import Generator


def sample_release(
    track: Track, method: str, original: Tables, rules: Rules, rng: "Generator", **allocation: Any
) -> dict[str, bytes]:
    """Return the files of a release with shuffled rows, and the secret unless there is an ``allocation``."""
    release, answer = track.anonymize(track.methods[method], original, rules, rng, {}, **allocation)
    release, answer = track.shuffle(release, answer, rng=rng)
    files = track.files_of(release)
    return files if allocation else {**files, SECRET: track.answer_spec.write(answer)}
