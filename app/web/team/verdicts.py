"""A verdict prepared for tables: contributions to the result, and the distance to the threshold."""

from dataclasses import dataclass
from typing import Literal

from anoncup import schemas
from anoncup.competition.scoring_versions import is_counted_attacker
from anoncup.evaluation.ranking import utility_score
from anoncup.rules.model import Rules
from anoncup.rules.settings import Excessive
from anoncup.tracks.model import Track
from anoncup.tracks.parts import Measure

_NEAR_SHARE = 0.9
"""From this share of the threshold on, a release is said to be near it."""


@dataclass(frozen=True, slots=True)
class MeasureLine:
    """A measure in the table of results.

    ``weight``: its share in U. ``scale``: divisor of its value. ``contribution``: to U, the sum or the
    largest of all contributions. ``board_values``: of all teams.
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

    ``is_counted``: its risk counts toward E. ``is_decisive``: its risk equals E, perhaps together with
    others.
    """

    name: str
    entry: schemas.AttackerVerdict
    is_counted: bool
    is_decisive: bool


@dataclass(frozen=True, slots=True)
class ThresholdComparison:
    """A release compared with the threshold of the rule against excessive anonymization.

    ``compared_distance``: the distance that the rule compares; None under Approach I, or without a threshold.
    ``share``: that distance in percent of the threshold.
    """

    settings: Excessive
    compared_distance: Literal["mean", "largest"] | None
    value: float
    share: float | None
    is_over: bool

    @property
    def is_near(self) -> bool:
        return self.share is not None and self.share >= 100 * _NEAR_SHARE


def build_measure_lines(
    rules: Rules, track: Track, verdict: schemas.Verdict, board: schemas.Board | None
) -> list[MeasureLine]:
    """Return a line for every measure; ``board`` is what this viewer may compare with, or None."""
    return [
        _build_measure_line(
            rules,
            track.measures.get(name),
            entry,
            name=name,
            board_values=_list_board_values(board, name),
            takes_largest=track.utility == "largest",
        )
        for name, entry in verdict.measures.items()
    ]


def _build_measure_line(
    rules: Rules,
    measure: Measure | None,  # None if the measure was removed since
    entry: schemas.MeasureVerdict,
    *,
    name: str,
    board_values: tuple[float, ...],
    takes_largest: bool,
) -> MeasureLine:
    weight = rules.weight(name)
    scale = rules.scales.get(name)
    share = weight / (weight if takes_largest else sum(rules.weights.values())) if weight else None
    value, rounding = entry.value, entry.rounding
    return MeasureLine(
        name,
        value,
        measure is not None and measure.higher_is_better,
        weight=share,
        scale=scale if share else None,
        contribution=share * utility_score(value, scale, rounding=rounding)
        if share and scale is not None
        else None,
        board_values=board_values,
    )


def _list_board_values(board: schemas.Board | None, name: str) -> tuple[float, ...]:
    """Return the measure of every team's best release on the board as its viewer sees it."""
    rows = board.rows if board and board.digits is None else ()
    return tuple(row.measures[name] for row in rows if not row.baseline and name in row.measures)


def build_attacker_lines(rules: Rules, verdict: schemas.Verdict) -> list[AttackerLine]:
    """Return the counted attackers first, by decreasing risk; ties keep the order of the verdict."""
    entries = verdict.attackers.items()
    largest = max(
        (entry.effective_risk for name, entry in entries if is_counted_attacker(rules, name)), default=None
    )
    lines = [_build_attacker_line(rules, name, entry, largest) for name, entry in entries]
    return sorted(lines, key=lambda line: (not line.is_counted, -line.entry.effective_risk))


def _build_attacker_line(
    rules: Rules, name: str, entry: schemas.AttackerVerdict, largest: float | None
) -> AttackerLine:
    is_counted = is_counted_attacker(rules, name)
    return AttackerLine(
        name, entry, is_counted=is_counted, is_decisive=is_counted and entry.effective_risk == largest
    )


def compare_with_threshold(rules: Rules, verdict: schemas.Verdict) -> ThresholdComparison | None:
    """Compare the release with the threshold of its verdict, under the present approach and rule.

    Return None for a track without distances.
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
