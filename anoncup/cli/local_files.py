"""Local files as the commands take them: the competition, its original, a release, its secret."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anoncup.cli.options import Release, originals_of, read_text
from anoncup.competition.parser import parse_competition
from anoncup.errors import InvalidInput, InvalidUpload
from anoncup.evaluation.reidentified import Fallen, Shared, fallen, individuals_of, known_of, shared
from anoncup.geometry.arrays import IntArray
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tables.csv_text import table_csv
from anoncup.tables.files import Remark, too_large
from anoncup.tracks.files import SECRET
from anoncup.tracks.model import About, Tables, Track
from anoncup.tracks.uploads import ParsedUpload, parse_upload


@dataclass(frozen=True, slots=True)
class LocalContest:
    """A competition with its original data: ``text``: its file, ``prepared``: what is measured with."""

    text: str
    rules: Rules
    track: Track
    tables: Tables
    prepared: Any
    remarks: list[Remark]


def contest_of(competition: Path, original: list[str]) -> LocalContest:
    """Read a competition and its original; InvalidInput or InvalidUpload says what is wrong."""
    text = read_text(competition)
    rules = parse_competition(text)
    track = TRACKS[rules.track]
    with named(originals_of(track, original)) as contents:
        tables, remarks = track.parse_original(contents, rules)
    return LocalContest(text, rules, track, tables, track.prepare(tables, rules), remarks)


def release_in(contest: LocalContest, release: Release) -> tuple[Tables, list[Remark]]:
    """The release in the files that the track asks for."""
    with asked_for(contest, release, contest.track.files) as contents:
        return contest.track.parse_release(contents, contest.tables, contest.rules)


def upload_in(contest: LocalContest, release: Release, secret: Path) -> ParsedUpload:
    """A release and its secret, read as the service reads them."""
    with named({SECRET: secret}) as answer, asked_for(contest, release, contest.track.files) as contents:
        return parse_upload(contest.track, contest.rules, contest.tables, contents, answer[SECRET])


def target_in(contest: LocalContest, target: Release) -> Tables:
    """A target in the files that the service gives out."""
    with asked_for(contest, target, contest.track.target_files) as contents:
        return contest.track.read_target(contents, contest.tables, contest.rules)


@contextmanager
def asked_for(contest: LocalContest, release: Release, wanted: Sequence[str]) -> Iterator[dict[str, bytes]]:
    """The contents of exactly these files."""
    if set(release) != set(wanted):
        raise InvalidInput(
            "a release of the {track} track is {options}",
            code="files",
            track=contest.track.name,
            options=" and ".join(f"--{name}" for name in wanted),
        )
    with named(release) as contents:
        yield contents


def check_sizes(contest: LocalContest, paths: Iterable[Path | None]) -> None:
    """TooLarge for a file that the service would not take in."""
    most_mb = contest.rules.limits.file_mb
    for path in paths:
        if path is not None and path.stat().st_size > most_mb * 2**20:
            raise too_large(path.name, most_mb)


@contextmanager
def named(paths: Mapping[str, Path]) -> Iterator[dict[str, bytes]]:
    """The files' contents; what is wrong with one is said under its own name."""
    try:
        yield {name: path.read_bytes() for name, path in paths.items()}
    except InvalidUpload as problem:
        names = {name: path.name for name, path in paths.items()}
        renamed = [replace(each, file=names.get(each.file, each.file)) for each in problem.problems]
        raise InvalidUpload(renamed, total=problem.total) from None


def secret_in(path: Path, contest: LocalContest, release: Tables) -> tuple[IntArray, list[Remark]]:
    """Which row each is; a service that shuffles has nothing to say of the order they are sent in."""
    answers, sizes = contest.track.answers, contest.track.sizes(contest.tables, release)
    about = About(contest.rules, sizes, lambda: contest.tables, release)
    with named({SECRET: path}) as contents:
        source = answers.read(contents[SECRET], about)
    return source, [] if contest.rules.publication.shuffle_targets else answers.remarks(source)


def own_file(path: Path, contest: LocalContest) -> Any:
    """The answer that the service has drawn for a team, of whose release nothing is known yet."""
    sizes = contest.track.sizes(contest.tables, contest.tables)
    with named({SECRET: path}) as contents:
        return contest.track.answers.read(
            contents[SECRET], About(contest.rules, sizes, lambda: contest.tables)
        )


def fallen_in(
    contest: LocalContest, said: Mapping[str, Any], source: IntArray, into: Path
) -> tuple[Fallen, list[Shared]]:
    """Who fell by what attackers said, written into a file, and what they share."""
    table, columns = known_of(contest.track, contest.rules, contest.tables)
    found = fallen(contest.track, contest.rules, said, source, len(table))
    into.write_bytes(table_csv(individuals_of(found, table, columns)))
    return found, shared(found, table, columns)
