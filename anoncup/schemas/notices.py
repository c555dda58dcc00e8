"""Something that is said of an upload: a warning, a remark, a rule that it breaks, why work on it failed."""

from typing import Annotated, Any

from pydantic import Field, field_serializer

from anoncup.messages import Message, Statement, told
from anoncup.schemas.codes import FAILURES
from anoncup.schemas.fields import Admitted, Form, example, unless_none


class Failed(Form):
    """Work that may fail; all null where it did not."""

    failure: Annotated[str | None, Field(description="why it ended in ERROR, or was tried again")]
    failure_code: Annotated[
        str | None, Field(description="stable", json_schema_extra={"x-codes": {**FAILURES}})
    ]
    failure_values: Annotated[
        dict[str, Any] | None, Field(description="what the sentence says of this case, by name")
    ]


def failed(reason: Statement | None) -> dict[str, Any]:
    """The fields of ``Failed``."""
    if reason is None:
        return dict.fromkeys(Failed.model_fields)
    said = told(reason.code, reason.message)
    return {"failure": said["message"], "failure_code": said["code"], "failure_values": said["values"]}


class Said(Form):
    """Read as it is stored or as it is told; told without its template, whole values in English."""

    code: Annotated[str, Field(description="stable"), example("sent_before")]
    message: Annotated[str, example("your team has already sent this release 2 times")]
    values: Annotated[
        dict[str, Any],
        Field(description="what the sentence says of this case, by name", default_factory=dict),
        Admitted(needed=True),
        example({"times": 2}),
    ]
    template: Annotated[str | None, Field(exclude=True), Admitted(needed=True)] = None

    plural: Annotated[dict[str, str] | None, Field(exclude=True)] = unless_none()

    @staticmethod
    def of(code: str, message: Message) -> "Said":
        return Said(code=code, message=str(message), **message.to_json())

    @property
    def sentence(self) -> Message:
        """To be said in any language; of what was told, in English only."""
        if self.template is None:
            return Message(self.message)
        return Message.from_json({"template": self.template, "values": self.values, "plural": self.plural})

    @field_serializer("values")
    def plain(self, values: dict[str, Any]) -> dict[str, Any]:
        return values if self.template is None else self.sentence.plain()
