"""Charts of a submission: its distances, its attackers, and its values among those of all teams."""

from collections.abc import Sequence

from anoncup import schemas
from app.charts.figure import Figure
from app.charts.histogram import HistogramWords, build_histogram
from app.charts.intervals import AttackRate, IntervalCells, IntervalWords, build_intervals
from app.charts.strip import StripWords, build_strip
from app.charts.text import translate_words
from app.locale.language import Translator
from app.web.team.verdicts import AttackerLine, MeasureLine, ThresholdComparison


def draw_distances(
    verdict: schemas.Verdict, comparison: ThresholdComparison | None, t: Translator
) -> Figure | None:
    """Draw the individuals' distances to their originals, and the threshold; None without distances."""
    excessive = verdict.excessive
    if excessive is None or comparison is None:
        return None
    words = translate_words(
        HistogramWords,
        t,
        title=t("Individuals by their distance to their own original"),
        x=t.label(f"distance_{excessive.distance}", "") or excessive.distance,
        y=t("Individuals"),
        low=t("Low"),
        high=t("High"),
        threshold=t("Threshold"),
        mean=t("Mean"),
        above=t("Beyond the threshold"),
        empty=t("No distances are known."),
        summary=t("{count} individuals, at distances from {least} to {largest}."),
    )
    return build_histogram(
        excessive.histogram.counts,
        words,
        minimum=0.0,
        maximum=excessive.histogram.end,
        # The threshold of Approach I applies to distances to other individuals, which are not drawn here.
        threshold=excessive.threshold if comparison.compared_distance else None,
        mean=excessive.mean,
        per_individual=comparison.compared_distance == "largest",
        identifier="distances",
    )


def draw_attackers(lines: Sequence[AttackerLine], t: Translator) -> IntervalCells:
    """Draw an interval for each attacker, in the given order."""
    return build_intervals(
        [_build_attack_rate(line.entry) for line in lines], translate_words(IntervalWords, t)
    )


def _build_attack_rate(entry: schemas.AttackerVerdict) -> AttackRate:
    low, high = entry.interval or (None, None)
    return AttackRate(entry.rate, low, high, entry.sd, entry.baseline)


def draw_strips(lines: Sequence[MeasureLine], t: Translator) -> dict[str, Figure]:
    """Draw the value of each measure among the values of other teams that the viewer may see."""
    words = translate_words(
        StripWords,
        t,
        title=t("Among all teams"),
        value=t("Value"),
        empty=t("No other values yet"),
        summary=t("{count} teams: from {least} to {largest}, median {median}."),
        summary_own=t("This one: {own}."),
    )
    return {
        line.name: build_strip(line.board_values, line.value, words, identifier=f"strip-{line.name}")
        for line in lines
        if line.board_values
    }
