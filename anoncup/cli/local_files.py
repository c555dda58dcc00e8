"""Read the local files of a competition: its rules, the original, a release and its secret."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from anoncup.cli.options import ReleasePaths, assign_originals, read_text, use_local_names
from anoncup.competition.parser import CompetitionFile, parse_competition
from anoncup.errors import InvalidInput, InvalidUpload
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tables.files import Remark, build_too_large_error
from anoncup.tracks.files import SECRET_FILE
from anoncup.tracks.model import AnyTrack, TeamData
from anoncup.tracks.uploads import ParsedUpload, parse_upload


@dataclass(frozen=True, slots=True)
class LocalContest:
    """A competition on this machine: the text of its file, its rules and its original data.

    ``contents`` are the files of the original, which may have been cleaned.
    """

    text: str
    rules: Rules
    track: AnyTrack
    contents: Mapping[str, bytes]
    original: Any
    remarks: list[Remark]


def load_contest(competition: Path, original: list[str], round_name: str | None = None) -> LocalContest:
    """Read a competition and its original; raise InvalidInput or InvalidUpload if they are invalid.

    Of a file with rounds, it is the round of that name, or the only one.
    """
    text, rules = _read_round(read_text(competition), round_name)
    track = TRACKS[rules.track]
    with _read_named_files(assign_originals(track, original)) as contents:
        return _parse_or_clean(LocalContest(text, rules, track, contents, None, []))


def _parse_or_clean(contest: LocalContest) -> LocalContest:
    """Parse the original. A file that the rules cannot read is cleaned, as the service does it."""
    from anoncup.runner.imported_tables import clean_table
    from anoncup.runner.originals import CleanTableJob

    contents, cleaning_remarks = dict(contest.contents), dict[str, Sequence[Remark]]()
    while True:
        try:
            original, remarks = contest.track.parse_original(contents, contest.rules)
        except InvalidUpload as problem:
            name = problem.problems[0].file
            if name in cleaning_remarks:
                raise
            job = CleanTableJob(competition_file=contest.text, name=name, content=contents[name])
            contents[name], cleaning_remarks[name] = clean_table(job, None)
        else:
            all_remarks = [*chain(*cleaning_remarks.values()), *remarks]
            return replace(contest, contents=contents, original=original, remarks=all_remarks)


def _read_round(text: str, name: str | None) -> tuple[str, Rules]:
    """Return a round's rules, and their file of format 1."""
    file = CompetitionFile(text)
    names = tuple(filter(None, file.rounds))
    if not names and name is None:
        return text, parse_competition(text)
    chosen_name = names[0] if name is None and len(names) == 1 else name
    if chosen_name not in names:
        raise InvalidInput("--round: the competition file has the rounds {names}", code="round", names=names)
    return file.round_texts[chosen_name], file.rules[chosen_name]


def read_release(contest: LocalContest, release: ReleasePaths) -> tuple[object, list[Remark]]:
    """Read a release from the files of its track."""
    with _read_exact_files(contest, release, contest.track.release_file_names, "release") as contents:
        return contest.track.parse_release(contents, contest.original, contest.rules, {})


def read_upload(contest: LocalContest, release: ReleasePaths, secret: Path) -> ParsedUpload:
    """Read a release and its secret in the same way as the service."""
    with (
        _read_named_files({SECRET_FILE: secret}) as answer,
        _read_exact_files(contest, release, contest.track.release_file_names, "release") as contents,
    ):
        content = answer[SECRET_FILE]
        team = TeamData(own_files={contest.track.answer_spec.file.name: content})
        return parse_upload(
            contest.track,
            contest.rules,
            contest.original,
            contents,
            content,
            team=team if contest.track.allocates_answer else TeamData(),
        )


def read_target(contest: LocalContest, target: ReleasePaths) -> object:
    """Read a target from the files that the service publishes."""
    with _read_exact_files(contest, target, contest.track.target_file_names, "target") as contents:
        return contest.track.parse_target(contents, contest.original, contest.rules)


@contextmanager
def _read_exact_files(
    contest: LocalContest,
    paths: ReleasePaths,
    expected_names: Sequence[str],
    kind: Literal["release", "target"],
) -> Iterator[dict[str, bytes]]:
    """Read a release or target; raise InvalidInput unless exactly the expected files are given."""
    if set(paths) != set(expected_names):
        raise InvalidInput(
            "a {kind} of the {track} track is {options}",
            code="files",
            kind=kind,
            track=contest.track.name,
            options=" and ".join(f"--{name}" for name in expected_names),
        )
    with _read_named_files(paths) as contents:
        yield contents


def check_sizes(contest: LocalContest, paths: Iterable[Path | None]) -> None:
    """Raise TooLarge for a file that the service would refuse."""
    max_mb = contest.rules.limits.file_mb
    for path in paths:
        if path is not None and path.stat().st_size > max_mb * 2**20:
            raise build_too_large_error(path.name, max_mb)


@contextmanager
def _read_named_files(paths: Mapping[str, Path]) -> Iterator[dict[str, bytes]]:
    """Read files by name; upload errors raised in the context name the local files."""
    with use_local_names(paths):
        yield {name: path.read_bytes() for name, path in paths.items()}


def read_drawn_answer(path: Path, contest: LocalContest) -> object:
    """Read the answer that the service has assigned to a team. No release is needed."""
    with _read_named_files({SECRET_FILE: path}) as contents:
        return contest.track.read_allocated_answer(contents[SECRET_FILE], contest.original, contest.rules)
