"""What the files of a contest are called and hold, and remarks on them; they are read elsewhere."""

from dataclasses import dataclass

from app.errors import TooLarge
from app.messages import Message

SECRET = "secret"  # noqa: S105  # the name of the upload's part, not a password
GUESS = "guess"

MAX_ROWS = 1_000_000
MAX_CELL = 1_000
"""Characters."""

CUSTOMER_COLUMNS = ("customer_id", "sex", "birthday", "country")
TRANSACTION_COLUMNS = ("customer_id", "receipt_id", "date", "time", "goods", "unit_price", "quantity")
MASTER = ("sex", "birthday", "country")
"""The quasi-identifiers of a customer."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something worth knowing about an upload that is accepted all the same."""

    code: str
    message: Message


def too_large(file: str, most_mb: int) -> TooLarge:
    return TooLarge("{file} is larger than {most_mb} MB", file=file, most_mb=most_mb)
