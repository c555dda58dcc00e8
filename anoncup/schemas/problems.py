"""Schema of the problem document (RFC 9457), the body of every error response."""

from typing import Annotated

from pydantic import Field

from anoncup.errors import MAX_LISTED_PROBLEMS, MAX_VALUE_LENGTH
from anoncup.messages import JsonObject
from anoncup.schemas.fields import Form

_MessageValues = Annotated[JsonObject, Field(description="the values in the sentence, by name")]


class WrongInFile(Form):
    """A problem in an uploaded file."""

    file: Annotated[str, Field(description="name of the part of the upload")]
    row: Annotated[
        int | None,
        Field(description="number of the data row, from 1; null if the problem concerns the whole file"),
    ]
    line: Annotated[
        int | None, Field(description="line in a text editor where the row begins, from 1; null if unknown")
    ] = None
    column: str | None
    code: Annotated[str, Field(description="stable")]
    message: str
    values: Annotated[
        JsonObject,
        Field(
            description="the values in the sentence, by name; `value` is the rejected text, cut to"
            f" {MAX_VALUE_LENGTH} characters, and never set for secrets"
        ),
    ] = Field(default_factory=dict)


class WrongField(Form):
    """An invalid part of the request. Its value is not repeated."""

    field: Annotated[str, Field(description="path of the field, such as `body.name`")]
    message: str


class Problem(Form):
    """The reason why a request failed (RFC 9457). Nothing of the request was stored."""

    type: Annotated[str, Field(description="`urn:anoncup:problem:` followed by the code")]
    title: Annotated[str, Field(description="meaning of the status")]
    status: int
    detail: Annotated[str, Field(description="a sentence for readers")]
    code: Annotated[str, Field(description="stable; programs decide by this field")]
    values: _MessageValues = Field(default_factory=dict)
    errors: Annotated[
        tuple[WrongInFile, ...],
        Field(
            json_schema_extra={"maxItems": MAX_LISTED_PROBLEMS},
            description="for `malformed_upload`, and for `too_large` if a file is too large: the"
            " first problems",
        ),
    ] = ()
    total: Annotated[
        int, Field(description="number of all problems in `errors`, including those that are not listed")
    ] = 0
    fields: Annotated[
        tuple[WrongField, ...], Field(description="for `invalid_request`: the invalid fields")
    ] = ()
    file: Annotated[
        str | None,
        Field(description="for `too_large`: the name of the part that is too large, if it is a part"),
    ] = None
