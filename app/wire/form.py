"""What all types of the wire have in common."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

Number = Annotated[int | float, WithJsonSchema({"type": "number"})]
"""A whole number stays one."""


class Form(BaseModel):
    """Read once, then never changed."""

    model_config = ConfigDict(frozen=True)


def unless_none(**more: Any) -> Any:
    """A field that is left out where there is nothing to say."""
    return Field(default=None, exclude_if=lambda value: value is None, **more)
