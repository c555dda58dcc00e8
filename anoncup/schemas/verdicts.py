"""A verdict, as it is stored, answered and printed."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from anoncup.messages import Message, message_under
from anoncup.schemas.fields import Admitted, Form, Number, unless_none, word
from anoncup.schemas.notices import Said


def at_most(entries: int, *, needed: bool = False) -> Admitted:
    return Admitted(needed=needed, within={"max_length": entries})


TWO = Admitted(within={"min_length": 2, "max_length": 2})
Share = Annotated[Number, Admitted(within={"ge": 0, "le": 1})]
VERDICTS = "accepted", "rejected"
FORMAT = {"format": 1}
"""What a verdict that is stored says besides."""


MOVED = {8: 3, 11: 12, 14: 16, 17: 11, 20: 6, 27: 1, 36: 1}
EXAMPLE: dict[str, Any] = {
    "verdict": "accepted",
    "violations": [],
    "warnings": [],
    "measures": {"mean_mae": {"value": 18.25, "version": 1, "rounding": 2.1e-06}},
    "attackers": {
        "id_rand": {
            "rate": 0.18,
            "correct": 9,
            "trials": 50,
            "version": 1,
            "baseline": 0.02,
            "interval": [0.0977, 0.3081],
        }
    },
    "excessive": {
        "distance": "gower",
        "mean": 0.0613,
        "max": 0.1442,
        "threshold": 0.2,
        "histogram": {"counts": [MOVED.get(place, 0) for place in range(50)], "end": 0.2},
    },
    "utility": 0.084,
    "security": 0.18,
    "overall": 0.132,
}
"""Whole: of its parts some exclude others."""


class Part(Form):
    """Of a verdict, which keeps what a version of the service said that is not known here."""

    model_config = ConfigDict(frozen=True, extra="allow")


class Measured(Part):
    """A measure's value, which counts as 0 below ``rounding``."""

    value: Number
    version: int
    rounding: float
    details: Annotated[dict[str, Number] | None, at_most(1000)] = unless_none()


class Attacked(Part):
    """A rate with its interval at 95 %, or with its deviation (``sd``) if it is an expectation.

    ``baseline``: the rate of guessing at random. ``correct`` of ``trials``: where something is counted.
    ``risk``: what E takes, where that is not the rate itself; ``risks``: of each of several questions that it
    answers.
    """

    rate: Share
    correct: Number | None = unless_none()
    trials: int | None = unless_none()
    version: int
    baseline: Share
    interval: Annotated[list[Number] | None, Admitted(within={"min_length": 2, "max_length": 2})] = (
        unless_none()
    )
    sd: Number | None = unless_none()
    risk: Annotated[Number | None, Admitted(within={"ge": 0, "le": 1})] = unless_none()
    details: Annotated[dict[str, Number] | None, at_most(100)] = unless_none()
    risks: Annotated[dict[str, Number] | None, at_most(100)] = unless_none()
    note: str | None = unless_none()
    note_template: str | None = unless_none()
    note_values: dict[str, Any] | None = unless_none()
    note_plural: dict[str, str] | None = unless_none()

    @property
    def taken(self) -> Number:
        """What E takes of it."""
        return self.rate if self.risk is None else self.risk

    @property
    def noted(self) -> Message | None:
        """What the attacker says of its answer."""
        return None if self.note_template is None else message_under("note", self.model_dump())


class Judged(Part):
    """What a guess came to: ``value`` of what was asked, of which blind guessing gets ``baseline``."""

    value: Share
    baseline: Share
    correct: Annotated[Number | None, Admitted(within={"ge": 0})] = unless_none()
    trials: Annotated[int | None, Admitted(within={"ge": 0})] = unless_none()
    interval: Annotated[list[Number] | None, TWO] = unless_none()
    details: Annotated[dict[str, Number], at_most(100)]

    @property
    def counted(self) -> int | None:
        """``correct`` where it is a whole number: others are no count of anything."""
        return None if self.correct is None or self.correct % 1 else int(self.correct)


class Histogram(Part):
    """How many individuals moved how far, in bins of one width from 0 to ``end``."""

    counts: Annotated[list[int], at_most(1000)]
    end: Number


class Excess(Part):
    """How far the individuals moved, and the threshold that held when it was scored."""

    distance: str
    mean: Number
    max: Number
    threshold: Number | None
    histogram: Histogram


class Evidence(Part):
    name: str
    before: Number
    after: Number
    expected_to_change: bool
    changed: bool


class Resemblance(Part):
    """How well sample methods explain what changed."""

    methods: Annotated[list[str], at_most(10)]
    agreement: Share
    evidence: Annotated[list[Evidence] | None, at_most(100)] = unless_none()


class Verdict(Part):
    """All there is to say of a submission; ``utility``, ``security``, ``overall`` lie in [0, 1], 0 is best.

    ``warnings``: about the secret; as printed, those of the files, too. ``resembles``: as stored only.
    ``excessive``: null where a track knows no distances. ``format``: of what is stored; it is not printed.
    """

    model_config = ConfigDict(frozen=True, extra="allow", json_schema_extra={"examples": [EXAMPLE]})

    verdict: Annotated[str, word(*VERDICTS), Admitted(within={"pattern": f"^({'|'.join(VERDICTS)})$"})]
    violations: Annotated[list[Said], at_most(10)]
    warnings: Annotated[list[Said] | None, at_most(10)] = unless_none()
    measures: dict[str, Measured]
    attackers: dict[str, Attacked]
    excessive: Excess | None
    utility: Share
    security: Share
    overall: Share
    resembles: Annotated[list[Resemblance] | None, Admitted(needed=True, within={"max_length": 10})] = (
        unless_none()
    )
    format: Annotated[Literal[1], Field(exclude=True), Admitted(told=False)] = 1


def read(stored: Mapping[str, Any]) -> Verdict:
    """Return a verdict from its row."""
    return Verdict.model_validate(stored)
