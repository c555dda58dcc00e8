"""Schemas of verdicts. The same form is stored, returned by the API and printed."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, NonNegativeInt, WithJsonSchema

from anoncup.messages import JsonObject, Message, PluralForms
from anoncup.schemas.fields import Form, MessageValues, Number, Omissible, omit_if_none, open_enum
from anoncup.schemas.notices import Notice

Share = Annotated[Number, Field(ge=0, le=1), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})]
Count = Annotated[Number, Field(ge=0), WithJsonSchema({"type": "number", "minimum": 0})]
"""A number of records, which may be an expectation."""
Interval = Annotated[list[Number], Field(min_length=2, max_length=2)]
FORMAT = {"format": 1}
"""Fields that are added to a verdict when it is stored."""


class VerdictPart(Form):
    """Base class of the parts of a verdict; fields from other versions of the service are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")


class MeasureVerdict(VerdictPart):
    """The value of a measure. It counts as 0 up to ``rounding``."""

    value: Number
    version: int
    rounding: float
    details: Omissible[dict[str, Number]] = omit_if_none()


class AttackerVerdict(VerdictPart):
    """A rate with its interval at 95 %, or with its standard deviation (``sd``) if it is an expectation.

    ``baseline`` is the rate of guessing at random. ``correct`` and ``trials`` are given if answers are
    counted. ``risk`` is the value that counts for E if it differs from the rate; ``risks`` are those of
    single questions if the attacker answers several.
    """

    rate: Share
    correct: Omissible[Count] = omit_if_none()
    trials: Omissible[NonNegativeInt] = omit_if_none()
    version: int
    baseline: Share
    interval: Omissible[Interval] = omit_if_none()
    sd: Omissible[Number] = omit_if_none()
    risk: Omissible[Share] = omit_if_none()
    details: Omissible[dict[str, Number]] = omit_if_none()
    risks: Omissible[dict[str, Number]] = omit_if_none()
    note: Omissible[str] = omit_if_none()
    note_template: Omissible[str] = omit_if_none()
    note_values: Omissible[MessageValues] = omit_if_none()
    note_plural: Omissible[PluralForms] = omit_if_none()

    @property
    def effective_risk(self) -> Number:
        """The risk that counts towards E (docs/scoring.md): ``risk`` if it is given, else the rate."""
        return self.rate if self.risk is None else self.risk

    @property
    def note_message(self) -> Message | None:
        """The attacker's note on its answer."""
        if self.note_template is None or self.note_values is None:
            return None
        return Message.from_json(
            {"template": self.note_template, "values": self.note_values, "plural": self.note_plural}
        )


class GuessOutcome(VerdictPart):
    """The result of a guess. ``baseline`` is the ``value`` of guessing at random."""

    value: Share
    baseline: Share
    correct: Omissible[Count] = omit_if_none()
    trials: Omissible[NonNegativeInt] = omit_if_none()
    interval: Omissible[Interval] = omit_if_none()
    details: dict[str, Number]

    @property
    def correct_count(self) -> int | None:
        """``correct`` if it is a whole number; None if it is an expectation or missing."""
        return None if self.correct is None or self.correct % 1 else int(self.correct)


class Histogram(VerdictPart):
    """Numbers of individuals by distance, in bins of equal width from 0 to ``end``."""

    counts: list[NonNegativeInt]
    end: Number


class Excess(VerdictPart):
    """Distances of the individuals to their originals, and the threshold at the time of scoring."""

    distance: str
    mean: Number
    max: Number
    threshold: Number | None
    histogram: Histogram


class Verdict(VerdictPart):
    """The result of a submission. ``utility``, ``security`` and ``overall`` are from 0 to 1; 0 is best.

    ``warnings`` are those about the secret; the command also prints those about the files. ``excessive`` is
    null if the track has no distances. Where a formula ranks, the command adds its value as ``score``,
    null if it depends on other teams. ``format`` is the version of the stored form; it is not printed.
    """

    verdict: Annotated[str, open_enum("accepted", "rejected")]
    violations: list[Notice]
    warnings: Omissible[list[Notice]] = omit_if_none()
    measures: dict[str, MeasureVerdict]
    attackers: dict[str, AttackerVerdict]
    excessive: Excess | None
    utility: Share
    security: Share
    overall: Share
    format: Annotated[Literal[1], Field(exclude=True)] = 1


def parse_verdict(stored: JsonObject) -> Verdict:
    """Parse a verdict from its stored JSON form."""
    return Verdict.model_validate(stored)
