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
    address: Annotated[
        str,
        Field(description="address of the round in paths, instead of the slug"),
        example("small-cup.final"),
    ]
    title: Title
    state: Annotated[str, open_enum(*get_args(State)), example("draft")]
    phases: list[Phase]
    weight: Annotated[float, Field(description="weight of the round in the total"), example(0.9)]
    practice: Annotated[
        bool, Field(description="whether it is a practice round, which does not count and may be reset")
    ]


class Competition(Form):
    slug: Slug
    address: Annotated[
        str,
        Field(
            description="address of this round in paths; the slug alone is the address of the current round"
        ),
        example("small-cup"),
    ]
    round: Annotated[str, Field(description="name of this round; empty without rounds"), example("")]
    rounds: Annotated[list[Round], Field(description="all rounds; empty without rounds")]
    title: Title
    track: Annotated[str, example("microdata")]
    timezone: Annotated[str, example("Asia/Tokyo")]
    state: Annotated[
        str,
        open_enum(*get_args(State)),
        Field(
            description="in `settling`, a deadline has passed, and uploads that came in time are"
            " being scored or prepared, or the notice of an earlier reveal runs"
        ),
    ]
    paused: Annotated[bool, Field(description="whether the open phase accepts no uploads at present")]
    phases: list[Phase]
    reveal_at: Annotated[
        datetime | None,
        Field(
            description="the time at which the secrets are revealed: the last end or, if it was"
            " moved nearer, the end of the notice period; null without a second phase"
        ),
        example("2027-02-08T00:00:00Z"),
    ]
    original_rows: Annotated[
        int | None, Field(description="number of individuals; null until the data are complete"), example(50)
    ]
    original_sha256: Annotated[
        dict[str, str], Field(description="SHA-256 of each uploaded file"), example({"original.csv": DIGEST})
    ]
    original_files: Annotated[list[str], example(["original.csv"])]
    own_files: Annotated[
        list[str],
        Field(description="files that the service allocates to each team"),
        example(["members.csv"]),
    ]
    seed_commitment: Annotated[
        str | None,
        Field(description="SHA-256 of the seed of the allocation; null without a seed"),
        example(DIGEST),
    ]
    truth_files: Annotated[
        list[str],
        Field(description="files that only organizers have"),
        example(["hidden.csv"]),
    ]
    truth_commitments: Annotated[
        dict[str, str],
        Field(description="SHA-256 of a salt and the file, for each uploaded file of the organizers"),
        example({"hidden.csv": DIGEST}),
    ]


class UnavailableCompetition(Form):
    """A competition whose file this version of the service cannot read, with all that is known without it."""

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
    detail: Annotated[str, Field(description="the reason in a sentence")]


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
    """The progress of a step. ``of`` is the number of all moves, or null while it is unknown."""

    step: Annotated[str, open_enum(*_STEP_NAMES), example("scores")]
    done: Annotated[int, example(12)]
    of: Annotated[int | None, example(20)]
    first: Annotated[
        datetime | None, Field(description="the time of the first"), example("2027-01-11T05:31:04Z")
    ]
    last: Annotated[
        datetime | None, Field(description="the time of the last"), example("2027-01-11T05:40:12Z")
    ]


class Rehearsal(Form):
    slug: Annotated[Slug, Field(description="slug of the rehearsal, which is a separate competition")]
    rehearsal_of: Annotated[Slug, Field(description="slug of the rehearsed competition")]
    state: State
    began_at: Moment
    ends_at: Annotated[
        datetime | None, Field(description="the end of its last phase"), example("2027-01-11T06:25:00Z")
    ]
    steps: Annotated[list[RehearsalStep], Field(description="steps in the order in which they happen")]
    failed: Annotated[
        list[Clarification],
        Field(description="questions in which sample teams report moves that failed"),
    ]
    stalled: Annotated[
        bool, Field(description="whether moves have been due for minutes and no worker makes them")
    ]
    expired: Annotated[
        bool,
        Field(
            description="whether seven days have passed, so that its teams make no more"
            " moves; end it and begin a new one"
        ),
    ]
    late: Annotated[int, Field(description="number of moves that came too late for their phase"), example(0)]
