"""Schemas of rehearsals and their progress."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from anoncup.schemas.competitions import State
from anoncup.schemas.fields import Form, Id, Moment, Slug, example, open_enum
from anoncup.schemas.notices import FailureFields

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


class FailedMove(FailureFields):
    """A move of a sample team that could not be made."""

    id: Id
    team: Annotated[str, example("add_noise")]
    phase: Annotated[str, example("anonymization")]


class Rehearsal(Form):
    slug: Annotated[Slug, Field(description="of the rehearsal, which is a competition of its own")]
    rehearsal_of: Annotated[Slug, Field(description="of the competition that is rehearsed")]
    state: State
    began_at: Moment
    ends_at: Annotated[
        datetime | None, Field(description="when its last phase ends"), example("2027-01-11T06:25:00Z")
    ]
    steps: Annotated[list[RehearsalStep], Field(description="in the order in which they happen")]
    failed: list[FailedMove]
    stalled: Annotated[bool, Field(description="moves have been due for minutes, and no worker makes them")]
    late: Annotated[int, Field(description="moves that came too late for their phase"), example(0)]
