"""What all types of the wire have in common."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema


def example(value: object) -> Any:
    """What the document shows of a field; it needs none of what is a flag, has a default or may be null."""
    return Field(examples=[value])


def unless_none(**more: Any) -> Any:
    """A field that is left out where there is nothing to say."""
    return Field(default=None, exclude_if=lambda value: value is None, **more)


def word(*known: str) -> WithJsonSchema:
    """What the document says of a word that is one of these; a later service may know others."""
    return WithJsonSchema({"type": "string", "enum": list(known)})


DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
ID = "0197f3a2-5c1e-7d43-9b60-2f4e8c1d7a55"

Number = Annotated[int | float, WithJsonSchema({"type": "number"})]
"""A whole number stays one."""
Id = Annotated[UUID, example(ID)]
Moment = Annotated[datetime, example("2027-01-11T05:30:00Z")]
Entered = Annotated[
    Moment, Field(description="when it entered, before its body was read: what counts for the deadline")
]
Slug = Annotated[str, example("small-cup")]
Title = Annotated[dict[str, str], example({"en": "Small cup", "ja": "小さな杯"})]
TeamName = Annotated[str, example("Red")]
PersonName = Annotated[str, example("Rei")]
Rows = Annotated[int, example(50)]
Digest = Annotated[str, example(DIGEST)]
Digests = Annotated[dict[str, str], example({"anonymized.csv": DIGEST})]


@dataclass(frozen=True, slots=True)
class Admitted:
    """What is asked of a field that a scoring child has found, who is believed less than a row is.

    ``needed``: though an answer may lack it; ``told``: False where no child says it; ``within``: its limits,
    as pydantic's ``Field`` takes them.
    """

    needed: bool = False
    told: bool = True
    within: Mapping[str, Any] = field(default_factory=dict)


class Form(BaseModel):
    """Read once, then never changed."""

    model_config = ConfigDict(frozen=True)
