"""Starter kits: the files that a team needs to take part, with an example release that the rules accept."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from io import StringIO
from itertools import islice

from anoncup.competition.required_packages import list_packages
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import HasRows
from app.processes import parser_process
from app.processes.parser_process import ORIGINALS
from app.processes.remote_calls import run_where_installed
from app.processes.remote_values import is_within_rules, score_as_json
from app.services.contests import competitions
from app.services.originals import kit_notebook, kit_readme
from app.services.originals.kit_readme import ServiceInfo
from app.storage import get_store

_EXAMPLE_SEED = 2015
_MAX_SCORED_ROWS = 20_000
"""Largest original whose example is scored: a team waits for a new kit."""


@dataclass(frozen=True, slots=True)
class Kit:
    """The inputs of a kit; equal inputs give equal files."""

    rules: Rules
    file: str
    """The published competition.toml."""
    original: tuple[tuple[str, str], ...]
    """Name and SHA-256 of each file of the original data."""
    service: ServiceInfo


def list_requirements(rules: Rules) -> str:
    """Return the requirements for the packages of a competition, separated by spaces."""
    packages = list_packages(rules)
    return " ".join(sorted({f"{package.name}=={package.version}" for package in packages if package.version}))


@dataclass(frozen=True, slots=True)
class KitExample:
    """The files of an example release with its secret, and its score as JSON; empty if it took too long."""

    files: dict[str, bytes]
    score: bytes


def iter_files(kit: Kit) -> Iterator[tuple[str, bytes | Iterator[bytes]]]:
    """Yield the names and contents of the kit's files."""
    rules, track = kit.rules, TRACKS[kit.rules.track]
    originals = [name for name, _ in kit.original]
    example = _load_example(kit.file, kit.original)
    headers = {name: _read_header(content.decode()) for name, content in example.files.items()}
    files = {
        "README.md": kit_readme.build_readme(rules, track, headers, originals, kit.service).encode(),
        "competition.toml": kit.file.encode(),
        "notebook.ipynb": kit_notebook.build_notebook(rules, track, originals, kit.service),
        **{f"example/{name}.csv": content for name, content in example.files.items()},
        **({"example/score.json": example.score} if example.score else {}),
    }
    yield from files.items()
    for name, digest in kit.original:
        yield f"original/{name}.csv", get_store().read_chunks(digest)
    yield "SHA256SUMS", _render_checksums(kit, files)


@lru_cache(maxsize=2)  # all teams download the kit of a competition, and its example is scored
def _load_example(file: str, original: tuple[tuple[str, str], ...]) -> KitExample:
    digests = dict(original).values()
    return parser_process.call_with_files(ORIGINALS, digests, make_example, file, original)


def _read_header(table: str) -> str:
    """Return the header line; a column name in quotes may contain line breaks."""
    reader = csv.reader(StringIO(table, newline=""))
    next(reader, None)
    return "".join(islice(StringIO(table, newline=""), reader.line_num)).rstrip("\r\n")


def _render_checksums(kit: Kit, files: Mapping[str, bytes]) -> bytes:
    digests = {name: sha256(content).hexdigest() for name, content in files.items()}
    digests |= {f"original/{name}.csv": digest for name, digest in kit.original}
    return "".join(f"{digest}  {name}\n" for name, digest in digests.items()).encode()


def make_example(file: str, original: tuple[tuple[str, str], ...]) -> KitExample:
    """Return a release that the rules accept; runs in the parser process.

    The result is reproducible. If no candidate is accepted, the last one is returned.
    """
    rules, data = competitions.load_original(original, file)
    track = TRACKS[rules.track]
    for release, answer in _iter_candidates(rules, track, data):
        if run_where_installed(track, is_within_rules, rules, data, release, answer):
            break
    is_scored = data.rows <= _MAX_SCORED_ROWS
    return KitExample(
        track.files_of(release) | {track.answer_spec.file.name: track.answer_spec.write(answer)},
        run_where_installed(track, score_as_json, rules, data, release, answer) if is_scored else b"",
    )


def _iter_candidates(rules: Rules, track: AnyTrack, original: HasRows) -> Iterator[tuple[object, object]]:
    """Yield candidates for the example release, in order of preference, each shuffled.

    The track's example method comes first. If the track can release its original unchanged, this follows,
    which is never excessive. All sample methods come last.
    """
    import numpy as np

    rng = np.random.default_rng(_EXAMPLE_SEED)
    if track.examples.method:
        release, source = track.anonymize(track.methods[track.examples.method], original, rules, rng, {})
        yield track.shuffle(release, source, rng=rng)
    if track.scaling.identity_release is not None:
        untouched = track.scaling.identity_release(original)
        yield track.shuffle(untouched.release, untouched.answer, rng=rng)
    for method in track.methods.values():
        release, answer = track.anonymize(method, original, rules, rng, {})
        yield track.shuffle(release, answer, rng=rng)
