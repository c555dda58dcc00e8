"""Prepare a verdict for tables: the contributions to the scores, and the distance to the threshold."""

from dataclasses import dataclass
from statistics import median
from typing import Literal

from anoncup import schemas
from anoncup.competition.scoring_versions import counts_towards_security
from anoncup.evaluation.ranking import normalize_loss
from anoncup.rules.model import Rules
from anoncup.rules.settings import Excessive
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyMeasure

_NEAR_SHARE = 0.9
"""Distances of at least this share of the threshold are near it."""


@dataclass(frozen=True, slots=True)
class MeasureLine:
    """A measure in the table of results.

    ``weight`` is its share of the sum of all weights, or 1 if the track takes the largest measure. ``scale``
    is the divisor of its value. The utility loss is the sum of all contributions or the largest one,
    depending on the track. ``board_values`` are the values of all teams.
    """

    name: str
    value: float
    higher_is_better: bool
    weight: float | None
    scale: float | None
    contribution: float | None
    board_values: tuple[float, ...]

    @property
    def board_median(self) -> float:
        return median(self.board_values)


@dataclass(frozen=True, slots=True)
class AttackerLine:
    """An attacker in the table of results.

    ``is_counted`` means that it counts towards the risk of the release, and ``is_decisive`` that no attacker
    that counts has a larger risk; several attackers can be decisive.
    """

    name: str
    entry: schemas.AttackerVerdict
    is_counted: bool
    is_decisive: bool


@dataclass(frozen=True, slots=True)
class ThresholdComparison:
    """A release compared with the threshold of the rule against excessive anonymization.

    ``compared_distance`` is the distance that the rule compares. It is None without a threshold, and under
    Approach I, which compares the distances to other individuals. ``percent`` is that distance in percent of
    the threshold; it is None if there is no such distance or the threshold is 0.
    """

    settings: Excessive
    compared_distance: Literal["mean", "largest"] | None
    value: float
    percent: float | None
    is_over: bool

    @property
    def is_near(self) -> bool:
        """Whether the distance is near the threshold or above it."""
        return self.percent is not None and self.percent >= 100 * _NEAR_SHARE


def build_measure_lines(
    rules: Rules, track: AnyTrack, verdict: schemas.Verdict, board: schemas.Board | None
) -> list[MeasureLine]:
    """Return a line for every measure. ``board`` is the board that this viewer may see, or None."""
    return [
        _build_measure_line(
            rules,
            track.measures.get(name),
            entry,
            name=name,
            board_values=_list_board_values(board, name),
            uses_maximum=track.utility == "largest",
        )
        for name, entry in verdict.measures.items()
    ]


def _build_measure_line(
    rules: Rules,
    measure: AnyMeasure | None,  # None if the measure no longer exists
    entry: schemas.MeasureVerdict,
    *,
    name: str,
    board_values: tuple[float, ...],
    uses_maximum: bool,
) -> MeasureLine:
    weight = _compute_weight_share(rules, name, uses_maximum=uses_maximum)
    scale = rules.scales.get(name)
    contribution = None
    if weight is not None and scale is not None:
        contribution = weight * normalize_loss(entry.value, scale, rounding=entry.rounding)
    return MeasureLine(
        name=name,
        value=entry.value,
        higher_is_better=measure is not None and measure.higher_is_better,
        weight=weight,
        scale=scale if weight is not None else None,
        contribution=contribution,
        board_values=board_values,
    )


def _compute_weight_share(rules: Rules, name: str, *, uses_maximum: bool) -> float | None:
    """Return the share of a measure in all weights, or None if it has no weight.

    If the track takes the largest measure, the share of each measure with a weight is 1.
    """
    weight = rules.weight(name)
    if not weight:
        return None
    return 1.0 if uses_maximum else weight / sum(rules.weights.values())


def _list_board_values(board: schemas.Board | None, name: str) -> tuple[float, ...]:
    """Return the measure's value for every team on the board, or nothing if they are hidden."""
    rows = board.rows if board and board.is_exact else ()
    return tuple(row.measures[name] for row in rows if not row.baseline and name in row.measures)


def build_attacker_lines(rules: Rules, verdict: schemas.Verdict) -> list[AttackerLine]:
    """Return the attackers that count, then the others, by decreasing risk; ties keep the verdict's order."""
    entries = verdict.attackers.items()
    largest_risk = max(
        (entry.effective_risk for name, entry in entries if counts_towards_security(rules, name)),
        default=None,
    )
    lines = [_build_attacker_line(rules, name, entry, largest_risk) for name, entry in entries]
    return sorted(lines, key=lambda line: (not line.is_counted, -line.entry.effective_risk))


def _build_attacker_line(
    rules: Rules, name: str, entry: schemas.AttackerVerdict, largest_risk: float | None
) -> AttackerLine:
    is_counted = counts_towards_security(rules, name)
    return AttackerLine(
        name=name,
        entry=entry,
        is_counted=is_counted,
        is_decisive=is_counted and entry.effective_risk == largest_risk,
    )


def compare_with_threshold(rules: Rules, verdict: schemas.Verdict) -> ThresholdComparison | None:
    """Compare a release with the threshold in its verdict, under the current approach and rule.

    Return None if the track has no distances.
    """
    excessive, settings = verdict.excessive, rules.excessive
    if excessive is None or settings is None:
        return None
    threshold = excessive.threshold
    is_over = any(violation.code == "excessive_anonymization" for violation in verdict.violations)
    if threshold is None or settings.approach == "I":
        return ThresholdComparison(
            settings, compared_distance=None, value=excessive.mean, percent=None, is_over=is_over
        )
    is_strict = settings.rule == "strict"
    value = excessive.max if is_strict else excessive.mean
    return ThresholdComparison(
        settings,
        compared_distance="largest" if is_strict else "mean",
        value=value,
        percent=100 * value / threshold if threshold else None,
        is_over=is_over,
    )
