"""Schemas of competitions and their rehearsals."""

from datetime import datetime
from typing import Annotated, Literal, get_args

from pydantic import Field, RootModel

from anoncup.schemas.fields import DIGEST, Form, Moment, Slug, Title, example, open_enum
from anoncup.schemas.notices import Notice
from anoncup.schemas.people import Clarification

State = Literal["draft", "anonymization", "settling", "between", "reidentification", "closed"]


class Phase(Form):
    name: Annotated[str, example("anonymization")]
    start: Annotated[datetime, example("2027-01-10T09:00:00+09:00")]
    end: Annotated[datetime, example("2027-01-24T09:00:00+09:00")]


class Round(Form):
    """A round of a competition that has rounds."""

    name: Annotated[str, example("final")]
    address: Annotated[str, Field(description="in paths, in place of the slug"), example("small-cup.final")]
    title: Title
    state: Annotated[str, open_enum(*get_args(State)), example("draft")]
    phases: list[Phase]
    weight: Annotated[float, Field(description="in the total"), example(0.9)]
    practice: Annotated[bool, Field(description="it counts for nothing and may be reset")]


class Competition(Form):
    slug: Slug
    address: Annotated[
        str,
        Field(description="of this round in paths; a slug alone stands for the current round"),
        example("small-cup"),
    ]
    round: Annotated[str, Field(description="its name; empty without rounds"), example("")]
    rounds: Annotated[list[Round], Field(description="all rounds; empty without rounds")]
    title: Title
    track: Annotated[str, example("microdata")]
    timezone: Annotated[str, example("Asia/Tokyo")]
    state: Annotated[
        str,
        open_enum(*get_args(State)),
        Field(description="settling: a deadline has passed, what came in time is being scored or prepared"),
    ]
    paused: Annotated[bool, Field(description="the open phase takes nothing in for now")]
    phases: list[Phase]
    reveal_at: Annotated[
        datetime | None,
        Field(
            description="when the secrets are revealed: the last end, or, where that moved nearer, once its"
            " notice has run; null without a second phase, and until the clock has witnessed the end"
        ),
        example("2027-02-08T00:00:00Z"),
    ]
    original_rows: Annotated[
        int | None, Field(description="individuals; null until the data are complete"), example(50)
    ]
    original_sha256: Annotated[
        dict[str, str], Field(description="of each file that is there"), example({"original.csv": DIGEST})
    ]
    original_files: Annotated[list[str], example(["original.csv"])]
    own_files: Annotated[
        list[str],
        Field(description="what the service draws for each team"),
        example(["members.csv"]),
    ]
    seed_commitment: Annotated[
        str | None,
        Field(
            description="SHA-256 of the seed of what the service draws; null until it has one, if it draws"
        ),
        example(DIGEST),
    ]
    truth_files: Annotated[
        list[str],
        Field(description="what the organizers hold and nobody sees"),
        example(["hidden.csv"]),
    ]
    truth_commitments: Annotated[
        dict[str, str],
        Field(description="of each of these that is there: SHA-256 of a salt and the file"),
        example({"hidden.csv": DIGEST}),
    ]


class UnavailableCompetition(Form):
    """A competition whose file this version of the service cannot read: what is known without it."""

    slug: str
    title: dict[str, str]
    track: None = None
    timezone: None = None
    state: Annotated[str, open_enum("unavailable")] = "unavailable"
    paused: bool = False
    phases: tuple[Phase, ...] = ()
    reveal_at: None = None
    original_rows: int | None
    original_sha256: dict[str, str]
    original_files: list[str]
    code: Annotated[str, open_enum("competition_unavailable")] = "competition_unavailable"
    detail: Annotated[str, Field(description="why, in a sentence")]


ListedCompetition = Competition | UnavailableCompetition


class CompetitionList(RootModel[list[ListedCompetition]]):
    """All competitions of a service."""


class Original(Competition):
    remarks: Annotated[
        list[Notice],
        example(
            [
                {
                    "code": "read_as_cp932",
                    "message": "original is not UTF-8; it was read as Shift_JIS (CP932)",
                    "values": {"file": "original"},
                }
            ]
        ),
    ]


_STEP_NAMES = ("releases", "scores", "finals", "targets", "guesses", "judged", "reveal")


class RehearsalStep(Form):
    """What is done of it, and how much there is to do; a number of None: nobody knows yet."""

    step: Annotated[str, open_enum(*_STEP_NAMES), example("scores")]
    done: Annotated[int, example(12)]
    of: Annotated[int | None, example(20)]
    first: Annotated[
        datetime | None, Field(description="when the first was done"), example("2027-01-11T05:31:04Z")
    ]
    last: Annotated[
        datetime | None, Field(description="when the last was done"), example("2027-01-11T05:40:12Z")
    ]


class Rehearsal(Form):
    slug: Annotated[Slug, Field(description="of the rehearsal, which is a competition of its own")]
    rehearsal_of: Annotated[Slug, Field(description="of the competition that is rehearsed")]
    state: State
    began_at: Moment
    ends_at: Annotated[
        datetime | None, Field(description="when its last phase ends"), example("2027-01-11T06:25:00Z")
    ]
    steps: Annotated[list[RehearsalStep], Field(description="in the order in which they happen")]
    failed: Annotated[
        list[Clarification],
        Field(description="questions in which sample teams say why they could not make a move"),
    ]
    stalled: Annotated[bool, Field(description="moves have been due for minutes, and no worker makes them")]
    expired: Annotated[
        bool, Field(description="its teams make no more moves after seven days: end it and begin a new one")
    ]
    late: Annotated[int, Field(description="moves that came too late for their phase"), example(0)]
