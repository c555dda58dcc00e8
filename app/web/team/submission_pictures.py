"""The pictures of a submission: its distances, its attackers, and where it stands."""

from collections.abc import Sequence

from anoncup import schemas
from app.charts.figure import Figure
from app.charts.histogram import HistogramWords, histogram
from app.charts.intervals import Intervals, IntervalWords, Rate, intervals
from app.charts.strip import StripWords, strip
from app.charts.text import worded
from app.locale.language import Words
from app.web.team.verdicts import AttackerLine, Limit, MeasureLine


def distances_of(verdict: schemas.Verdict, limit: Limit | None, t: Words) -> Figure | None:
    """How far the individuals moved, against the threshold; None where a track knows no distances."""
    excessive = verdict.excessive
    if excessive is None or limit is None:
        return None
    words = worded(
        HistogramWords,
        t,
        title=t("Individuals by their distance to their own original"),
        x=t.label(f"distance_{excessive.distance}", "") or excessive.distance,
        y=t("Individuals"),
        low=t("Low"),
        high=t("High"),
        threshold=t("Threshold"),
        mean=t("Mean"),
        beyond=t("Beyond the threshold"),
        none=t("No distances are known."),
        said=t("{count} individuals, at distances from {least} to {largest}."),
    )
    return histogram(
        excessive.histogram.counts,
        words,
        least=0.0,
        largest=excessive.histogram.end,
        # The threshold of Approach I is on the distance to others, which is not what is drawn.
        threshold=excessive.threshold if limit.which else None,
        mean=excessive.mean,
        each=limit.which == "largest",
        identifier="distances",
    )


def attackers_of(lines: Sequence[AttackerLine], t: Words) -> Intervals:
    """A picture for each, in the order given."""
    return intervals([rate_of(line.entry) for line in lines], worded(IntervalWords, t))


def rate_of(entry: schemas.Attacked) -> Rate:
    low, high = entry.interval or (None, None)
    return Rate(entry.rate, low, high, entry.sd, entry.baseline)


def strips_of(lines: Sequence[MeasureLine], t: Words) -> dict[str, Figure]:
    """Where each measure stands among all teams' that the viewer may see."""
    words = worded(
        StripWords,
        t,
        title=t("Among all teams"),
        value=t("Value"),
        none=t("No other values yet"),
        said=t("{count} teams: from {least} to {largest}, median {median}."),
        said_own=t("This one: {own}."),
    )
    return {
        line.name: strip(line.among, line.value, words, identifier=f"strip-{line.name}")
        for line in lines
        if line.among
    }
