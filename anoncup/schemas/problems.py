"""Schema of the problem document (RFC 9457), the body of every error response."""

from typing import Annotated

from pydantic import Field

from anoncup.errors import MAX_LISTED_PROBLEMS, MAX_VALUE_LENGTH
from anoncup.messages import JsonObject
from anoncup.schemas.fields import Form

_MessageValues = Annotated[JsonObject, Field(description="the values in the sentence, by name")]


class WrongInFile(Form):
    """A problem in an uploaded file."""

    file: str
    """name of the part of the upload"""
    row: int | None
    """number of the data row, from 1; null if the problem concerns the whole file"""
    line: int | None = None
    """line in a text editor where the row begins, from 1; null if unknown"""
    column: str | None
    code: str
    """stable"""
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

    field: str
    """path of the field, such as `body.name`"""
    message: str


class Problem(Form):
    """The reason why a request failed (RFC 9457). Nothing of the request was stored."""

    type: str
    """`urn:anoncup:problem:` followed by the code"""
    title: str
    """meaning of the status"""
    status: int
    detail: str
    """a sentence for readers"""
    code: str
    """stable; programs decide by this field"""
    values: _MessageValues = Field(default_factory=dict)
    errors: Annotated[
        tuple[WrongInFile, ...], Field(json_schema_extra={"maxItems": MAX_LISTED_PROBLEMS})
    ] = ()
    """for `malformed_upload`, and for `too_large` if a file is too large: the first problems"""
    total: int = 0
    """number of all problems in `errors`, including those that are not listed"""
    fields: tuple[WrongField, ...] = ()
    """for `invalid_request`: the invalid fields"""
    file: str | None = None
    """for `too_large`: the name of the part that is too large, if it is a part"""
