"""The forms of what a scoring child finds: what is stored must be readable, for one row breaks a board."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypeAlias, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from app.messages import Message
from app.scoring.registry import Attacker, Measure
from app.scoring.tracks import TRACKS

DEEPEST, LONGEST_TEXT, MOST_DETAILS, MOST_TRIPLES, LARGEST = 8, 10_000, 1000, 10_000, 2**63
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
Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Triple: TypeAlias = Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=3, max_length=3)]
EXACT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


@with_config(EXACT)
class MessageForm(TypedDict):
    template: Text
    values: "Values"


One: TypeAlias = int | float | Text | MessageForm | None
Values: TypeAlias = Annotated[dict[Text, One | list[One]], Field(max_length=20)]


@with_config(EXACT)
class ViolationForm(MessageForm):
    code: Text
    message: Text


@with_config(EXACT)
class MeasureForm(TypedDict):
    value: float
    version: Count
    rounding: float
    details: NotRequired[Annotated[dict[Text, float], Field(max_length=MOST_DETAILS)]]


@with_config(EXACT)
class AttackerForm(TypedDict):
    rate: Share
    correct: float
    trials: Count
    version: Count
    baseline: Share
    sd: NotRequired[float | None]
    interval: NotRequired[Annotated[list[float], Field(min_length=2, max_length=2)]]
    most: NotRequired[float]
    note: NotRequired[Text]
    note_template: NotRequired[Text]
    note_values: NotRequired[Values]


@with_config(EXACT)
class HistogramForm(TypedDict):
    counts: Annotated[list[Count], Field(max_length=1000)]
    end: float


@with_config(EXACT)
class ExcessiveForm(TypedDict):
    distance: Text
    mean: float
    max: float
    threshold: float | None
    histogram: HistogramForm


@with_config(EXACT)
class EvidenceForm(TypedDict):
    name: Text
    before: float
    after: float
    expected_to_change: bool
    changed: bool


@with_config(EXACT)
class ResemblanceForm(TypedDict):
    methods: Annotated[list[Text], Field(max_length=10)]
    agreement: Share
    evidence: NotRequired[Annotated[list[EvidenceForm], Field(max_length=100)]]


@with_config(EXACT)
class VerdictForm(TypedDict):
    verdict: Text
    violations: Annotated[list[ViolationForm], Field(max_length=10)]
    measures: dict[Text, MeasureForm]
    attackers: dict[Text, AttackerForm]
    excessive: ExcessiveForm
    utility: Share
    security: Share
    overall: Share
    resembles: Annotated[list[ResemblanceForm], Field(max_length=10)]
    reach: NotRequired[Annotated[list[Triple], Field(max_length=MOST_TRIPLES)]]


@with_config(EXACT)
class FilesForm(TypedDict):
    files: dict[Text, str]


@with_config(EXACT)
class CountForm(TypedDict):
    correct: Count


VERDICT, FILES, COUNT = TypeAdapter(VerdictForm), TypeAdapter(FilesForm), TypeAdapter(CountForm)
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


def says(content: Mapping[str, Any], text: str, template: str, values: str) -> bool:
    """Whether a sentence is what its template and values make, if there is one."""
    said = {"template": content.get(template), "values": content.get(values)}
    if text not in content:
        return said == {"template": None, "values": None}
    return is_message(said) and content[text] == str(Message.from_json(said))


def is_verdict(content: dict[str, Any]) -> bool:
    """Numbers of one track's measures and attackers, in this version of them; rejected if for a reason."""
    if not has_form(VERDICT, content):
        return False
    result = "rejected" if content["violations"] else "accepted"
    violations = all(says(each, "message", "template", "values") for each in content["violations"])
    noted = content["attackers"].values()
    notes = all(says(each, "note", "note_template", "note_values") for each in noted)
    return (
        content["verdict"] == result
        and violations
        and notes
        and any(
            are_of(content["measures"], track.measures) and are_of(content["attackers"], track.attackers)
            for track in TRACKS.values()
        )
    )


def are_of(found: Mapping[str, dict[str, Any]], known: Mapping[str, Measure | Attacker]) -> bool:
    return found.keys() == known.keys() and all(
        found[name]["version"] == each.version for name, each in known.items()
    )


def are_files(content: dict[str, Any]) -> bool:
    return has_form(FILES, content)


def is_count(content: dict[str, Any], *, most: int) -> bool:
    return has_form(COUNT, content) and content["correct"] <= most


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
