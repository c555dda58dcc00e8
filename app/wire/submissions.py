"""What a team has handed in, and what it may still send."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from app.wire.form import Form
from app.wire.said import Failed, Said
from app.wire.verdicts import Verdict

MOST_GRANTED = 1_000
"""Of a cap, at once."""
Before = Annotated[int | None, Field(description="how many are begun before it, if nothing more is sent in")]


class Receipt(Form):
    id: UUID
    status: str
    received_at: Annotated[
        datetime, Field(description="when it entered, before its body was read: what counts for the deadline")
    ]
    sha256: Annotated[dict[str, str], Field(description="of each public file, as it was sent")]
    commitment: Annotated[
        str, Field(description="SHA-256 of a salt and the secret; both are revealed at the end")
    ]
    warnings: list[Said]
    quota_left: Annotated[dict[str, int], Field(description="of each cap, right after this submission")]


class Cap(Form):
    name: str
    used: int
    limit: int
    left: int
    resets_at: Annotated[datetime | None, Field(description="null: it does not")]


class Quota(Form):
    phase: str
    caps: list[Cap]


class GrantIn(Form):
    team_id: UUID
    cap: Annotated[str, Field(description="a cap of `[limits]`, such as valid_per_day or guesses_per_target")]
    amount: Annotated[int, Field(ge=1, le=MOST_GRANTED)]


class Grant(GrantIn):
    id: UUID
    at: datetime


class BaselineReceipt(Form):
    team_id: Annotated[UUID, Field(description="names the baseline, to remove it")]
    receipt: Receipt


class Progress(Form):
    """Where the scoring of a submission stands."""

    id: Annotated[UUID, Field(description="the submission's")]
    status: str
    step: int
    steps: int
    step_name: str
    attempt: int
    queue_position: Before


class Submission(Receipt, Failed):
    competition: str
    team: str
    comment: str
    rows: int
    final: Annotated[bool, Field(description="marked by the team to stand for it in the second phase")]
    disqualified: bool
    step: int
    steps: int
    step_name: str
    queue_position: Before
    attempt: int
    started_at: datetime | None
    finished_at: datetime | None
    scorer: str | None
    result: Annotated[
        Verdict | None,
        Field(description="as `anoncup score --json` prints it, with every measure and what it resembles"),
    ]
