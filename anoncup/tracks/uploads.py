"""A release read together with its secret: one answer tells what is wrong with either."""

from dataclasses import dataclass
from typing import Any

from anoncup.errors import read_each
from anoncup.rules.model import Rules
from anoncup.tables.files import Remark
from anoncup.tracks.files import SECRET
from anoncup.tracks.model import About, Files, Sizes, Tables, Track
from anoncup.tracks.swapped_files import require_own_places


@dataclass(frozen=True, slots=True)
class ParsedUpload:
    """A well-formed release with its answer, as the track reads them."""

    release: Tables
    answer: Any
    sizes: Sizes
    remarks: list[Remark]


def parse_upload(track: Track, rules: Rules, original: Tables, files: Files, secret: bytes) -> ParsedUpload:
    """Parse a release and, against it, its secret; InvalidUpload names what is wrong with both."""
    sent = files if track.draws_answer else {**files, SECRET: secret}
    require_own_places(track, rules, original, sent)
    (release, remarks), _ = read_each(
        lambda: track.parse_release(files, original, rules),
        lambda: check_secret_alone(track, rules, original, secret),
    )
    sizes = track.sizes(original, release)
    answer = track.answers.read(secret, About(rules, sizes, lambda: original, release))
    if not rules.publication.shuffle_targets:
        remarks += track.answers.remarks(answer)
    return ParsedUpload(release, answer, sizes, remarks)


def check_some(track: Track, rules: Rules, original: Tables, files: Files) -> None:
    """InvalidUpload for what is wrong with these files of an upload, of which others are missing."""
    require_own_places(track, rules, original, files)
    if files.keys() >= set(track.files):
        track.parse_release(files, original, rules)
    elif SECRET in files:
        check_secret_alone(track, rules, original, files[SECRET])


def check_secret_alone(track: Track, rules: Rules, original: Tables, secret: bytes) -> None:
    """InvalidUpload for what is wrong with a secret whatever its release is, if that can be told."""
    if track.answers.read_alone and not track.draws_answer:
        sizes = {"originals": track.individuals(original)}
        track.answers.read(secret, About(rules, sizes, lambda: original))
