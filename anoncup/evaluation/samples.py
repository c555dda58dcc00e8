"""What a sample method makes of an original, as a team would send it."""

from typing import TYPE_CHECKING, Any

from anoncup.rules.model import Rules
from anoncup.tracks.files import SECRET
from anoncup.tracks.model import Tables, Track

if TYPE_CHECKING:
    from numpy.random import Generator


def sample_release(
    track: Track, method: str, original: Tables, rules: Rules, rng: "Generator", **drawn: Any
) -> dict[str, bytes]:
    """Its files in a new order, and the secret, unless the service has ``drawn`` the answer."""
    release, answer = track.anonymize(track.methods[method], original, rules, rng, {}, **drawn)
    release, answer = track.shuffle(release, answer, rng=rng)
    files = track.files_of(release)
    return files if drawn else {**files, SECRET: track.answers.write(answer)}
