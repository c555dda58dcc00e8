"""A chart's words, taken from a page's language by their names."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import TypeVar

from app.web.charts.bounds import BoundWords
from app.web.charts.course import CourseWords
from app.web.charts.heatmap import HeatWords
from app.web.charts.histogram import HistogramWords, PanelWords
from app.web.charts.intervals import IntervalWords
from app.web.charts.scatter import ScatterWords
from app.web.charts.strip import DistributionWords, StripWords

Words = TypeVar(
    "Words",
    BoundWords,
    CourseWords,
    DistributionWords,
    HeatWords,
    HistogramWords,
    IntervalWords,
    PanelWords,
    ScatterWords,
    StripWords,
)
NAMES: dict[type, str] = {
    BoundWords: "bounds",
    CourseWords: "course",
    DistributionWords: "distribution",
    HeatWords: "heatmap",
    HistogramWords: "histogram",
    IntervalWords: "intervals",
    PanelWords: "cheats",
    ScatterWords: "scatter",
    StripWords: "strip",
}


def worded(kind: type[Words], t: Mapping[str, str], **given: str) -> Words:
    """The chart's words in the language of ``t``, but for those that are given.

    A field is ``chart_<chart>_<field>``, or ``chart_<field>`` where all charts say the same.
    """
    found: dict[str, str] = {}
    for field in fields(kind):
        for key in (f"chart_{NAMES[kind]}_{field.name}", f"chart_{field.name}"):
            if field.name not in found and key in t:
                found[field.name] = t[key]
    missing = {field.name for field in fields(kind) if field.default is MISSING} - found.keys() - given.keys()
    if missing:
        raise KeyError(f"a chart has no words for {sorted(missing)}")
    return kind(**{**found, **given})
