"""Domain errors. They know neither HTTP nor the database."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from operator import itemgetter
from typing import Any

from anoncup.messages import CodedMessage, JsonObject, Message, MessageValue, describe_in_english

MAX_LISTED_PROBLEMS = 20
"""Maximum number of problems listed for one upload; the total is always reported."""
MAX_VALUE_LENGTH = 80
"""Maximum number of characters repeated from an invalid value."""


class DomainError(Exception):
    """An error with a stable ``code`` and a message for the user. ``str`` returns the English text."""

    code = "error"

    def __init__(self, message: str | Message, /, *, code: str | None = None, **values: MessageValue) -> None:
        """Create the error from a template and its ``values``, or from a complete ``Message``."""
        self.message = message if isinstance(message, Message) else Message(message, **values)
        super().__init__(str(self.message))
        if code is not None:
            self.code = code

    @property
    def coded_message(self) -> CodedMessage:
        """The code and message, as they are stored."""
        return CodedMessage(self.code, self.message)


class NotFound(DomainError):
    code = "not_found"


class NotSignedIn(DomainError):
    code = "not_signed_in"


class Forbidden(DomainError):
    code = "not_allowed"


class Conflict(DomainError):
    code = "conflict"


class InvalidInput(DomainError):
    code = "invalid"


class InvalidResult(InvalidInput):
    """A measure, attacker or question returned an impossible number; the value ``package`` names its package.

    The message quotes no text that the part returned, because that may be secret.
    """

    code = "invalid_result"


class WrongCredential(InvalidInput):
    """A wrong code or current password. Such attempts are counted and limited."""

    code = "wrong_credential"


class TooLarge(DomainError):
    """A request or file is too large. If the request has several files, the value ``file`` names this one."""

    code = "too_large"


class MalformedRequest(DomainError):
    """The request cannot be parsed."""

    code = "bad_request"


class TooManyRequests(DomainError):
    """Too many requests; the next one is allowed after ``retry_after`` seconds."""

    code = "too_many"

    def __init__(
        self, message: str | Message, /, *, retry_after: int, code: str | None = None, **values: MessageValue
    ) -> None:
        super().__init__(message, code=code, **values)
        self.retry_after = retry_after


class Unavailable(DomainError):
    """A required component cannot be reached; retry after ``retry_after`` seconds."""

    code = "unavailable"
    retry_after = 10


class DatabaseUnavailable(Unavailable):
    """The database cannot be reached or does not accept the statement at the moment."""

    code = "database_unavailable"


class CompetitionUnavailable(Unavailable):
    """This version cannot read a stored competition file, because a part was removed or the format is old."""

    code = "competition_unavailable"
    retry_after = 60


class PackageChangeError(CompetitionUnavailable):
    """Packages of the competition were upgraded or removed after this process had started."""


class InvalidCompetition(DomainError):
    """The competition file is invalid; ``code`` names the violated rule.

    Text values are cut to ``MAX_VALUE_LENGTH`` characters, because a value may be as long as the file.
    """

    code = "invalid_competition"

    def __init__(self, message: str | Message, /, *, code: str | None = None, **values: MessageValue) -> None:
        shortened = {
            name: value[:MAX_VALUE_LENGTH] if isinstance(value, str) else value
            for name, value in values.items()
        }
        super().__init__(message, code=code, **shortened)


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A problem in an uploaded file.

    ``row`` counts data rows from 1. ``line`` is the line of the file on which the row begins, as an editor
    shows it. ``value`` is the rejected text, cut to ``MAX_VALUE_LENGTH`` characters; it is never set for
    secrets.
    """

    file: str
    row: int | None
    column: str | None
    code: str
    message: Message
    line: int | None = None
    value: str | None = None

    def describe(self) -> JsonObject:
        location = {"file": self.file, "row": self.row, "line": self.line, "column": self.column}
        description = describe_in_english(self.code, self.message)
        if self.value is not None:
            description["values"]["value"] = self.value
        return {**location, **description}

    def to_json(self) -> JsonObject:
        """Return the problem in the form in which it is stored."""
        location = {"file": self.file, "row": self.row, "column": self.column, "line": self.line}
        return {**location, "code": self.code, "message": self.message.to_json(), "value": self.value}

    @staticmethod
    def from_json(stored: JsonObject) -> "FileProblem":
        """Restore a problem from the result of ``to_json``."""
        return FileProblem(**{**stored, "message": Message.from_json(stored["message"])})


class InvalidUpload(DomainError):
    """Uploaded files are malformed; the error contains the first problems and their total number."""

    code = "malformed_upload"

    def __init__(self, problems: Sequence[FileProblem], *, total: int | None = None) -> None:
        self.problems = tuple(problems[:MAX_LISTED_PROBLEMS])
        self.total = len(problems) if total is None else total
        super().__init__(self.problems[0].message)

    def to_json(self) -> JsonObject:
        """Return the error in the form in which it is stored."""
        return {"problems": [problem.to_json() for problem in self.problems], "total": self.total}

    @staticmethod
    def from_json(stored: JsonObject) -> "InvalidUpload":
        """Restore an error from the result of ``to_json``."""
        return InvalidUpload([*map(FileProblem.from_json, stored["problems"])], total=stored["total"])


def merge_problems(errors: Sequence[InvalidUpload]) -> InvalidUpload:
    """Merge several errors into one. If there are too many problems, some of each error are listed."""
    batches = zip_longest(
        *([(index, entry) for entry in error.problems] for index, error in enumerate(errors))
    )
    first_entries = [entry for batch in batches for entry in batch if entry][:MAX_LISTED_PROBLEMS]
    in_order = [problem for _, problem in sorted(first_entries, key=itemgetter(0))]
    return InvalidUpload(in_order, total=sum(error.total for error in errors))


def run_steps(*steps: Callable[[], Any]) -> list[Any]:
    """Run all steps and return their results. If steps fail, raise one InvalidUpload with all problems."""
    results, errors = [], []
    for step in steps:
        try:
            results.append(step())
        except InvalidUpload as error:
            errors.append(error)
    if errors:
        raise merge_problems(errors)
    return results


def describe_error(error: DomainError) -> JsonObject:
    """Return the values and file problems of an error, for its API response."""
    values = error.message.render_values_in_english()
    if isinstance(error, InvalidUpload):
        descriptions = [problem.describe() for problem in error.problems]
        return {"values": values, "errors": descriptions, "total": error.total}
    if isinstance(error, TooLarge) and "file" in values:
        file_problem = FileProblem(values["file"], None, None, error.code, error.message)
        return {"values": values, "file": values["file"], "errors": [file_problem.describe()], "total": 1}
    return {"values": values}
