"""Prepare a verdict for tables: the contributions to the scores, and the distance to the threshold."""

from dataclasses import dataclass
from typing import Literal

from anoncup import schemas
from anoncup.competition.scoring_versions import counts_towards_security
from anoncup.evaluation.ranking import normalize_loss
from anoncup.rules.model import Rules
from anoncup.rules.settings import Excessive
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyMeasure

_NEAR_SHARE = 0.9
"""Releases with at least this share of the threshold are said to be near it."""


@dataclass(frozen=True, slots=True)
class MeasureLine:
    """A measure in the table of results.

    ``weight`` is its share of all weights, and ``scale`` the divisor of its value. U is the sum of all
    contributions or the largest one, depending on the track. ``board_values`` are the values of all teams.
    """

    name: str
    value: float
    higher_is_better: bool
    weight: float | None
    scale: float | None
    contribution: float | None
    board_values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class AttackerLine:
    """An attacker in the table of results.

    ``is_counted`` means that its risk counts toward E, and ``is_decisive`` that its risk is the largest of
    those; several attackers can be decisive.
    """

    name: str
    entry: schemas.AttackerVerdict
    is_counted: bool
    is_decisive: bool


@dataclass(frozen=True, slots=True)
class ThresholdComparison:
    """A release compared with the threshold of the rule against excessive anonymization.

    ``compared_distance`` is the distance that the rule compares; it is None under Approach I or without a
    threshold. That distance is also given in percent of the threshold.
    """

    settings: Excessive
    compared_distance: Literal["mean", "largest"] | None
    value: float
    percent: float | None
    is_over: bool

    @property
    def is_near(self) -> bool:
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
    weight = rules.weight(name)
    scale = rules.scales.get(name)
    share = weight / (weight if uses_maximum else sum(rules.weights.values())) if weight else None
    value, rounding = entry.value, entry.rounding
    return MeasureLine(
        name,
        value,
        measure is not None and measure.higher_is_better,
        weight=share,
        scale=scale if share else None,
        contribution=share * normalize_loss(value, scale, rounding=rounding)
        if share and scale is not None
        else None,
        board_values=board_values,
    )


def _list_board_values(board: schemas.Board | None, name: str) -> tuple[float, ...]:
    """Return the measure's value for every team on the board, or nothing if the board hides measures."""
    rows = board.rows if board and board.digits is None else ()
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
        name, entry, is_counted=is_counted, is_decisive=is_counted and entry.effective_risk == largest_risk
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
        return ThresholdComparison(settings, None, excessive.mean, None, is_over)
    compared_distance: Literal["mean", "largest"] = "largest" if settings.rule == "strict" else "mean"
    value = excessive.max if compared_distance == "largest" else excessive.mean
    return ThresholdComparison(
        settings, compared_distance, value, 100 * value / threshold if threshold else None, is_over
    )
