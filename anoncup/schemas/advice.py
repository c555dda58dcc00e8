"""Schemas of threshold reports. The same form is stored, returned by the API and printed."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from anoncup.messages import JsonObject, Message, deserialize_prefixed
from anoncup.schemas.fields import Id, Moment, Number, example, omit_if_none, open_enum
from anoncup.schemas.notices import FailureFields, Notice
from anoncup.schemas.verdicts import VerdictPart


class Cheat(VerdictPart):
    """A type of cheating by permutation.

    More than ``fixed`` individuals stay in place with a probability of at most 2^log2_chance.
    """

    name: str
    fixed: int
    log2_chance: Number | None = None
    expected: Number


class DistanceBound(VerdictPart):
    """A lower bound of the mean distance if at most ``fixed`` individuals stay in place."""

    fixed: int
    s_lower: Number


class Simulation(VerdictPart):
    """A histogram of the mean distances of ``draws`` permutations, with bins between successive ``edges``."""

    draws: int
    counts: list[int]
    edges: list[Number]
    least: Number
    mean: Number
    largest: Number


class PlayedRelease(VerdictPart):
    """A release of a sample method or cheat, or the unchanged original, with its results.

    ``rank`` is null if it is rejected, because of its ``violations``. ``score`` is the value of the ranking's
    formula, if there is one.
    """

    kind: Annotated[str, open_enum("method", "cheat", "unchanged")]
    method: str | None = None
    parameters: JsonObject
    rank: int | None = None
    utility: Number
    security: Number
    overall: Number
    score: Number | None = omit_if_none()
    mean_distance: Number
    violations: list[str]


class SampleContest(VerdictPart):
    """A contest of sample methods, cheats and the unchanged original, in the order of the ranking rule.

    ``threshold`` is that of the competition, by which releases are rejected. ``warnings`` say if the
    unchanged original or a cheat leads, or if the threshold does not stop every cheat,
    ``recommended_warnings`` what would be wrong with the recommended threshold, and ``remedies`` what helps.
    ``problem`` says why the contest was not played.
    """

    individuals: int
    threshold: Number | None = None
    warnings: list[Notice]
    recommended_warnings: list[Notice] | None = omit_if_none()
    remedies: list[Notice]
    releases: list[PlayedRelease]
    problem: Notice | None = None


class Advice(VerdictPart):
    """A threshold report. Every threshold between ``low`` and ``high`` is guaranteed to reject cheats.

    The probability that a cheat passes nevertheless is at most 2^-bits. ``threshold`` is the largest round
    number between the two, and recommended. ``s_exact`` is the least mean distance of a permutation that
    moves everybody.
    """

    contest: SampleContest
    distance: str
    bits: int
    individuals: int
    groups: int
    alone: int
    cheats: list[Cheat]
    fixed: int
    low: Number
    high: Number
    threshold: Number | None = None
    remedy: str | None = None
    remedy_template: str | None = omit_if_none()
    remedy_values: JsonObject | None = omit_if_none()
    bounds: list[DistanceBound]
    s_exact: Number | None = None
    histograms: dict[str, Simulation]

    @property
    def remedy_message(self) -> Message | None:
        """What the organizers can change if no threshold can be guaranteed."""
        return None if self.remedy_template is None else deserialize_prefixed("remedy", self.model_dump())


def parse_advice(stored: JsonObject) -> Advice:
    """Parse a threshold report from its stored JSON form."""
    return Advice.model_validate(stored)


_STATES_DESCRIPTION = "QUEUED, SCORING, SCORED (finished) or ERROR"


class ReportSummary(FailureFields):
    id: Id
    status: Annotated[str, Field(description=_STATES_DESCRIPTION), example("QUEUED")]
    created_at: Moment
    finished_at: Annotated[datetime | None, example("2027-01-11T05:30:04Z")]
    question: Annotated[
        JsonObject,
        example({"groups": ["sex", "age"], "distance": "gower", "bits": 50, "draws": 1000}),
    ]


class Report(ReportSummary):
    status: Annotated[str, Field(description=_STATES_DESCRIPTION), example("SCORED")]
    report: Advice | None
    """the report as `anoncup threshold --json` prints it; null until it is finished"""
