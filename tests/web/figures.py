"""Every chart of some data, the data that charts must stand, and how a chart is read again."""

import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from app.charts.bounds import Bound, BoundWords, bounds
from app.charts.figure import Figure
from app.charts.heatmap import Heading, HeatRow, HeatWords, heatmap
from app.charts.histogram import HistogramWords, PanelWords, histogram, histograms
from app.charts.scatter import Point, ScatterWords, scatter
from app.charts.strip import DistributionWords, Standing, StripWords, distribution, strip
from app.charts.text import worded
from app.charts.threshold_errors import ErrorWords, Release, Simulated, errors
from app.charts.timeline import CourseWords, Entry, State, course
from app.locale.language import Words
from app.web.site.language import words_in
from app.web.site.pages import templates

EN, JA = words_in("en"), words_in("ja")
START = datetime(2026, 7, 1, tzinfo=UTC)
STATES: tuple[State, ...] = ("accepted", "rejected", "error")
HOSTILE = (
    "<script>alert(1)</script>",
    "\"quoted\" & 'quoted' onclick=x style=y",
    "いろはにほへとちりぬるをわかよたれそつねならむうゐのおくやまけふこえてあさきゆめみしゑひもせすん京いろはにほへとちりぬる",
    "פרטיות \u202eשמורה",
    "{braces} {0} %s",
    "nul \x00 and escape \x1b",
    "W" * 80,
    "",
)


def named(place: int) -> str:
    return HOSTILE[place % len(HOSTILE)] if place < 2 * len(HOSTILE) else f"team {place}"


def rivals(values: Sequence[float], *, own: int = 0) -> list[Point]:
    """Teams of which each value is one's loss, and the next one's its risk; the front by brute force."""
    pairs = [(value, values[place - 1]) for place, value in enumerate(values)]
    return [
        Point(
            named(place),
            loss,
            risk,
            own=place == own,
            on_front=not any(a <= loss and b <= risk and (a, b) != (loss, risk) for a, b in pairs),
            baseline=place % 7 == 3,
        )
        for place, (loss, risk) in enumerate(pairs)
    ]


def scattered(values: Sequence[float], t: Words) -> Figure:
    return scatter(rivals(values), worded(ScatterWords, t))


def counted(values: Sequence[float], t: Words) -> Figure:
    counts = [place % 4 for place in range(len(values))]
    least, largest = min(values, default=0.0), max(values, default=0.0)
    middle = (least + largest) / 2
    words = worded(HistogramWords, t)
    return histogram(counts, words, least=least, largest=largest, threshold=middle, mean=middle)


def cheats(values: Sequence[float], t: Words) -> Figure:
    least, largest = min(values, default=0.0), max(values, default=0.0)
    kinds = {named(place): ([3, 0, 2], least, largest) for place in range(min(len(values), 3))}
    return histograms(kinds, worded(PanelWords, t), interval=(least, largest), threshold=least)


def striped(values: Sequence[float], t: Words) -> Figure:
    return strip(values, values[0] if values else None, worded(StripWords, t))


def distributed(values: Sequence[float], t: Words) -> Figure:
    standings = [Standing(named(place), value, own=place == 1) for place, value in enumerate(values)]
    return distribution(standings, worded(DistributionWords, t))


def coursed(values: Sequence[float], t: Words) -> Figure:
    entries = [
        Entry(named(place), START + place * timedelta(hours=7), value, STATES[place % 3])
        for place, value in enumerate(values)
    ]
    return course(entries, worded(CourseWords, t), zone="Asia/Tokyo")


def bounded(values: Sequence[float], t: Words) -> Figure:
    found = [Bound(place, value, value, None if place % 3 else value) for place, value in enumerate(values)]
    return bounds(
        found, worded(BoundWords, t), fixed=len(values) // 2, threshold=values[0] if values else None
    )


def erring(values: Sequence[float], t: Words) -> Figure:
    tried = [Release(named(place), value) for place, value in enumerate(values)]
    least, largest = min(values, default=0.0), max(values, default=0.0)
    edges = [least, least + (largest / 2 - least / 2), largest]
    kinds = {name: Simulated([3, 2], edges) for name in ("shift", "group")[: len(values)]}
    interval, threshold = (0.0, least), values[0] if values else None
    return errors(
        tried[::2], tried[1::2], kinds, worded(ErrorWords, t), interval=interval, threshold=threshold
    )


def attacked(values: Sequence[float], t: Words) -> Figure:
    targets = [Heading(named(place), own=place == 0) for place in range(min(len(values), 40))]
    rows = [
        HeatRow(Heading(named(place), own=place == 1, note="<b>"), [None, *values[1 : len(targets)]])
        for place in range(min(len(values), 20))
    ]
    return heatmap(targets, rows, worded(HeatWords, t))


CHARTS: dict[str, Callable[[Sequence[float], Words], Figure]] = {
    "scatter": scattered,
    "histogram": counted,
    "histograms": cheats,
    "strip": striped,
    "distribution": distributed,
    "course": coursed,
    "bounds": bounded,
    "errors": erring,
    "heatmap": attacked,
}

RANDOM = random.Random(7)
DATA: dict[str, list[float]] = {
    "nothing": [],
    "one": [0.25],
    "one zero": [0.0],
    "all the same": [0.4] * 9,
    "a few": [0.1, 0.62, 0.33, 0.08, 0.5, 0.21],
    "five hundred": [RANDOM.random() for _ in range(500)],
    "tiny": [1e-9, 3e-9, 2.5e-9],
    "huge": [1e12, 4e12, 1.5e12],
    "huge and alike": [1e12, 1e12 + 1, 1e12 + 2],
    "huge and the same": [1e300] * 3,
    "huge, the same and below zero": [-1e300] * 3,
    "below zero": [-3.0, -1.0, -2.5],
    "far apart": [1e-300, 1e300, -1e300],
    "not numbers": [float("nan"), 0.2, float("inf"), 0.3, float("-inf")],
}


def rendered(figure: Figure, t: Words = EN) -> str:
    macros = templates.env.get_template("site/figure.html").module
    return str(macros.chart(figure, t))  # type: ignore[attr-defined]


def parsed(markup: str) -> ET.Element:
    return ET.fromstring(markup)


def marks_of(figure: Figure, series: str) -> list[ET.Element]:
    """The marks of a series, not those of its line."""
    found = parsed(figure.svg).findall(f".//g[@class='series points {series}']/*[@role='img']")
    assert found, series
    return found


def middle(mark: ET.Element) -> tuple[float, float]:
    """Where a mark stands: the middle of its corners."""
    if mark.tag == "circle":
        return float(mark.attrib["cx"]), float(mark.attrib["cy"])
    places = [tuple(map(float, each.split())) for each in re.findall(r"[-\d.]+ [-\d.]+", mark.attrib["d"])]
    across, up = zip(*places, strict=True)
    return (min(across) + max(across)) / 2, (min(up) + max(up)) / 2


def ticks_of(figure: Figure) -> list[tuple[float, str]]:
    """The numbers below the picture, and where they stand."""
    found = parsed(figure.svg).findall(".//text[@class='tick middle']")
    return [(float(each.attrib["x"]), each.text or "") for each in found]


def value_at(figure: Figure, x: float) -> float:
    """What the axis below the picture says of a place."""
    (left, first), *_, (right, last) = ticks_of(figure)
    return float(first) + (x - left) / (right - left) * (float(last) - float(first))


def corners(path: str) -> list[tuple[float, float]]:
    """The places that a path of M, H, V and L goes through."""
    x = y = 0.0
    found = []
    for letter, numbers in re.findall(r"([MHVL])([-\d. ]+)", path):
        values = [float(each) for each in numbers.split()]
        x = values[0] if letter in "MHL" else x
        y = values[-1] if letter in "MVL" else y
        found.append((x, y))
    return found


WORDS: dict[str, type] = {
    "scatter": ScatterWords,
    "histogram": HistogramWords,
    "histograms": PanelWords,
    "strip": StripWords,
    "distribution": DistributionWords,
    "course": CourseWords,
    "bounds": BoundWords,
    "errors": ErrorWords,
    "heatmap": HeatWords,
}
"""By chart, what it says."""
