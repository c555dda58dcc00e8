"""The files that the upload form asks for, its errors, and the texts of its script."""

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
from anoncup.tracks.files import FileSpec, allow_any_row_count
from app.core.db.models import Round
from app.core.http.problems import DomainHTTPException, get_status
from app.core.locale.language import Translator

ResultT = TypeVar("ResultT")

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
"""Errors of an upload that its form can show. Other errors are shown on an error page."""


@dataclass(frozen=True, slots=True)
class ReleasePart:
    """A file of a release with its limits. Releases with fewer than ``required_rows`` rows are rejected."""

    file: FileSpec
    min_rows: int
    max_rows: int
    required_rows: int

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def is_limited(self) -> bool:
        """Whether the track limits the number of rows."""
        return self.file.row_limits is not allow_any_row_count


def build_parts(round_: Round) -> tuple[ReleasePart, ...]:
    """Return the public files of a release, or nothing before the original is uploaded."""
    if round_.original_rows is None:
        return ()
    return tuple(_build_part(file, round_.rules, round_.original_rows) for file in round_.track.release_files)


def _build_part(file: FileSpec, rules: Rules, original_rows: int) -> ReleasePart:
    min_rows, max_rows = file.row_limits({"originals": original_rows}, rules)
    min_share = rules.limits.min_rows_kept if file.rows_are_individuals else None
    required_rows = 0 if min_share is None else count_required_rows(min_share, original_rows)
    return ReleasePart(file, min_rows, max_rows, required_rows)


async def run_upload(upload: Awaitable[ResultT]) -> ResultT:
    """Run an upload. If reading the body fails with an error that the form can show, raise that error."""
    try:
        return await upload
    except DomainHTTPException as http_error:
        if isinstance(http_error.error, UPLOAD_ERRORS):
            raise http_error.error from None
        raise


def classify_remarks(remarks: Sequence[Remark]) -> str:
    """Return the outcome of a check without problems, for the form's script."""
    return "warned" if remarks else "clean"


def classify_problem(problem: DomainError) -> str:
    """Return the outcome of a failed check, for the form's script.

    It is empty if the files could not be checked; in that case they can still be sent.
    """
    return "" if isinstance(problem, TooManyRequests | Unavailable) else "faulty"


def get_check_status(problem: DomainError) -> int:
    """Return the HTTP status of a failed check; a check that finds invalid files has succeeded."""
    return 200 if isinstance(problem, InvalidUpload) else get_status(problem)


def translate_script_texts(t: Translator) -> dict[str, str]:
    """Return the texts that ``static/upload.js`` shows."""
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
