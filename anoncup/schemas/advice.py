"""What the advisor says of thresholds, as it is stored, answered and printed."""

from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict

from anoncup.messages import Message, message_under
from anoncup.schemas.fields import Number, unless_none
from anoncup.schemas.notices import Said
from anoncup.schemas.verdicts import Part

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
"""Whole: of its parts some exclude others."""


class Cheat(Part):
    """A type of cheating by permutation, and how many may stay in place but for a chance of 2^log2_chance."""

    name: str
    fixed: int
    log2_chance: Number | None = None
    expected: Number


class Bound(Part):
    """Bounds of the mean distance if at most ``fixed`` individuals stay in place."""

    fixed: int
    s_lower: Number
    lower: Number | None = None
    upper: Number | None = None
    exact: bool


class Simulation(Part):
    """Mean distances of ``draws`` permutations: how many lie between one of the ``edges`` and the next."""

    draws: int
    counts: list[int]
    edges: list[Number]
    least: Number
    mean: Number
    largest: Number


class Tried(Part):
    """A sample method's release: its mean distance, or why the rule forbids it whatever the threshold."""

    method: str
    parameters: dict[str, Any]
    mean: Number | None = None
    refused: str | None = None
    refused_template: str | None = unless_none()
    refused_values: dict[str, Any] | None = unless_none()


class Mixture(Part):
    """A sample method's release of which a ``share``, as a ``cheat``, claims the rows of others."""

    method: str
    parameters: dict[str, Any]
    cheat: str
    share: Number
    mean: Number


class Errors(Part):
    """At ``threshold``: honest releases that are rejected, mixtures that pass, and the share of each type of
    simulated cheats that passes."""

    threshold: Number
    rejected: int
    mixed: int
    passing: dict[str, Number]

    @property
    def most_passing(self) -> float:
        """Of the kind that passes most."""
        return max(self.passing.values(), default=0.0)


class Evidence(Part):
    """What thresholds do on these very data; ``threshold``: recommended with both errors in sight."""

    individuals: int
    honest: list[Tried]
    mixtures: list[Mixture]
    alike: Number | None = None
    honest_to: Number | None = None
    cheats_from: Number | None = None
    separates: bool | None = None
    threshold: Number | None = None
    reasons: list[Said]
    errors: list[Errors]

    @property
    def accepted(self) -> list[float]:
        """The mean distances of honest releases that some threshold accepts."""
        return [each.mean for each in self.honest if each.mean is not None]


class Advice(Part):
    """Every threshold above ``low`` and below ``high`` is guaranteed to reject the cheats, but for a chance
    of 2^-bits; ``threshold`` is the largest round one.
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
    remedy_template: str | None = unless_none()
    remedy_values: dict[str, Any] | None = unless_none()
    escapes: int | None = None
    bounds: list[Bound]
    histograms: dict[str, Simulation]
    evidence: Evidence

    @property
    def change(self) -> Message | None:
        """What to change where no threshold is guaranteed."""
        return None if self.remedy_template is None else message_under("remedy", self.model_dump())

    @property
    def recommended(self) -> float | None:
        """The recommended threshold, if one separates."""
        return None if self.evidence.separates is False else self.evidence.threshold

    def allows(self, threshold: float) -> bool:
        """Whether a threshold is guaranteed, recommended, or between honest work and simulated cheats."""
        guaranteed = self.threshold is not None and self.low < threshold < self.high
        found = self.evidence
        if not found.separates or found.honest_to is None or found.cheats_from is None:
            return guaranteed or threshold == self.recommended
        return guaranteed or found.honest_to <= threshold < found.cheats_from


def advice(stored: Mapping[str, Any]) -> Advice:
    """Return a report from its row."""
    return Advice.model_validate(stored)
