"""What is said to people: a template in English, and the values that belong into it.

A page translates the template and puts the values in afterwards; nothing ever takes a sentence apart.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

One: TypeAlias = "str | int | float | Message | None"
Value: TypeAlias = "One | tuple[One, ...]"

FIELD = re.compile(r"\{([a-z_]+)(!r)?(?::(,|\.0f|\.6g))?\}")
"""Less than ``str.format`` knows: a template may come out of a row or a scoring child."""

PARTS = ("template", "values", "plural")
"""Of a message as it is stored; only one that counts has a plural."""

PICTURES = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    0x7F: "␡",
    **{code: f"\\x{code:x}" for code in range(0x80, 0xA0)},
}
"""What is drawn in place of a control character."""


def N_(text: str) -> str:  # noqa: N802  # as it is called wherever texts are translated
    """The text itself, marked as one that is translated where it is shown."""
    return text


def P_(context: str, text: str) -> tuple[str, str]:  # noqa: N802  # likewise
    """A text that has several meanings, in this one; marked as ``N_`` marks."""
    return context, text


@dataclass(frozen=True, slots=True, init=False)
class Message:
    """A sentence, or a part of one that another's value is. A template without values is taken as it is.

    ``str`` gives the English. Several values in a tuple are joined by commas.
    """

    template: str
    values: Mapping[str, Value] = field(hash=False)

    def __init__(self, template: str, /, **values: Value) -> None:
        object.__setattr__(self, "template", template)
        object.__setattr__(self, "values", values)

    def __str__(self) -> str:
        return filled(self.template, self.values)

    def plain(self) -> dict[str, Any]:
        """The values as a program is told them: what is itself a message, by its English.

        The values of such a message stand beside the others; of one name the outer one stands, or the first.
        """
        found = {name: mapped(value, str) for name, value in self.values.items()}
        for value in self.values.values():
            for each in value if isinstance(value, tuple) else (value,):
                found = each.plain() | found if isinstance(each, Message) else found
        return found

    def to_json(self) -> dict[str, Any]:
        values = {name: mapped(value, lambda one: one.to_json()) for name, value in self.values.items()}
        return {"template": self.template, "values": values}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Tell pydantic that a message is written by ``to_json`` and read by ``from_json``."""
        from pydantic_core import core_schema  # noqa: PLC0415  # commands do without

        written = core_schema.plain_serializer_function_ser_schema(lambda message: message.to_json())
        return core_schema.no_info_plain_validator_function(validate_message, serialization=written)

    @staticmethod
    def from_json(stored: Mapping[str, Any]) -> "Message":
        """What ``to_json`` made."""
        values = {name: read(each) for name, each in stored["values"].items()}
        template, plural = stored["template"], stored.get("plural")
        if plural is None:
            return Message(template, **values)
        one, many, by = (plural[part] for part in ("one", "many", "by"))
        return Counted(one, many, by, **values)


@dataclass(frozen=True, slots=True, init=False)
class Counted(Message):
    """A sentence that counts: the value called ``by`` decides which of the ``forms`` is said.

    The English has the two, for one and for all else; ``template`` is the one that is said in it.
    """

    forms: tuple[str, str]
    by: str

    def __init__(self, one: str, many: str, by: str, /, **values: Value) -> None:
        object.__setattr__(self, "forms", (one, many))
        object.__setattr__(self, "by", by)
        Message.__init__(self, one if counted(values, by) == 1 else many, **values)

    @property
    def count(self) -> int:
        return counted(self.values, self.by)

    def to_json(self) -> dict[str, Any]:
        one, many = self.forms
        return {**Message.to_json(self), "plural": {"one": one, "many": many, "by": self.by}}


class Heard(Message):
    """A sentence that another service has made: whole as it is, whatever stands in it, and its values."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.template


@dataclass(frozen=True, slots=True)
class Statement:
    """What the service says of itself, as it is kept: a stable ``code``, and the sentence."""

    code: str
    message: Message

    def to_json(self) -> dict[str, Any]:
        return {"code": self.code, **self.message.to_json()}

    @staticmethod
    def from_json(stored: Mapping[str, Any]) -> "Statement":
        """What ``to_json`` made."""
        return Statement(stored["code"], Message.from_json(stored))


def told(code: str, message: Message) -> dict[str, Any]:
    """Something that is said of an upload, as programs are told it."""
    return {"code": code, "message": str(message), "values": message.plain()}


def kept(code: str, message: Message) -> dict[str, Any]:
    """The same as it is stored, to be said in any language later."""
    return {"code": code, "message": str(message), **message.to_json()}


def kept_under(name: str, message: Message) -> dict[str, Any]:
    """What is said of something, among other things that are stored of it."""
    return {name: str(message)} | {f"{name}_{part}": each for part, each in message.to_json().items()}


def message_under(name: str, stored: Mapping[str, Any]) -> Message | None:
    if stored.get(name) is None:
        return None
    return Message.from_json({part: stored.get(f"{name}_{part}") for part in PARTS})


def filled(
    template: str,
    values: Mapping[str, Value],
    *,
    say: Callable[[Message], str] = str,
    number: Callable[[float, str], str] = format,
) -> str:
    """The template with the values in their places; a place of no value stays as it is.

    ``say``: how a value that is a message is said; ``number``: a number in the form of its place.
    """

    def put(place: re.Match[str]) -> str:
        name, quoted, form = place.groups(default="")
        return written(values[name], quoted, form) if name in values else place[0]

    def written(value: Value, quoted: str, form: str) -> str:
        match value:
            case tuple():
                return ", ".join(written(each, quoted, form) for each in value)
            case Message():
                return say(value)
            case int() | float():
                return number(value, form)
        return repr(value) if quoted else str(value)

    return FIELD.sub(put, template)


def counted(values: Mapping[str, Value], by: str) -> int:
    """How many; none where a stored sentence says no number."""
    found = values.get(by)
    return found if isinstance(found, int) else 0


def visible(text: str) -> str:
    """With a picture of each control character in its place: text of strangers may have any."""
    return text.translate(PICTURES)


def validate_message(value: Any) -> Message:
    """Return a message, or that which ``to_json`` made; ValueError for anything else."""
    if isinstance(value, Message):
        return value
    try:
        message = Message.from_json(value)
    except (AttributeError, KeyError, TypeError, RecursionError):
        raise ValueError("no message") from None
    forms = message.forms if isinstance(message, Counted) else (message.template,)
    if not all(isinstance(form, str) for form in forms):
        raise ValueError("no message")
    return message


def mapped(value: Value, say: Callable[[Message], Any]) -> Any:
    if isinstance(value, tuple):
        return [mapped(each, say) for each in value]
    return say(value) if isinstance(value, Message) else value


def read(stored: Any) -> Any:
    match stored:
        case list():
            return tuple(read(each) for each in stored)
        case dict():
            return Message.from_json(stored)
    return stored
