"""Schemas of notices about an upload: warnings, remarks, violations and failures."""

from typing import Annotated

from pydantic import Field, field_serializer

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
