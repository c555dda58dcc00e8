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
    team: Annotated[str, example("red")]
    """name of the team; empty for all baselines"""
    attempt: Annotated[int, example(0)]
    """number of the draw, from 0; higher if an earlier draw equalled that of another team"""
    files: Files


class AllocationReveal(Form):
    seed: Annotated[str, example(DIGEST)]
    """32 bytes, in hexadecimal"""
    commitment: Annotated[str, example(DIGEST)]
    """SHA-256 of the seed; it was published before the allocation"""
    allocations: list[TeamAllocation]
    """allocations of all teams, in the order in which they were made"""
