"""Schemas of notices about an upload, such as warnings, and of the problem document (RFC 9457)."""

from typing import Annotated

from pydantic import Field, field_serializer

from anoncup.errors import MAX_LISTED_PROBLEMS, MAX_VALUE_LENGTH
from anoncup.messages import (
    CodedMessage,
    JsonObject,
    Message,
    PluralForms,
    StoredValues,
    describe_in_english,
)
from anoncup.schemas.fields import Form, MessageValues, Omissible, example, omit_if_none


class FailureFields(Form):
    """Fields of a job that may fail; all are null if it has not failed."""

    failure: str | None
    """reason why it ended in ERROR or was tried again"""
    failure_code: str | None
    """stable"""
    failure_values: JsonObject | None
    """the values in the sentence, by name"""


def build_failure_fields(reason: CodedMessage | None) -> JsonObject:
    """Return values for the fields of ``FailureFields``; all are None without a reason."""
    if reason is None:
        return dict.fromkeys(FailureFields.model_fields)
    notice = describe_in_english(reason.code, reason.message)
    return {"failure": notice["message"], "failure_code": notice["code"], "failure_values": notice["values"]}


class Notice(Form):
    """A remark on an upload. It is stored with its template; the API returns English values without it."""

    code: Annotated[str, example("sent_before")]
    """stable"""
    message: Annotated[str, example("your team has already sent this release 2 times")]
    values: Annotated[MessageValues, Field(default_factory=dict), example({"times": 2})]
    """the values in the sentence, by name"""
    template: Annotated[str | None, Field(exclude=True)] = None
    plural: Annotated[Omissible[PluralForms], Field(exclude=True)] = omit_if_none()

    @staticmethod
    def create(code: str, message: Message) -> "Notice":
        return Notice(code=code, message=str(message), **message.to_json())

    @property
    def sentence(self) -> Message:
        """The message. It can only be translated if the notice was read from storage."""
        if self.template is None:
            return Message(self.message)
        return Message.from_json({"template": self.template, "values": self.values, "plural": self.plural})

    @field_serializer("values")
    def serialize_values(self, values: StoredValues) -> JsonObject:
        return values if self.template is None else self.sentence.render_values_in_english()


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
