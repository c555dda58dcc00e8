"""What can go wrong in the contest's own words. Nothing here knows HTTP or a database."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

LISTED = 20
"""How many problems of one upload are listed; the total is always given."""


class DomainError(Exception):
    """Something the caller can be told: a stable ``code`` and a sentence."""

    code = "error"

    def __init__(self, detail: str, *, code: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        if code is not None:
            self.code = code


class NotFound(DomainError):
    code = "not_found"


class NotSignedIn(DomainError):
    code = "not_signed_in"


class NotAllowed(DomainError):
    code = "not_allowed"


class Conflict(DomainError):
    code = "conflict"


class InvalidInput(DomainError):
    code = "invalid"


class WrongCredential(InvalidInput):
    """A code or an old password that is not right; such tries are counted."""

    code = "wrong_credential"


class TooLarge(DomainError):
    """``file``: the one that is, if it is one of several."""

    code = "too_large"

    def __init__(self, detail: str, *, file: str | None = None) -> None:
        super().__init__(detail)
        self.file = file


class TooMany(DomainError):
    """Too many tries; ``retry_after`` seconds from now there is room again."""

    code = "too_many"

    def __init__(self, detail: str, *, retry_after: int, code: str | None = None) -> None:
        super().__init__(detail, code=code)
        self.retry_after = retry_after


class Unavailable(DomainError):
    """A part the service needs cannot be reached right now; ``retry_after`` seconds from now it may be."""

    code = "unavailable"
    retry_after = 10


class CompetitionUnavailable(Unavailable):
    """A stored competition file that this version cannot read: a part was removed, or the format is older."""

    code = "competition_unavailable"
    retry_after = 60


class InvalidCompetition(DomainError):
    """A competition file that cannot be used; ``code`` names the rule it breaks."""

    code = "invalid_competition"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in an uploaded file. Rows are 1-based and count data rows."""

    file: str
    row: int | None
    column: str | None
    code: str
    message: str


class InvalidUpload(DomainError):
    """Malformed files: the first problems, and how many there are in all."""

    code = "malformed_upload"

    def __init__(self, problems: Sequence[Problem], *, total: int | None = None) -> None:
        self.problems = tuple(problems[:LISTED])
        self.total = len(problems) if total is None else total
        super().__init__(self.problems[0].message)


def particulars(error: DomainError) -> dict[str, Any]:
    """What an answer says besides code and sentence: what is wrong in files, or which one is too large."""
    if isinstance(error, InvalidUpload):
        return {"errors": [asdict(each) for each in error.problems], "total": error.total}
    if isinstance(error, TooLarge) and error.file is not None:
        return {"file": error.file}
    return {}
