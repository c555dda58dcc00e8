"""Schema of the problem document (RFC 9457), the body of every error response."""

from typing import Annotated, Any

from pydantic import Field

from anoncup.errors import MAX_LISTED_PROBLEMS, MAX_VALUE_LENGTH
from anoncup.schemas.codes import ERROR_SENTENCES, FILE_PROBLEM_SENTENCES
from anoncup.schemas.fields import Form

_MessageValues = Annotated[dict[str, Any], Field(description="what the sentence says of this case, by name")]


class WrongInFile(Form):
    """One thing that is wrong in an uploaded file."""

    file: Annotated[str, Field(description="the name of the part")]
    row: Annotated[int | None, Field(description="1-based, counting data rows; null: of the whole file")]
    line: Annotated[
        int | None, Field(description="where it begins, as an editor counts lines; null: it cannot be told")
    ] = None
    column: str | None
    code: Annotated[
        str, Field(description="stable", json_schema_extra={"x-codes": {**FILE_PROBLEM_SENTENCES}})
    ]
    message: str
    values: Annotated[
        dict[str, Any],
        Field(
            description="what the sentence says of this case, by name; `value`: the text that is refused, or"
            f" its first {MAX_VALUE_LENGTH} characters, which of a secret is never told"
        ),
    ] = Field(default_factory=dict)


class WrongField(Form):
    """A part of the request that is not of the form the call needs. Its value is not repeated."""

    field: Annotated[str, Field(description="where it is, such as `body.name`")]
    message: str


class Problem(Form):
    """Why a request was not carried out (RFC 9457). Nothing of it was stored."""

    type: Annotated[str, Field(description="`urn:anoncup:problem:` and the code")]
    title: Annotated[str, Field(description="what the status means")]
    status: int
    detail: Annotated[str, Field(description="a sentence for people")]
    code: Annotated[
        str, Field(description="stable: decide by this", json_schema_extra={"x-codes": {**ERROR_SENTENCES}})
    ]
    values: _MessageValues = Field(default_factory=dict)
    errors: Annotated[
        tuple[WrongInFile, ...],
        Field(
            json_schema_extra={"maxItems": MAX_LISTED_PROBLEMS},
            description="of `malformed_upload`, and of `too_large` if it is a file: the first ones",
        ),
    ] = ()
    total: Annotated[int, Field(description="of the same: how many there are in all")] = 0
    fields: Annotated[tuple[WrongField, ...], Field(description="of `invalid_request`")] = ()
    file: Annotated[
        str | None, Field(description="of `too_large`: the name of the part that is, if a part is")
    ] = None
