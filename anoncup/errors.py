"""What can go wrong in the contest's own words. Nothing here knows HTTP or a database."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from operator import itemgetter
from typing import Any

from anoncup.messages import Message, Statement, Value, told

LISTED = 20
"""How many problems of one upload are listed; the total is always given."""
LONGEST_VALUE = 80
"""Characters of a refused text."""


class DomainError(Exception):
    """Something the caller can be told: a stable ``code`` and a message, of which ``str`` is the English."""

    code = "error"

    def __init__(self, said: str | Message, /, *, code: str | None = None, **values: Value) -> None:
        """``said``: a template, for the ``values``, or a message that has its own."""
        self.message = said if isinstance(said, Message) else Message(said, **values)
        super().__init__(str(self.message))
        if code is not None:
            self.code = code

    @property
    def statement(self) -> Statement:
        """What is kept of it."""
        return Statement(self.code, self.message)


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
    """The value ``file`` names the one that is, if it is one of several."""

    code = "too_large"


class TooSlow(DomainError):
    """A body that trickles."""

    code = "too_slow"


class Unreadable(DomainError):
    """A request that cannot be taken apart."""

    code = "bad_request"


class TooMany(DomainError):
    """Too many tries; ``retry_after`` seconds from now there is room again."""

    code = "too_many"

    def __init__(
        self, said: str | Message, /, *, retry_after: int, code: str | None = None, **values: Value
    ) -> None:
        super().__init__(said, code=code, **values)
        self.retry_after = retry_after


class Unavailable(DomainError):
    """A part the service needs cannot be reached right now; ``retry_after`` seconds from now it may be."""

    code = "unavailable"
    retry_after = 10


class DatabaseUnavailable(Unavailable):
    """The database does not do what it is asked right now."""

    code = "database_unavailable"


class CompetitionUnavailable(Unavailable):
    """A stored competition file that this version cannot read: a part was removed, or the format is older."""

    code = "competition_unavailable"
    retry_after = 60


class InvalidCompetition(DomainError):
    """A competition file that cannot be used; ``code`` names the rule it breaks.

    Of a text, which may be most of the file, no more than ``LONGEST_VALUE`` is repeated.
    """

    code = "invalid_competition"

    def __init__(self, said: str | Message, /, *, code: str | None = None, **values: Value) -> None:
        bounded = {
            name: each[:LONGEST_VALUE] if isinstance(each, str) else each for name, each in values.items()
        }
        super().__init__(said, code=code, **bounded)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in an uploaded file. Rows are 1-based and count data rows.

    ``line``: where it begins, as an editor counts. ``value``: the text that is refused, as far as
    ``LONGEST_VALUE``; None where there is none, and always of a secret.
    """

    file: str
    row: int | None
    column: str | None
    code: str
    message: Message
    line: int | None = None
    value: str | None = None

    def told(self) -> dict[str, Any]:
        where = {"file": self.file, "row": self.row, "line": self.line, "column": self.column}
        said = told(self.code, self.message)
        if self.value is not None:
            said["values"]["value"] = self.value
        return {**where, **said}


class InvalidUpload(DomainError):
    """Malformed files: the first problems, and how many there are in all."""

    code = "malformed_upload"

    def __init__(self, problems: Sequence[Problem], *, total: int | None = None) -> None:
        self.problems = tuple(problems[:LISTED])
        self.total = len(problems) if total is None else total
        super().__init__(self.problems[0].message)


def together(refused: Sequence[InvalidUpload]) -> InvalidUpload:
    """The problems of all of them; where they are too many to list, some of each."""
    turns = zip_longest(*([(place, each) for each in one.problems] for place, one in enumerate(refused)))
    listed = [each for turn in turns for each in turn if each][:LISTED]
    in_order = [problem for _, problem in sorted(listed, key=itemgetter(0))]
    return InvalidUpload(in_order, total=sum(one.total for one in refused))


def read_each(*steps: Callable[[], Any]) -> list[Any]:
    """What each step returns; InvalidUpload with the problems of all that find some."""
    found, refused = [], []
    for step in steps:
        try:
            found.append(step())
        except InvalidUpload as faulty:
            refused.append(faulty)
    if refused:
        raise together(refused)
    return found


def particulars(error: DomainError) -> dict[str, Any]:
    """What an answer says besides code and sentence: the values, and what is wrong in files."""
    values = error.message.plain()
    if isinstance(error, InvalidUpload):
        listed = [each.told() for each in error.problems]
        return {"values": values, "errors": listed, "total": error.total}
    if isinstance(error, TooLarge) and "file" in values:
        whole = Problem(values["file"], None, None, error.code, error.message)
        return {"values": values, "file": values["file"], "errors": [whole.told()], "total": 1}
    return {"values": values}
