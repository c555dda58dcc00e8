"""Messages for people: an English template and the values of its placeholders.

Pages translate the template and then fill in the values. No code needs to parse a finished sentence.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NotRequired, TypeAlias

from typing_extensions import TypedDict

from anoncup.storable import require_storable

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object, as it is stored or sent."""

_ScalarValue: TypeAlias = "str | int | float | Message | None"
MessageValue: TypeAlias = "_ScalarValue | tuple[_ScalarValue, ...]"


class PluralForms(TypedDict):
    """The English forms of a plural message, and the name of the value that selects one."""

    one: str
    many: str
    by: str


class StoredMessage(TypedDict):
    """The result of ``Message.to_json``, as pydantic checks it in what other processes send."""

    template: str
    values: "StoredValues"
    plural: NotRequired[PluralForms]


_StoredValue: TypeAlias = bool | int | float | str | StoredMessage | None
StoredValues: TypeAlias = dict[str, _StoredValue | list[_StoredValue]]

MAX_RENDERED_LENGTH = 1 << 16
"""Maximum length of the text of a message from another process. A short template may repeat a long value."""
PLACEHOLDER = re.compile(r"\{([a-z_]+)(!r)?(?::(,|\.0f|\.4f|\.6g))?\}")
"""Placeholders, a small subset of ``str.format``. Templates are untrusted: they may come from the database or
from a sandboxed process."""

STORED_KEYS = ("template", "values", "plural")
"""Keys of a stored message; only plural messages have ``plural``."""

_CONTROL_CHARACTER_SYMBOLS = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    0x7F: "␡",
    **{code: f"\\x{code:x}" for code in range(0x80, 0xA0)},
}
"""Visible replacements for control characters."""


def N_(text: str) -> str:  # noqa: N802  # conventional name in gettext projects
    """Return the text unchanged. The call marks the text for translation."""
    return text


def P_(context: str, text: str) -> tuple[str, str]:  # noqa: N802  # analogous to N_
    """Return context and text unchanged. The call marks an ambiguous text for translation."""
    return context, text


@dataclass(frozen=True, slots=True, init=False)
class Message:
    """A message template with values. A value may itself be a message.

    ``str`` returns the English text, in which the items of a tuple are joined by commas.
    """

    template: str
    values: Mapping[str, MessageValue] = field(hash=False)

    def __init__(self, template: str, /, **values: MessageValue) -> None:
        object.__setattr__(self, "template", template)
        object.__setattr__(self, "values", values)

    def __str__(self) -> str:
        return fill_template(self.template, self.values)

    def render_values_in_english(self) -> JsonObject:
        """Return the values for programs: nested messages as English text, tuples as lists.

        The values of nested messages are included. If a name occurs several times, the value of the outer
        message wins, then that of the first nested one.
        """
        rendered = {name: _convert_to_json(value, str) for name, value in self.values.items()}
        for value in self.values.values():
            for part in value if isinstance(value, tuple) else (value,):
                rendered = (
                    part.render_values_in_english() | rendered if isinstance(part, Message) else rendered
                )
        return rendered

    def to_json(self) -> JsonObject:
        """Return the message as JSON, from which it can be rendered in any language."""
        values = {
            name: _convert_to_json(value, lambda message: message.to_json())
            for name, value in self.values.items()
        }
        return {"template": self.template, "values": values}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Make pydantic serialize messages with ``to_json`` and validate them with ``from_json``."""
        from pydantic_core import core_schema  # noqa: PLC0415  # only needed if pydantic is loaded

        serializer = core_schema.plain_serializer_function_ser_schema(lambda message: message.to_json())
        stored = handler.generate_schema(StoredMessage)
        restored = core_schema.no_info_after_validator_function(_restore_untrusted, stored)
        return core_schema.union_schema(
            [core_schema.is_instance_schema(Message), restored], serialization=serializer
        )

    @staticmethod
    def from_json(stored: JsonObject) -> "Message":
        """Restore a message from the result of ``to_json``."""
        values = {name: _deserialize_value(value) for name, value in stored["values"].items()}
        template, plural = stored["template"], stored.get("plural")
        if plural is None:
            return Message(template, **values)
        singular, plural_form, count_name = (plural[part] for part in ("one", "many", "by"))
        return PluralMessage(singular, plural_form, count_name, **values)


@dataclass(frozen=True, slots=True, init=False)
class PluralMessage(Message):
    """A message with a singular and a plural form; the value named ``count_name`` selects the form.

    ``forms`` are the English forms, and ``template`` is the selected one.
    """

    forms: tuple[str, str]
    count_name: str

    def __init__(self, singular: str, plural: str, count_name: str, /, **values: MessageValue) -> None:
        object.__setattr__(self, "forms", (singular, plural))
        object.__setattr__(self, "count_name", count_name)
        Message.__init__(self, singular if _read_count(values, count_name) == 1 else plural, **values)

    @property
    def count(self) -> int:
        return _read_count(self.values, self.count_name)

    def to_json(self) -> JsonObject:
        singular, plural = self.forms
        return {**Message.to_json(self), "plural": {"one": singular, "many": plural, "by": self.count_name}}


class RemoteMessage(Message):
    """A finished sentence from another service, with its values. Its text is not a template."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.template

    def to_json(self) -> JsonObject:
        """Return a message with the sentence as a value, so that braces in it are never placeholders."""
        values = Message.to_json(self)["values"]
        return {"template": "{sentence}", "values": {**values, "sentence": str(self)}}


@dataclass(frozen=True, slots=True)
class CodedMessage:
    """A message with its stable ``code``. ``to_json`` is its form in columns of the database."""

    code: str
    message: Message

    def to_json(self) -> JsonObject:
        return {"code": self.code, **self.message.to_json()}

    @staticmethod
    def from_json(stored: JsonObject) -> "CodedMessage":
        """Restore a coded message from the result of ``to_json``."""
        return CodedMessage(stored["code"], Message.from_json(stored))


def describe_in_english(code: str, message: Message) -> JsonObject:
    """Return code, text and values of a message in English, for API responses."""
    return {"code": code, "message": str(message), "values": message.render_values_in_english()}


def serialize_as_notice(code: str, message: Message) -> JsonObject:
    """Return the fields of ``schemas.Notice``, the form in which verdicts and reports store messages.

    They contain the English text too, and can later be rendered in any language.
    """
    return {"code": code, "message": str(message), **message.to_json()}


def serialize_prefixed(prefix: str, message: Message) -> JsonObject:
    """Return a message as prefixed keys (``note``, ``note_template``, ...), to merge into a stored object."""
    return {prefix: str(message)} | {f"{prefix}_{part}": value for part, value in message.to_json().items()}


def deserialize_prefixed(prefix: str, stored: JsonObject) -> Message | None:
    if stored.get(prefix) is None:
        return None
    return Message.from_json({part: stored.get(f"{prefix}_{part}") for part in STORED_KEYS})


def fill_template(
    template: str,
    values: Mapping[str, MessageValue],
    *,
    render_message: Callable[[Message], str] = str,
    format_number: Callable[[float, str], str] = format,
) -> str:
    """Fill the placeholders of a template; placeholders without a value stay unchanged.

    ``render_message`` renders nested messages, ``format_number`` formats a number with its format spec.
    """

    def fill_placeholder(match: re.Match[str]) -> str:
        name, conversion, format_spec = match.groups(default="")
        return format_value(values[name], conversion, format_spec) if name in values else match[0]

    def format_value(value: MessageValue, conversion: str, format_spec: str) -> str:
        match value:
            case tuple():
                return ", ".join(format_value(item, conversion, format_spec) for item in value)
            case Message():
                return render_message(value)
            case float() if not format_spec and str(value).endswith(".0"):
                return format_number(int(value), "")  # 60, not 60.0
            case int() | float():
                return format_number(value, format_spec)
        return repr(value) if conversion else str(value)

    return PLACEHOLDER.sub(fill_placeholder, template)


def _restore_untrusted(stored: JsonObject) -> Message:
    """Restore a message from another process; raise ValueError if it cannot be stored or rendered."""
    message = Message.from_json(require_storable(stored))
    if _find_max_length(message) > MAX_RENDERED_LENGTH:
        raise ValueError("its text would be too long")
    return message


def _find_max_length(value: MessageValue) -> int:
    """Return an upper bound of the length of a rendered value."""
    match value:
        case Message():
            templates = value.template + "".join(value.forms if isinstance(value, PluralMessage) else ())
            longest = max(map(_find_max_length, value.values.values()), default=0)
            return len(templates) + templates.count("{") * longest
        case tuple():
            return sum(_find_max_length(item) + len(", ") for item in value)
        case int() | float():
            return len(f"{value:,.4f}{value:.6g}")
    return len(repr(value))


def _read_count(values: Mapping[str, MessageValue], count_name: str) -> int:
    """Return the count in ``values``, or 0 if a stored message has no number there."""
    count = values.get(count_name)
    return count if isinstance(count, int) else 0


def replace_control_characters(text: str) -> str:
    """Replace the control characters of an untrusted text by visible symbols."""
    return text.translate(_CONTROL_CHARACTER_SYMBOLS)


def _convert_to_json(value: MessageValue, convert_message: Callable[[Message], Any]) -> Any:
    """Return a value as JSON has it: messages converted, tuples as lists."""
    if isinstance(value, tuple):
        return [_convert_to_json(item, convert_message) for item in value]
    return convert_message(value) if isinstance(value, Message) else value


def _deserialize_value(stored: Any) -> Any:
    """Return a value from JSON: objects are messages, lists become tuples."""
    match stored:
        case list():
            return tuple(_deserialize_value(item) for item in stored)
        case dict():
            return Message.from_json(stored)
    return stored
