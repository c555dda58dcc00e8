"""Schemas of results that are stored. They are strict because one unreadable row would break a board."""

import math
from collections.abc import Iterable, Mapping
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, NotRequired, TypeAlias, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from anoncup import schemas
from anoncup.errors import MAX_LISTED_PROBLEMS
from anoncup.messages import STORED_KEYS, Message
from anoncup.plugins import BUILT_IN, TRACKS, have_packages_changed
from anoncup.schemas.fields import ChildConstraint
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyAttacker, AnyMeasure

MAX_DEPTH, MAX_TEXT_LENGTH, MAX_STEPS, INTEGER_LIMIT = 8, 10_000, 10_000, 2**63
T = TypeVar("T")


def _require_storable(text: str) -> str:
    """Return the text; raise ValueError if it has NUL or lone surrogates, which PostgreSQL cannot store."""
    if "\0" in text:
        raise ValueError("NUL")
    text.encode()
    return text


_StorableText: TypeAlias = Annotated[
    str, Field(max_length=MAX_TEXT_LENGTH), AfterValidator(_require_storable)
]
_StorableCount: TypeAlias = Annotated[int, Field(ge=0, lt=INTEGER_LIMIT)]
"""A non-negative integer below 2**63. Charts convert counts to floats."""
_STRICT_CONFIG = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


@with_config(_STRICT_CONFIG)
class PluralForm(TypedDict):
    one: _StorableText
    many: _StorableText
    by: _StorableText


@with_config(_STRICT_CONFIG)
class MessageForm(TypedDict):
    template: _StorableText
    values: "MessageFormValues"
    plural: NotRequired[PluralForm]


_MessageFormValue: TypeAlias = int | float | _StorableText | MessageForm | None
MessageFormValues: TypeAlias = Annotated[
    dict[_StorableText, _MessageFormValue | list[_MessageFormValue]], Field(max_length=20)
]


_WIRE_TYPES: tuple[tuple[object, Any], ...] = (
    (str, _StorableText),
    (int, _StorableCount),
    (int | float, float),
    (dict[str, Any], MessageFormValues),
)
"""Replacements for types of the API schemas, as pairs because some types cannot be hashed."""


def build_form(model: type[schemas.Form]) -> Any:
    """Return a strict TypedDict for an API model: no missing or extra keys, and no None in optional keys."""
    fields = {}
    for name, field in model.model_fields.items():
        constraint = _find_constraint(field.metadata)
        if constraint.sent_by_child:
            field_type = _apply_bounds(
                field.annotation if field.is_required() else _remove_none(field.annotation), constraint
            )
            fields[name] = (
                field_type if constraint.required or field.is_required() else NotRequired[field_type]
            )
    return with_config(_STRICT_CONFIG)(TypedDict(f"{model.__name__}Form", fields))  # type: ignore[operator]


def _find_constraint(metadata: Iterable[object]) -> ChildConstraint:
    return next((item for item in metadata if isinstance(item, ChildConstraint)), ChildConstraint())


def _remove_none(annotation: Any) -> Any:
    members = tuple(member for member in get_args(annotation) if member is not NoneType)
    return Union[members] if NoneType in get_args(annotation) else annotation  # noqa: UP007  # any number


def _apply_bounds(annotation: Any, constraint: ChildConstraint) -> Any:
    return Annotated[_convert_type(annotation), Field(**constraint.limits)]


def _convert_type(annotation: Any) -> Any:
    """Return the JSON form of a field's type, limited to values that the database can store."""
    return next(
        (converted for declared, converted in _WIRE_TYPES if declared == annotation), None
    ) or _convert_composite(annotation)


def _convert_composite(annotation: Any) -> Any:
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _apply_bounds(parts[0], _find_constraint(parts[1:]))
    if origin in {Union, UnionType}:
        return Union[tuple(map(_convert_type, parts))]  # noqa: UP007  # any number of members
    if origin is tuple and parts[-1] is not ...:
        return Annotated[list[_convert_type(parts[0])], Field(min_length=len(parts), max_length=len(parts))]  # type: ignore[misc]
    if origin in {list, tuple}:
        return list[_convert_type(parts[0])]  # type: ignore[misc]
    if origin is dict:
        return dict[_StorableText, _convert_type(parts[1])]  # type: ignore[misc]
    return (
        build_form(annotation)
        if isinstance(annotation, type) and issubclass(annotation, schemas.Form)
        else annotation
    )


@with_config(_STRICT_CONFIG)
class FileProblemForm(TypedDict):
    file: _StorableText
    row: int | None
    column: _StorableText | None
    code: _StorableText
    message: MessageForm
    line: int | None
    value: _StorableText | None


@with_config(_STRICT_CONFIG)
class ProblemListForm(TypedDict):
    problems: Annotated[list[FileProblemForm], Field(min_length=1, max_length=MAX_LISTED_PROBLEMS)]
    total: _StorableCount


_MESSAGE_ADAPTER = TypeAdapter(MessageForm)
_TEXT_ADAPTER: TypeAdapter[str] = TypeAdapter(_StorableText)


def _matches(adapter: TypeAdapter[Any], content: Any) -> bool:
    try:
        adapter.validate_python(content)
    except ValidationError:
        return False
    return True


def _has_matching_text(content: Mapping[str, Any], text_key: str, prefix: str = "") -> bool:
    """Return whether ``text_key`` has exactly the text that its template and values produce.

    The keys of template and values start with ``prefix``. Without a text there must be none of them.
    """
    parts = {part: content[prefix + part] for part in STORED_KEYS if prefix + part in content}
    if text_key not in content:
        return not parts
    is_message = _matches(_MESSAGE_ADAPTER, parts) and _is_plain_json(parts)
    return is_message and content[text_key] == str(Message.from_json(parts))


def _check_verdict(content: dict[str, Any]) -> dict[str, Any]:
    """Raise ValueError unless a verdict is consistent and has the current measures and attackers of a track.

    It must be "rejected" if and only if it has violations.
    """
    is_consistent = content["verdict"] == ("rejected" if content["violations"] else "accepted")
    has_valid_violations = all(_has_matching_text(entry, "message") for entry in content["violations"])
    attacker_results = content["attackers"].values()
    has_valid_notes = all(_has_matching_text(entry, "note", "note_") for entry in attacker_results)
    if not (is_consistent and has_valid_violations and has_valid_notes and _has_parts_of_a_track(content)):
        raise ValueError("an inconsistent verdict")
    return content


def _has_parts_of_a_track(content: Mapping[str, Any]) -> bool:
    """Return whether a verdict has exactly the parts of a track.

    If packages were installed, upgraded or removed since this process started, the child may have others
    than this process. Competitions that name them wait; others only report their parts.
    """
    if any(map(partial(_has_parts, content), TRACKS.values())):
        return True
    return have_packages_changed() and any(
        map(partial(_has_parts, content, allows_others=True), BUILT_IN.values())
    )


def _has_parts(content: Mapping[str, Any], track: AnyTrack, *, allows_others: bool = False) -> bool:
    return (
        _has_versions_of(content["measures"], track.measures, allows_others=allows_others)
        and _has_versions_of(content["attackers"], track.attackers, allows_others=allows_others)
        and (content["excessive"] is None) == (not track.distances)
    )


def _has_versions_of(
    results: Mapping[str, dict[str, Any]],
    registry: Mapping[str, AnyMeasure | AnyAttacker],
    *,
    allows_others: bool,
) -> bool:
    return (allows_others or results.keys() <= registry.keys()) and all(
        name in results and results[name]["version"] == entry.version for name, entry in registry.items()
    )


def _is_plain_json(value: Any, depth: int = 0) -> bool:
    """Return whether a value has only storable texts, finite floats, integers below 2**63 and little nesting.

    Texts are limited to ``MAX_TEXT_LENGTH``, nesting to ``MAX_DEPTH``.
    """
    match value:
        case dict() | list() if depth == MAX_DEPTH:
            return False
        case list():
            return all(_is_plain_json(item, depth + 1) for item in value)
        case dict():
            return all(_is_plain_json(item, depth + 1) for pair in value.items() for item in pair)
        case str():
            return _matches(_TEXT_ADAPTER, value)
        case int() | float():
            return abs(value) < (INTEGER_LIMIT if isinstance(value, int) else math.inf)
    return value is None


def _require_plain_json(value: Any) -> Any:
    if not _is_plain_json(value):
        raise ValueError("no plain JSON")
    return value


def _conform_to(form: Any) -> AfterValidator:
    """Check a value without converting it: whole numbers stay what they are."""
    adapter = TypeAdapter(form)

    def check(content: dict[str, Any]) -> dict[str, Any]:
        adapter.validate_python(content)
        return content

    return AfterValidator(check)


VerdictForm: TypeAlias = Annotated[
    dict[str, Any], _conform_to(build_form(schemas.Verdict)), AfterValidator(_check_verdict)
]


@with_config(_STRICT_CONFIG)
class ScoreResult(TypedDict):
    """A verdict, the version of the code, and the number of its steps."""

    verdict: VerdictForm
    scorer: Annotated[_StorableText, Field(max_length=100)]
    steps: Annotated[int, Field(ge=0, le=MAX_STEPS)]


@with_config(_STRICT_CONFIG)
class JudgeResult(TypedDict, total=False):
    """The outcome of a guess, or the problems for which it is refused."""

    outcome: Annotated[dict[str, Any], _conform_to(build_form(schemas.GuessOutcome))]
    refused: Annotated[dict[str, Any], _conform_to(ProblemListForm), AfterValidator(_require_plain_json)]


AdviceForm: TypeAlias = Annotated[dict[str, Any], AfterValidator(_require_plain_json)]
