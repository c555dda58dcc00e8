"""Types of results that are stored. They are strict because one unreadable row would break a board.

``Job.read_result`` reads them strictly and refuses keys that they do not have.
"""

import operator
from collections.abc import Callable, ItemsView, Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BaseModel, Field, GetPydanticSchema, NonNegativeInt
from pydantic_core import core_schema
from typing_extensions import TypedDict

from anoncup import schemas
from anoncup.errors import MAX_LISTED_PROBLEMS, FileProblem
from anoncup.messages import JsonObject, Message
from anoncup.plugins import BUILT_IN, TRACKS, have_packages_changed
from anoncup.storable import require_storable
from anoncup.tables.files import Remark
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyAttacker, AnyMeasure

MAX_STEPS, _MAX_REMARKS, _MAX_SIZES = 10_000, 100, 100


def _conform_to(form: Any) -> GetPydanticSchema:
    """Check a value without converting it: whole numbers stay what they are."""

    def check(content: JsonObject, validate: Callable[[JsonObject], object]) -> JsonObject:
        validate(require_storable(content))
        return content

    return GetPydanticSchema(
        lambda _, handler: core_schema.no_info_wrap_validator_function(check, handler.generate_schema(form))
    )


def _require_consistent(verdict: schemas.Verdict) -> schemas.Verdict:
    """Raise ValueError unless all of a verdict fits together, and it has the current parts of a track."""
    notices = [*verdict.violations, *(verdict.warnings or ())]
    if not (
        verdict.verdict == ("rejected" if verdict.violations else "accepted")
        and all(_is_text_of(notice.sentence, notice.message) for notice in notices)
        and all(_is_text_of(entry.note_message, entry.note) for entry in verdict.attackers.values())
        and _has_parts_of_a_track(verdict)
    ):
        raise ValueError("an inconsistent verdict")
    return verdict


def _is_text_of(message: Message | None, text: str | None) -> bool:
    return text == (None if message is None else str(message))


def _has_parts_of_a_track(verdict: schemas.Verdict) -> bool:
    """Return whether a verdict has exactly the parts of a track.

    If packages were installed, upgraded or removed since this process started, the child may have others
    than this process. Competitions that name them wait; others only report their parts.
    """
    return any(_has_parts(verdict, track, operator.eq) for track in TRACKS.values()) or (
        have_packages_changed()
        and any(_has_parts(verdict, track, operator.ge) for track in BUILT_IN.values())
    )


def _has_parts(verdict: schemas.Verdict, track: AnyTrack, compare: Callable[[Any, Any], bool]) -> bool:
    return (
        compare(_list_versions(verdict.measures), _list_versions(track.measures))
        and compare(_list_versions(verdict.attackers), _list_versions(track.attackers))
        and (verdict.excessive is None) == (not track.distances)
    )


_Part: TypeAlias = AnyMeasure | AnyAttacker | schemas.MeasureVerdict | schemas.AttackerVerdict


def _list_versions(parts: Mapping[str, _Part]) -> ItemsView[str, int]:
    return {name: part.version for name, part in parts.items()}.items()


class _Refusal(BaseModel):
    problems: Annotated[list[FileProblem], Field(min_length=1, max_length=MAX_LISTED_PROBLEMS)]
    total: NonNegativeInt


VerdictForm: TypeAlias = Annotated[
    JsonObject, _conform_to(Annotated[schemas.Verdict, AfterValidator(_require_consistent)])
]


class ScoreResult(TypedDict):
    """A verdict, the version of the code, and the number of its steps."""

    verdict: VerdictForm
    scorer: Annotated[str, Field(max_length=100), AfterValidator(require_storable)]
    steps: Annotated[int, Field(ge=0, le=MAX_STEPS)]


class JudgeResult(TypedDict, total=False):
    """The outcome of a guess, or the problems for which it is refused."""

    outcome: Annotated[JsonObject, _conform_to(schemas.GuessOutcome)]
    refused: Annotated[JsonObject, _conform_to(_Refusal)]


def _require_storable_codes(remarks: tuple[Remark, ...]) -> tuple[Remark, ...]:
    require_storable([remark.code for remark in remarks])
    return remarks


Count: TypeAlias = Annotated[NonNegativeInt, AfterValidator(require_storable)]
Sizes: TypeAlias = Annotated[dict[str, Count], Field(max_length=_MAX_SIZES), AfterValidator(require_storable)]
Remarks: TypeAlias = Annotated[
    tuple[Remark, ...], Field(max_length=_MAX_REMARKS), AfterValidator(_require_storable_codes)
]
AdviceForm: TypeAlias = Annotated[JsonObject, AfterValidator(require_storable)]
