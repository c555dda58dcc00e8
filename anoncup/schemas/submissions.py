"""Schemas of submissions, receipts, quotas, grants and rescores."""

from datetime import datetime
from typing import Annotated, Literal, get_args
from uuid import UUID

from pydantic import Field

from anoncup.schemas.fields import (
    DIGEST,
    ID,
    Digests,
    Entered,
    Form,
    Id,
    Moment,
    Rows,
    Slug,
    TeamName,
    example,
    open_enum,
)
from anoncup.schemas.notices import FailureFields, Notice
from anoncup.schemas.people import DisqualificationReason
from anoncup.schemas.verdicts import Verdict

MAX_GRANT = 1_000
"""Maximum amount of one grant."""
MAX_POINTS = 1_000_000
"""Maximum number of points of one penalty or bonus."""
_QueuePosition = Annotated[
    int | None,
    Field(description="number of submissions before it in the queue, if no more are sent"),
    example(0),
]


class Receipt(Form):
    id: Id
    number: Annotated[int | None, example(3)]
    """number of the submission in its team, from 1, in the order of receipt"""
    status: Annotated[str, example("QUEUED")]
    received_at: Entered
    sha256: Digests
    """SHA-256 of each public file, as it was sent"""
    commitment: Annotated[str, example(DIGEST)]
    """SHA-256 of a salt followed by the secret; both are revealed at the end"""
    warnings: list[Notice]
    quota_left: Annotated[
        dict[str, int],
        example({"valid_per_day": 9, "valid_total": 99, "attempts_per_day": 49, "attempts_total": 499}),
    ]
    """what is left of each cap after this submission"""


class CheckedSubmission(Form):
    """An upload that would be accepted as it is."""

    rows: Rows
    sha256: Digests
    """SHA-256 of each public file, as it was sent"""
    warnings: list[Notice]


class Cap(Form):
    name: Annotated[str, example("valid_per_day")]
    used: Annotated[int, example(3)]
    limit: Annotated[int, example(10)]
    left: Annotated[int, example(7)]
    resets_at: Annotated[datetime | None, example("2027-01-11T15:00:00Z")]
    """null if it never resets"""


class Quota(Form):
    phase: Annotated[str, example("anonymization")]
    caps: list[Cap]


class GrantIn(Form):
    team_id: Id
    cap: Annotated[str, example("valid_per_day")]
    """name of a cap in `[limits]`, such as valid_per_day or guesses_per_target"""
    amount: Annotated[int, Field(ge=1, le=MAX_GRANT), example(5)]


class Grant(GrantIn):
    id: Id
    at: Moment


class AdjustmentIn(Form):
    team_id: Id
    points: Annotated[float, Field(ge=-MAX_POINTS, le=MAX_POINTS), example(-2.5)]
    """added to the other points of the team; minus the sum is `penalty` in formulas"""
    reason: Annotated[str, Field(min_length=1, max_length=500), example("Late by an hour")]


class Adjustment(AdjustmentIn):
    """A penalty or bonus. It counts until it is withdrawn."""

    id: Id
    created_at: Moment
    withdrawn_at: datetime | None


class BaselineReceipt(Form):
    team_id: Annotated[UUID, example(ID)]
    """id with which the baseline can be removed"""
    receipt: Receipt


class Submission(Receipt, FailureFields):
    status: Annotated[str, example("SCORED")]
    competition: Slug
    team: TeamName
    comment: Annotated[str, example("groups of 5, income rounded")]
    rows: Rows
    final: Annotated[bool, example(True)]
    """whether the team has marked it as a final, which becomes a target in the second phase"""
    disqualified: bool
    disqualification_reason: DisqualificationReason
    step: Annotated[int, example(12)]
    steps: Annotated[int, example(12)]
    step_name: Annotated[str, example("euc1")]
    queue_position: _QueuePosition
    attempt: Annotated[int, example(1)]
    started_at: Annotated[datetime | None, example("2027-01-11T05:30:01Z")]
    finished_at: Annotated[datetime | None, example("2027-01-11T05:30:04Z")]
    scorer: Annotated[str | None, example("1")]
    score: Annotated[float | None, example(0.132)]
    """value of the formula that ranks, without guesses of other teams, penalties and bonuses; null if no
    formula ranks, if it compares releases, or if the release does not count"""
    result: Verdict | None
    """the verdict as `anoncup score --json` prints it, without `score`"""


Stage = Literal["scoring", "ready", "applied", "cancelled"]


class RescoreOutcome(FailureFields):
    status: Annotated[str, example("SCORED")]
    rank: Annotated[int | None, example(1)]
    """rank of the team on the organizers' board under these rules; null if it has none or not all submissions
    are scored"""
    score: Annotated[float | None, example(0.132)]
    """score by which the organizers' board ranks the team under these rules: the value of the formula or,
    without one, `overall` of that board, with the guesses of other teams; null if it has none or not all
    submissions are scored"""
    utility: Annotated[float | None, example(0.084)]
    security: Annotated[float | None, example(0.18)]
    """risk by the built-in attackers only"""
    overall: Annotated[float | None, example(0.132)]
    """of the submission, by the built-in attackers only"""
    violations: Annotated[list[str], example([])]


class RescoreChange(Form):
    submission_id: Id
    team: TeamName
    before: RescoreOutcome
    after: RescoreOutcome


class RescoreGuessOutcome(FailureFields):
    status: Annotated[str, example("SCORED")]
    correct: Annotated[int | None, example(40)]
    value: Annotated[float | None, example(0.4)]
    """as in the outcome of a guess"""
    risk: Annotated[float | None, example(0.4)]
    """the value adjusted for chance, which boards compare"""


class RescoreGuess(Form):
    guess_id: Id
    team: TeamName
    target: Annotated[str, example("T07")]
    question: Annotated[str, example("link")]
    before: RescoreGuessOutcome
    after: RescoreGuessOutcome


class RescoreSummary(Form):
    id: Id
    state: Annotated[str, open_enum(*get_args(Stage))]
    created_at: Moment
    applied_at: datetime | None
    cancelled_at: datetime | None
    finished: Annotated[int, example(12)]
    """submissions that are scored by the new rules"""
    total: Annotated[int, example(12)]
    """submissions of the set"""
    judged: Annotated[int, example(40)]
    """guesses that are judged by the new rules"""
    guesses: Annotated[int, example(40)]
    """guesses of the set"""


class Rescore(RescoreSummary):
    rows: list[RescoreChange]
    """results of every submission under the old and the new rules"""
    guess_rows: list[RescoreGuess]
    """guesses whose results change, before the set is applied"""
