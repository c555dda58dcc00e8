"""Field types and helpers shared by all schemas."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self, TypeAlias, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, GetPydanticSchema, WithJsonSchema

from anoncup.messages import StoredValues

T = TypeVar("T")


def example(value: object) -> Any:
    """Return a field with an example for the OpenAPI document."""
    return Field(examples=[value])


def omit_if_none(**options: Any) -> Any:
    """Return a field that is omitted from the output if it is None."""
    return Field(default=None, exclude_if=lambda value: value is None, **options)


Omissible: TypeAlias = Annotated[
    T | None, GetPydanticSchema(lambda source, handler: handler(source)["schema"])
]
"""A value that is never null, but may be missing; the default is then ``omit_if_none()``."""


def open_enum(*values: str) -> WithJsonSchema:
    """Return the schema of a string whose known values the OpenAPI document lists.

    Clients accept other values, too, as a later version of the service may have more.
    """
    return WithJsonSchema({"type": "string", "enum": list(values)})


DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
ID = "0197f3a2-5c1e-7d43-9b60-2f4e8c1d7a55"

Number = Annotated[int | float, WithJsonSchema({"type": "number"})]
"""A number that stays an integer in JSON if it is one."""
MessageValues = Annotated[StoredValues, WithJsonSchema({"type": "object", "additionalProperties": True})]
"""The values in a sentence. The OpenAPI document does not go into nested sentences."""
Id = Annotated[UUID, example(ID)]
Moment = Annotated[datetime, example("2027-01-11T05:30:00Z")]
Entered = Annotated[
    Moment,
    Field(
        description="the time at which the request arrived, before its body was read; it"
        " counts for the deadline"
    ),
]
Slug = Annotated[str, example("small-cup")]
Title = Annotated[dict[str, str], example({"en": "Small cup", "ja": "小さな杯"})]
TeamName = Annotated[str, example("Red")]
PersonName = Annotated[str, example("Rei")]
Rows = Annotated[int, example(50)]
Digest = Annotated[str, example(DIGEST)]
Digests = Annotated[dict[str, str], example({"anonymized.csv": DIGEST})]


class Form(BaseModel):
    """Base class of all schemas; instances are immutable."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    @classmethod
    def from_row(cls, row: object, **values: Any) -> Self:
        """Return a form with ``values``; the other fields are attributes of ``row`` with the same names."""
        names = cls.model_fields.keys() - values.keys()
        return cls(**{name: getattr(row, name) for name in names}, **values)


class Role(StrEnum):
    ADMINISTRATOR = "administrator"
    ORGANIZER = "organizer"
    PARTICIPANT = "participant"
