"""What a team has to send: the files of the track, as the form knows them, and what the form says."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from anoncup.errors import (
    Conflict,
    DomainError,
    InvalidInput,
    InvalidUpload,
    NotAllowed,
    TooLarge,
    TooMany,
    Unavailable,
    Unreadable,
)
from anoncup.rules.model import Rules
from anoncup.rules.settings import rows_required
from anoncup.tables.files import Remark
from anoncup.tracks.files import SECRET, FileSpec, any_number
from anoncup.tracks.model import Track
from app.http.problems import Refused, status_of
from app.locale.language import Words
from app.services.contests.contest import Contest
from app.services.originals import samples
from app.services.originals.samples import Sample

T = TypeVar("T")

REFUSALS = (Conflict, InvalidInput, InvalidUpload, NotAllowed, TooLarge, TooMany, Unavailable, Unreadable)
"""Why an upload may come back with its form; what else is wrong is a page of its own."""


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a release: its columns, first rows, and how many rows it may have.

    ``required``: with fewer rows the rules of the contest reject it. ``roles``: of its columns, where the
    track gives them any.
    """

    file: FileSpec
    sample: Sample
    fewest: int
    most: int
    required: int
    roles: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def individuals(self) -> bool:
        """Whether its rows are those that the secret counts."""
        return self.file.individuals

    @property
    def limited(self) -> bool:
        """Whether its track says how many rows it may have."""
        return self.file.rows is not any_number


def parts_of(contest: Contest) -> tuple[Part, ...]:
    """The public files of a release; none before the original is there."""
    if contest.row.original_rows is None:
        return ()
    return tuple(part_of(file, contest, contest.row.original_rows) for file in contest.track.release)


def part_of(file: FileSpec, contest: Contest, originals: int) -> Part:
    rules, sample = contest.rules, sample_of(file, contest)
    fewest, most = file.rows({"originals": originals}, rules)
    share = rules.limits.min_rows_kept
    if not file.individuals:
        return Part(file, sample, fewest, most, 0, ())
    required = 0 if share is None else rows_required(share, originals)
    return Part(file, sample, fewest, most, required, roles_of(rules, sample))


def sample_of(file: FileSpec, contest: Contest) -> Sample:
    """The head of the original's file that has the same columns; of one that is like none its own columns."""
    if file.like is not None:
        return samples.of_file(contest.row.original[file.like])
    return Sample(file.header(contest.rules) or (), ())


def roles_of(rules: Rules, sample: Sample) -> tuple[str, ...]:
    columns = rules.columns
    if columns is None:
        return ()
    quasi = set(columns.quasi_identifiers)
    return tuple("quasi_identifier" if name in quasi else "sensitive" for name in sample.header)


def fields_of(track: Track) -> tuple[str, ...]:
    """The names of all files of an upload: those of the track, and the secret if one is sent."""
    return track.files if track.draws_answer else (*track.files, SECRET)


def secret_of(track: Track) -> FileSpec | None:
    """The secret that is sent with a release; None where the service draws the answer."""
    return None if track.draws_answer else track.answers.file


def written_samples(file: FileSpec) -> tuple[Sample, ...]:
    """Its samples as tables."""
    lines = ([tuple(line.split(",")) for line in sample] for sample in file.samples)
    return tuple(Sample(header, tuple(rows)) for header, *rows in lines)


async def raising_refusals(answer: Awaitable[T]) -> T:
    """Raise what was refused while a body came as the domain error that it is."""
    try:
        return await answer
    except Refused as refused:
        if isinstance(refused.problem, REFUSALS):
            raise refused.problem from None
        raise


def verdict_of(remarks: Sequence[Remark]) -> str:
    """Return what the form's script is told of a check that found no fault."""
    return "warned" if remarks else "clean"


def verdict_on(problem: DomainError) -> str:
    """Return what the form's script is told of a refused check: files that were not checked may be sent."""
    return "" if isinstance(problem, TooMany | Unavailable) else "faulty"


def status_of_check(problem: DomainError) -> int:
    """Return the status of a refused check: that files have faults is an answer to its question."""
    return 200 if isinstance(problem, InvalidUpload) else status_of(problem)


def words_of_script(t: Words) -> dict[str, str]:
    """Return what static/upload.js says."""
    return {
        "amount": t("Sending {sent} of {all} MB"),
        "broken": t("The connection broke. Try again: nothing is accepted twice."),
        "failed": t("The service could not answer. Try again in a moment."),
        "fix": t("Correct the marked files first."),
        "look": t("How the score is made up, and how to improve it"),
        "reading": t("Checking the files…"),
        "sending": t("Sending…"),
        "stopped": t("Sending was stopped. If all of it had arrived, it appears in the list below."),
        "taken": t("Your release has been received. Its score appears below."),
        "warned": t("Nothing has been sent yet. Read the warning; press the button again to send."),
    }
