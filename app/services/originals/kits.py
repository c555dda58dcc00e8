"""The kit: all that a team needs to take part, with an example that the rules accept."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anoncup.lazy import deferred
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.model import Tables, Track
from app.processes import parser_process
from app.processes.parser_process import ORIGINALS
from app.services.contests import competitions
from app.services.contests.contest import read_file
from app.services.originals import kit_words
from app.services.originals.kit_words import Service
from app.storage import store

if TYPE_CHECKING:
    from numpy import arange
    from numpy.random import default_rng

    from anoncup.evaluation.evaluate import judge
    from anoncup.geometry.arrays import IntArray
else:
    arange = deferred("numpy.arange")
    default_rng = deferred("numpy.random.default_rng")
    judge = deferred("anoncup.evaluation.evaluate.judge")

SEED = 2015


@dataclass(frozen=True, slots=True)
class Kit:
    """What a kit is made of; equal ones give equal files."""

    file: str
    """competition.toml as it is published."""
    original: tuple[tuple[str, str], ...]
    """Name and SHA-256 of each file of the original."""
    service: Service


def files(kit: Kit) -> Iterator[tuple[str, bytes | Iterator[bytes]]]:
    """The kit's files by name."""
    rules = read_file(kit.file)
    track = TRACKS[rules.track]
    originals = [name for name, _ in kit.original]
    digests = dict(kit.original).values()
    example = parser_process.call_reading(ORIGINALS, digests, make_example, kit.file, kit.original)
    yield "README.md", kit_words.readme(rules, track, headers(example), originals, kit.service).encode()
    yield "competition.toml", kit.file.encode()
    for name, content in example.items():
        yield f"example/{name}.csv", content
    for name, digest in kit.original:
        yield f"original/{name}.csv", store().pieces(digest)


def headers(example: Mapping[str, bytes]) -> dict[str, str]:
    """The header line of each file of a release, and of its secret."""
    return {name: content.partition(b"\n")[0].decode() for name, content in example.items()}


def make_example(file: str, original: tuple[tuple[str, str], ...]) -> dict[str, bytes]:
    """Make the example of a competition; called in the parser."""
    rules = read_file(file)
    return example_release(rules, TRACKS[rules.track], competitions.original_tables(original, file))


def example_release(rules: Rules, track: Track, original: Tables) -> dict[str, bytes]:
    """A release that the rules accept, with its secret; the same one each time."""
    prepared = track.prepare(original, rules)
    for release, source in candidates(rules, track, original):
        violations, _ = judge(rules, prepared, release, source)
        if not violations:
            break
    return track.files_of(release) | {track.answers.file.name: track.answers.write(source)}


def candidates(rules: Rules, track: Track, original: Tables) -> Iterator[tuple[Tables, "IntArray"]]:
    """The work of a sample method in a new order; then the original in a new order, which is no excess, where
    that is a release; then that of all methods."""
    rng = default_rng(SEED)
    if track.example:
        changed, source = track.anonymize(track.methods[track.example], original, rules, rng, {})
        yield track.shuffle(changed, source, rng=rng)
    if track.answers.file.kind == "permutation":
        yield track.shuffle(original, arange(track.individuals(original)), rng=rng)
    for method in track.methods.values():
        changed, answer = track.anonymize(method, original, rules, rng, {})
        yield track.shuffle(changed, answer, rng=rng)
