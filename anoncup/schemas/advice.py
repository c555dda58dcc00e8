"""Schemas of threshold reports. The same form is stored, returned by the API and printed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from anoncup.messages import Message, deserialize_prefixed
from anoncup.schemas.fields import Id, Moment, Number, example, omit_if_none
from anoncup.schemas.notices import FailureFields, Notice
from anoncup.schemas.verdicts import VerdictPart

EXAMPLE: dict[str, Any] = {
    "distance": "gower",
    "bits": 50,
    "individuals": 300,
    "groups": 12,
    "alone": 1,
    "cheats": [{"name": "shift", "fixed": 0, "log2_chance": None, "expected": 0.0}],
    "fixed": 41,
    "low": 0.0077,
    "high": 0.0412,
    "high_s_lower": 0.0387,
    "certified": True,
    "threshold": 0.04,
    "remedy": None,
    "escapes": 200,
    "bounds": [{"fixed": 41, "s_lower": 0.0387, "lower": 0.0412, "upper": 0.0415, "exact": False}],
    "histograms": {
        "shift": {
            "draws": 20,
            "counts": [8, 12],
            "edges": [0.32, 0.35, 0.38],
            "least": 0.32,
            "mean": 0.352,
            "largest": 0.38,
        }
    },
    "evidence": {
        "individuals": 300,
        "honest": [{"method": "add_noise", "parameters": {"strength": 0.1}, "mean": 0.135, "refused": None}],
        "mixtures": [
            {
                "method": "add_noise",
                "parameters": {"strength": 0.1},
                "cheat": "group",
                "share": 0.5,
                "mean": 0.21,
            }
        ],
        "alike": 0.09,
        "honest_to": 0.135,
        "cheats_from": 0.32,
        "separates": True,
        "threshold": 0.2,
        "reasons": [],
        "errors": [{"threshold": 0.2, "rejected": 0, "mixed": 0, "passing": {"shift": 0.0}}],
    },
}
"""One example of the whole report, as examples of its parts would not be consistent with each other."""


class Cheat(VerdictPart):
    """A type of cheating by permutation.

    More than ``fixed`` individuals stay in place with a probability of at most 2^log2_chance.
    """

    name: str
    fixed: int
    log2_chance: Number | None = None
    expected: Number


class DistanceBounds(VerdictPart):
    """Bounds of the mean distance if at most ``fixed`` individuals stay in place."""

    fixed: int
    s_lower: Number
    lower: Number | None = None
    upper: Number | None = None
    exact: bool


class Simulation(VerdictPart):
    """A histogram of the mean distances of ``draws`` permutations, with bins between successive ``edges``."""

    draws: int
    counts: list[int]
    edges: list[Number]
    least: Number
    mean: Number
    largest: Number


class MethodTrial(VerdictPart):
    """A release of a sample method with its mean distance, or the reason why no threshold accepts it."""

    method: str
    parameters: dict[str, Any]
    mean: Number | None = None
    refused: str | None = None
    refused_template: str | None = omit_if_none()
    refused_values: dict[str, Any] | None = omit_if_none()


class Mixture(VerdictPart):
    """A release of a sample method in which a ``share`` claims the rows of others, as in ``cheat``."""

    method: str
    parameters: dict[str, Any]
    cheat: str
    share: Number
    mean: Number


class ErrorCounts(VerdictPart):
    """Errors at ``threshold``: numbers of rejected honest releases and of passing mixtures, and the share of
    simulated cheats of each type that pass.
    """

    threshold: Number
    rejected: int
    mixed: int
    passing: dict[str, Number]

    @property
    def max_passing(self) -> float:
        """The share of cheats that pass, for the type that passes most often."""
        return max(self.passing.values(), default=0.0)


class AdviceEvidence(VerdictPart):
    """Results of thresholds on these data. ``threshold`` is recommended in view of both kinds of error."""

    individuals: int
    honest: list[MethodTrial]
    mixtures: list[Mixture]
    alike: Number | None = None
    honest_to: Number | None = None
    cheats_from: Number | None = None
    separates: bool | None = None
    threshold: Number | None = None
    reasons: list[Notice]
    errors: list[ErrorCounts]

    @property
    def accepted_means(self) -> list[float]:
        """The mean distances of the honest releases that some threshold accepts."""
        return [trial.mean for trial in self.honest if trial.mean is not None]


class Advice(VerdictPart):
    """A threshold report. Every threshold between ``low`` and ``high`` is guaranteed to reject cheats.

    The probability that a cheat passes nevertheless is at most 2^-bits. ``threshold`` is the largest round
    number between the two.
    """

    model_config = ConfigDict(frozen=True, extra="allow", json_schema_extra={"examples": [EXAMPLE]})

    distance: str
    bits: int
    individuals: int
    groups: int
    alone: int
    cheats: list[Cheat]
    fixed: int
    low: Number
    high: Number
    high_s_lower: Number
    certified: bool
    threshold: Number | None = None
    remedy: str | None = None
    remedy_template: str | None = omit_if_none()
    remedy_values: dict[str, Any] | None = omit_if_none()
    escapes: int | None = None
    bounds: list[DistanceBounds]
    histograms: dict[str, Simulation]
    evidence: AdviceEvidence

    @property
    def remedy_message(self) -> Message | None:
        """What the organizers can change if no threshold can be guaranteed."""
        return None if self.remedy_template is None else deserialize_prefixed("remedy", self.model_dump())

    @property
    def recommended_threshold(self) -> float | None:
        """The recommended threshold; None if none separates honest releases from cheats."""
        return None if self.evidence.separates is False else self.evidence.threshold

    def allows(self, threshold: float) -> bool:
        """Return whether a threshold is guaranteed, recommended, or separates honest releases from cheats."""
        guaranteed = self.threshold is not None and self.low < threshold < self.high
        evidence = self.evidence
        if not evidence.separates or evidence.honest_to is None or evidence.cheats_from is None:
            return guaranteed or threshold == self.recommended_threshold
        return guaranteed or evidence.honest_to <= threshold < evidence.cheats_from


def parse_advice(stored: Mapping[str, Any]) -> Advice:
    """Parse a threshold report from its stored JSON form."""
    return Advice.model_validate(stored)


_STATES_DESCRIPTION = "QUEUED, SCORING, SCORED (finished) or ERROR"


class ReportSummary(FailureFields):
    id: Id
    status: Annotated[str, Field(description=_STATES_DESCRIPTION), example("QUEUED")]
    created_at: Moment
    finished_at: Annotated[datetime | None, example("2027-01-11T05:30:04Z")]
    question: Annotated[
        dict[str, Any],
        example({"groups": ["sex", "age"], "distance": "gower", "bits": 50, "draws": 1000, "seconds": 0.0}),
    ]


class Report(ReportSummary):
    status: Annotated[str, Field(description=_STATES_DESCRIPTION), example("SCORED")]
    report: Annotated[
        Advice | None,
        Field(description="the report as `anoncup threshold --json` prints it; null until it is finished"),
    ]
