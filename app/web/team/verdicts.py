"""A verdict as people read it: what each number adds to the result, and how near the limit it came."""

from dataclasses import dataclass
from typing import Literal

from anoncup import schemas
from anoncup.competition.scoring_versions import attacker_counts
from anoncup.evaluation.ranking import utility_score
from anoncup.rules.model import Rules
from anoncup.rules.settings import Excessive
from anoncup.tracks.model import Track
from anoncup.tracks.parts import Measure

NEAR = 0.9
"""From this share of the threshold on a release is said to be near it."""


@dataclass(frozen=True, slots=True)
class MeasureLine:
    """``weight``: its share in U; ``scale``: what its value is divided by; ``adds``: to U, all adding up, or
    what U is the largest of."""

    name: str
    value: float
    higher_is_better: bool
    weight: float | None
    scale: float | None
    adds: float | None
    among: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class AttackerLine:
    """``counts``: towards E; ``decides``: its risk is E, perhaps not it alone."""

    name: str
    entry: schemas.Attacked
    counts: bool
    decides: bool


@dataclass(frozen=True, slots=True)
class Limit:
    """How the rule against excessive anonymization looks at a release.

    ``which``: the distance that the rule holds against the threshold; None where it looks elsewhere (Approach
    I) or where there is no threshold. ``share``: that distance in percent of the threshold.
    """

    settings: Excessive
    which: Literal["mean", "largest"] | None
    value: float
    share: float | None
    over: bool

    @property
    def near(self) -> bool:
        return self.share is not None and self.share >= 100 * NEAR


def measure_lines(
    rules: Rules, track: Track, verdict: schemas.Verdict, board: schemas.Board | None
) -> list[MeasureLine]:
    """Every measure; ``board``: what this viewer may compare it with, None if nothing."""
    return [
        measure_line(
            rules,
            track.measures.get(name),
            entry,
            name=name,
            among=values_of(board, name),
            largest=track.utility == "largest",
        )
        for name, entry in verdict.measures.items()
    ]


def measure_line(
    rules: Rules,
    known: Measure | None,  # it may have been removed since
    entry: schemas.Measured,
    *,
    name: str,
    among: tuple[float, ...],
    largest: bool,
) -> MeasureLine:
    weight = rules.weight(name)
    scale = rules.scales.get(name)
    share = weight / (weight if largest else sum(rules.weights.values())) if weight else None
    value, tiny = entry.value, entry.rounding
    return MeasureLine(
        name,
        value,
        known is not None and known.higher_is_better,
        weight=share,
        scale=scale if share else None,
        adds=share * utility_score(value, scale, tiny=tiny) if share and scale is not None else None,
        among=among,
    )


def values_of(board: schemas.Board | None, name: str) -> tuple[float, ...]:
    """The measure of every team's best release on the board as its viewer sees it."""
    rows = board.rows if board and board.digits is None else ()
    return tuple(row.measures[name] for row in rows if not row.baseline and name in row.measures)


def attacker_lines(rules: Rules, verdict: schemas.Verdict) -> list[AttackerLine]:
    """Those that count first, and what finds most; equal ones as the verdict has them."""
    found = verdict.attackers.items()
    largest = max((entry.taken for name, entry in found if attacker_counts(rules, name)), default=None)
    lines = [attacker_line(rules, name, entry, largest) for name, entry in found]
    return sorted(lines, key=lambda line: (not line.counts, -line.entry.taken))


def attacker_line(rules: Rules, name: str, entry: schemas.Attacked, largest: float | None) -> AttackerLine:
    counted = attacker_counts(rules, name)
    return AttackerLine(name, entry, counts=counted, decides=counted and entry.taken == largest)


def limit_of(rules: Rules, verdict: schemas.Verdict) -> Limit | None:
    """The threshold by which the verdict was given, under the competition's approach and rule; None of a
    track that knows no distances."""
    excessive, settings = verdict.excessive, rules.excessive
    if excessive is None or settings is None:
        return None
    threshold = excessive.threshold
    over = any(each.code == "excessive_anonymization" for each in verdict.violations)
    if threshold is None or settings.approach == "I":
        return Limit(settings, None, excessive.mean, None, over)
    which: Literal["mean", "largest"] = "largest" if settings.rule == "strict" else "mean"
    value = excessive.max if which == "largest" else excessive.mean
    return Limit(settings, which, value, 100 * value / threshold if threshold else None, over)
