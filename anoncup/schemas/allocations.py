"""Schemas of allocations: the data that the service assigns to each team by lot."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from anoncup.schemas.fields import DIGEST, Form, example

Files = Annotated[dict[str, str], Field(description="SHA-256 of each file"), example({"members.csv": DIGEST})]


class OwnFiles(Form):
    files: Files
    allocated_at: Annotated[datetime, example("2027-01-10T00:00:01Z")]


class TeamAllocation(Form):
    team: Annotated[str, Field(description="name of the team; empty for all baselines"), example("red")]
    attempt: Annotated[
        int,
        Field(
            description="number of the draw, from 0; higher if an earlier draw equalled that of another team"
        ),
        example(0),
    ]
    files: Files


class AllocationReveal(Form):
    seed: Annotated[str, Field(description="32 bytes, in hexadecimal"), example(DIGEST)]
    commitment: Annotated[
        str, Field(description="SHA-256 of the seed; it was published before the allocation"), example(DIGEST)
    ]
    allocations: Annotated[
        list[TeamAllocation],
        Field(description="allocations of all teams, in the order in which they were made"),
    ]
