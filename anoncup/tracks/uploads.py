"""Parse a release and its secret together, to report the errors of both at once."""

from dataclasses import dataclass
from typing import Any

from anoncup.errors import InvalidUpload, merge_problems
from anoncup.rules.model import Rules
from anoncup.tables.files import Remark
from anoncup.tracks.files import SECRET_FILE, Files
from anoncup.tracks.model import AnyTrack, ReleaseContext, Sizes, TeamData
from anoncup.tracks.parts import HasRows


@dataclass(frozen=True, slots=True)
class ParsedUpload:
    """A well-formed release with its answer, both parsed by the track."""

    release: Any
    answer: Any
    sizes: Sizes
    remarks: list[Remark]


def parse_upload(
    track: AnyTrack, rules: Rules, original: HasRows, files: Files, secret: bytes, *, team: TeamData
) -> ParsedUpload:
    """Parse a team's release, then its secret for that release; InvalidUpload lists the errors of both."""
    try:
        release, remarks = track.parse_release(files, original, rules, team.own_files)
    except InvalidUpload as release_error:
        try:
            _check_secret_alone(track, rules, original, secret, team)
        except InvalidUpload as secret_error:
            raise merge_problems([release_error, secret_error]) from None
        raise
    context = track.build_context(rules, original, release, team=team)
    answer = track.answer_spec.read(secret, context)
    if not rules.publication.shuffle_targets:
        remarks += track.answer_spec.find_remarks(answer)
    return ParsedUpload(release, answer, context.sizes, remarks)


def check_partial_upload(
    track: AnyTrack, rules: Rules, original: HasRows, files: Files, team: TeamData
) -> None:
    """Raise InvalidUpload for errors in an upload that still lacks some of its files."""
    if files.keys() >= set(track.release_file_names):
        track.parse_release(files, original, rules, team.own_files)
    elif SECRET_FILE in files:
        _check_secret_alone(track, rules, original, files[SECRET_FILE], team)


def _check_secret_alone(
    track: AnyTrack, rules: Rules, original: HasRows, secret: bytes, team: TeamData
) -> None:
    """Raise InvalidUpload for errors in a secret that the track can find without its release."""
    if track.answer_spec.reads_without_release and not track.allocates_answer:
        sizes = {"originals": original.rows}
        track.answer_spec.read(secret, ReleaseContext(rules, sizes, lambda: original, team=team))
