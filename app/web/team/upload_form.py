"""Files of the upload form, and the texts of its script."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from anoncup.errors import (
    Conflict,
    DomainError,
    Forbidden,
    InvalidInput,
    InvalidUpload,
    MalformedRequest,
    TooLarge,
    TooManyRequests,
    Unavailable,
)
from anoncup.rules.model import Rules
from anoncup.rules.settings import count_required_rows
from anoncup.tables.files import Remark
from anoncup.tracks.files import SECRET, FileSpec, any_row_count
from anoncup.tracks.model import Track
from app.http.problems import DomainHTTPException, get_status
from app.locale.language import Translator
from app.services.contests.contest import Contest
from app.services.originals import samples
from app.services.originals.samples import FileSample

T = TypeVar("T")

UPLOAD_ERRORS = (
    Conflict,
    InvalidInput,
    InvalidUpload,
    Forbidden,
    TooLarge,
    TooManyRequests,
    Unavailable,
    MalformedRequest,
)
"""Errors of an upload that its form can show; other errors have a page of their own."""


@dataclass(frozen=True, slots=True)
class ReleasePart:
    """A file of a release with its columns, first rows and limits.

    ``required_rows``: the rules reject releases with fewer rows. ``roles``: of its columns, empty if the
    track has none.
    """

    file: FileSpec
    sample: FileSample
    min_rows: int
    max_rows: int
    required_rows: int
    roles: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def has_individuals(self) -> bool:
        """Whether its rows are the individuals that the secret refers to."""
        return self.file.rows_are_individuals

    @property
    def is_limited(self) -> bool:
        """Whether the track limits the number of rows."""
        return self.file.rows is not any_row_count


def build_parts(contest: Contest) -> tuple[ReleasePart, ...]:
    """Return the public files of a release; none before the original is uploaded."""
    if contest.row.original_rows is None:
        return ()
    return tuple(
        _build_part(file, contest, contest.row.original_rows) for file in contest.track.release_files
    )


def _build_part(file: FileSpec, contest: Contest, originals: int) -> ReleasePart:
    rules, sample = contest.rules, _load_sample(file, contest)
    min_rows, max_rows = file.rows({"originals": originals}, rules)
    share = rules.limits.min_rows_kept
    if not file.rows_are_individuals:
        return ReleasePart(file, sample, min_rows, max_rows, 0, ())
    required_rows = 0 if share is None else count_required_rows(share, originals)
    return ReleasePart(file, sample, min_rows, max_rows, required_rows, _list_roles(rules, sample))


def _load_sample(file: FileSpec, contest: Contest) -> FileSample:
    """Return the first rows of the original file with the same columns, else only the file's own header."""
    if file.header_like is not None:
        return samples.read_sample(contest.row.original[file.header_like])
    return FileSample(file.header(contest.rules) or (), ())


def _list_roles(rules: Rules, sample: FileSample) -> tuple[str, ...]:
    columns = rules.columns
    if columns is None:
        return ()
    quasi = set(columns.quasi_identifiers)
    return tuple("quasi_identifier" if name in quasi else "sensitive" for name in sample.header)


def list_fields(track: Track) -> tuple[str, ...]:
    """Return the names of all uploaded files, including the secret if the team sends one."""
    return track.release_file_names if track.allocates_answer else (*track.release_file_names, SECRET)


def get_secret_spec(track: Track) -> FileSpec | None:
    """Return the secret file sent with a release; None where the service draws the answer."""
    return None if track.allocates_answer else track.answer_spec.file


def parse_samples(file: FileSpec) -> tuple[FileSample, ...]:
    """Return the samples of a file as tables."""
    lines = ([tuple(line.split(",")) for line in sample] for sample in file.samples)
    return tuple(FileSample(header, tuple(rows)) for header, *rows in lines)


async def raise_refusals(answer: Awaitable[T]) -> T:
    """Await the answer; if reading the body fails with an error that the form can show, raise that error."""
    try:
        return await answer
    except DomainHTTPException as refused:
        if isinstance(refused.problem, UPLOAD_ERRORS):
            raise refused.problem from None
        raise


def classify_remarks(remarks: Sequence[Remark]) -> str:
    """Return the verdict for the form's script on a check without problems."""
    return "warned" if remarks else "clean"


def classify_problem(problem: DomainError) -> str:
    """Return the verdict for the form's script on a failed check.

    It is empty if the files could not be checked; then they may be sent.
    """
    return "" if isinstance(problem, TooManyRequests | Unavailable) else "faulty"


def get_check_status(problem: DomainError) -> int:
    """Return the status of a failed check; invalid files are a successful answer to a check."""
    return 200 if isinstance(problem, InvalidUpload) else get_status(problem)


def translate_script_texts(t: Translator) -> dict[str, str]:
    """Return the texts of static/upload.js."""
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
