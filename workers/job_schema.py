"""The forms of what a scoring child finds: what is stored must be readable, for one row breaks a board."""

import math
from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, NotRequired, TypeAlias, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from anoncup import schemas
from anoncup.messages import PARTS, Message
from anoncup.plugins import TRACKS
from anoncup.schemas.fields import Admitted
from anoncup.tracks.parts import Attacker, Measure

DEEPEST, LONGEST_TEXT, LARGEST = 8, 10_000, 2**63
T = TypeVar("T")


def storable(text: str) -> str:
    """ValueError: the database has no place for NUL and halves of characters."""
    if "\0" in text:
        raise ValueError("NUL")
    text.encode()
    return text


Text: TypeAlias = Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(storable)]
Count: TypeAlias = Annotated[int, Field(ge=0, lt=LARGEST)]
"""Larger ones are no floats, and pictures are drawn of floats."""
EXACT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


@with_config(EXACT)
class PluralForm(TypedDict):
    one: Text
    many: Text
    by: Text


@with_config(EXACT)
class MessageForm(TypedDict):
    template: Text
    values: "Values"
    plural: NotRequired[PluralForm]


One: TypeAlias = int | float | Text | MessageForm | None
Values: TypeAlias = Annotated[dict[Text, One | list[One]], Field(max_length=20)]


@with_config(EXACT)
class FilesForm(TypedDict):
    files: dict[Text, str]


KINDS: tuple[tuple[object, Any], ...] = (
    (str, Text),
    (int, Count),
    (int | float, float),
    (dict[str, Any], Values),
)
"""What stands for a type of the wire; pairs, for not all types can be hashed."""


def form_of(declared: type[schemas.Form]) -> Any:
    """A type of the wire as a child must say it: nothing missing, nothing more, nothing null in vain."""
    fields = {}
    for name, field in declared.model_fields.items():
        asked = asked_of(field.metadata)
        if asked.told:
            kind = bounded(field.annotation if field.is_required() else never_null(field.annotation), asked)
            fields[name] = kind if asked.needed or field.is_required() else NotRequired[kind]
    return with_config(EXACT)(TypedDict(f"{declared.__name__}Form", fields))  # type: ignore[operator]


def asked_of(said: Iterable[object]) -> Admitted:
    return next((one for one in said if isinstance(one, Admitted)), Admitted())


def never_null(kind: Any) -> Any:
    others = tuple(one for one in get_args(kind) if one is not NoneType)
    return Union[others] if NoneType in get_args(kind) else kind  # noqa: UP007  # of as many as there are


def bounded(kind: Any, asked: Admitted) -> Any:
    return Annotated[exactly(kind), Field(**asked.within)]


def exactly(kind: Any) -> Any:
    """The type of a field as JSON has it and a row can hold it."""
    return next((admitted for declared, admitted in KINDS if declared == kind), None) or composed(kind)


def composed(kind: Any) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return bounded(parts[0], asked_of(parts[1:]))
    if origin in {Union, UnionType}:
        return Union[tuple(map(exactly, parts))]  # noqa: UP007  # of as many as there are
    if origin is tuple and parts[-1] is not ...:
        return Annotated[list[exactly(parts[0])], Field(min_length=len(parts), max_length=len(parts))]  # type: ignore[misc]
    if origin in {list, tuple}:
        return list[exactly(parts[0])]  # type: ignore[misc]
    if origin is dict:
        return dict[Text, exactly(parts[1])]  # type: ignore[misc]
    return form_of(kind) if isinstance(kind, type) and issubclass(kind, schemas.Form) else kind


VERDICT, FILES = TypeAdapter(form_of(schemas.Verdict)), TypeAdapter(FilesForm)
OutcomeForm = with_config(EXACT)(TypedDict("OutcomeForm", {"outcome": form_of(schemas.Judged)}))  # type: ignore[operator]
OUTCOME = TypeAdapter(OutcomeForm)
TEXT: TypeAdapter[str] = TypeAdapter(Text)
MESSAGE = TypeAdapter(MessageForm)


def has_form(adapter: TypeAdapter[T], content: Any) -> bool:
    try:
        adapter.validate_python(content)
    except ValidationError:
        return False
    return True


def is_message(content: dict[str, Any]) -> bool:
    return has_form(MESSAGE, content) and is_plain(content)


def says(content: Mapping[str, Any], text: str, before: str = "") -> bool:
    """Whether a sentence is what its template and values make, if there is one; ``before`` their names."""
    said = {part: content[before + part] for part in PARTS if before + part in content}
    if text not in content:
        return not said
    return is_message(said) and content[text] == str(Message.from_json(said))


def is_verdict(content: dict[str, Any]) -> bool:
    """Numbers of one track's measures and attackers, in this version of them; rejected if for a reason."""
    if not has_form(VERDICT, content):
        return False
    result = "rejected" if content["violations"] else "accepted"
    violations = all(says(each, "message") for each in content["violations"])
    noted = content["attackers"].values()
    notes = all(says(each, "note", "note_") for each in noted)
    return (
        content["verdict"] == result
        and violations
        and notes
        and any(
            are_of(content["measures"], track.measures)
            and are_of(content["attackers"], track.attackers)
            and (content["excessive"] is None) == (not track.distances)
            for track in TRACKS.values()
        )
    )


def are_of(found: Mapping[str, dict[str, Any]], known: Mapping[str, Measure | Attacker]) -> bool:
    return found.keys() == known.keys() and all(
        found[name]["version"] == each.version for name, each in known.items()
    )


def are_files(content: dict[str, Any]) -> bool:
    return has_form(FILES, content)


def is_outcome(content: dict[str, Any], *, most: int) -> bool:
    """``most``: of that many things a guess may be right about one each."""
    return has_form(OUTCOME, content) and content["outcome"].get("correct", 0) <= most


def is_plain(value: Any, depth: int = 0) -> bool:
    """Numbers that are floats too, and short texts, nested a little."""
    match value:
        case dict() | list() if depth == DEEPEST:
            return False
        case list():
            return all(is_plain(each, depth + 1) for each in value)
        case dict():
            return all(is_plain(each, depth + 1) for pair in value.items() for each in pair)
        case str():
            return has_form(TEXT, value)
        case int() | float():
            return abs(value) < (LARGEST if isinstance(value, int) else math.inf)
    return value is None
