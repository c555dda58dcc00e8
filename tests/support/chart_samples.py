"""Charts of sample data, hostile names and extreme values, and helpers that read marks from SVG."""

import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence

from app.charts.figure import Figure
from app.charts.histogram import HistogramWords, PanelWords, build_histogram, build_histogram_panels
from app.charts.strip import DistributionWords, TeamValue, build_distribution
from app.charts.text import translate_words
from app.locale.language import Translator, load_translator
from app.web.site.pages import templates

EN, JA = load_translator("en"), load_translator("ja")
HOSTILE_NAMES = (
    "<script>alert(1)</script>",
    "\"quoted\" & 'quoted' onclick=x style=y",
    "いろはにほへとちりぬるをわかよたれそつねならむうゐのおくやまけふこえてあさきゆめみしゑひもせすん京いろはにほへとちりぬる",
    "פרטיות \u202eשמורה",
    "{braces} {0} %s",
    "nul \x00 and escape \x1b",
    "W" * 80,
    "",
)


def build_team_name(index: int) -> str:
    return HOSTILE_NAMES[index % len(HOSTILE_NAMES)] if index < 2 * len(HOSTILE_NAMES) else f"team {index}"


def draw_histogram(values: Sequence[float], t: Translator) -> Figure:
    counts = [index % 4 for index in range(len(values))]
    smallest, largest = min(values, default=0.0), max(values, default=0.0)
    middle = (smallest + largest) / 2
    words = translate_words(HistogramWords, t)
    return build_histogram(counts, words, minimum=smallest, maximum=largest, threshold=middle, mean=middle)


def draw_histograms(values: Sequence[float], t: Translator) -> Figure:
    smallest, largest = min(values, default=0.0), max(values, default=0.0)
    kinds = {build_team_name(index): ([3, 0, 2], smallest, largest) for index in range(min(len(values), 3))}
    return build_histogram_panels(
        kinds, translate_words(PanelWords, t), interval=(smallest, largest), threshold=smallest
    )


def draw_distribution(values: Sequence[float], t: Translator) -> Figure:
    standings = [
        TeamValue(build_team_name(index), value, own=index == 1) for index, value in enumerate(values)
    ]
    return build_distribution(standings, translate_words(DistributionWords, t))


CHARTS: dict[str, Callable[[Sequence[float], Translator], Figure]] = {
    "histogram": draw_histogram,
    "histograms": draw_histograms,
    "distribution": draw_distribution,
}

RANDOM = random.Random(7)
SAMPLE_VALUES: dict[str, list[float]] = {
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


def render_figure(figure: Figure, t: Translator = EN) -> str:
    macros = templates.env.get_template("site/figure.html").module
    return str(macros.chart(figure, t))  # type: ignore[attr-defined]


def parse_markup(markup: str) -> ET.Element:
    return ET.fromstring(markup)


def find_marks(figure: Figure, series: str) -> list[ET.Element]:
    """Return the marks of a series without those of its line."""
    marks = parse_markup(figure.svg).findall(f".//g[@class='series points {series}']/*[@role='img']")
    assert marks, series
    return marks


def find_center(mark: ET.Element) -> tuple[float, float]:
    """Return the center of a mark's bounding box."""
    if mark.tag == "circle":
        return float(mark.attrib["cx"]), float(mark.attrib["cy"])
    points = [tuple(map(float, pair.split())) for pair in re.findall(r"[-\d.]+ [-\d.]+", mark.attrib["d"])]
    xs, ys = zip(*points, strict=True)
    return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2


def find_ticks(figure: Figure) -> list[tuple[float, str]]:
    """Return position and text of each tick of the horizontal axis."""
    labels = parse_markup(figure.svg).findall(".//text[@class='tick middle']")
    return [(float(label.attrib["x"]), label.text or "") for label in labels]


def read_axis_value(figure: Figure, x: float) -> float:
    """Return the value of the horizontal axis at a position."""
    (first_x, first_text), *_, (last_x, last_text) = find_ticks(figure)
    return float(first_text) + (x - first_x) / (last_x - first_x) * (float(last_text) - float(first_text))


def list_corners(path: str) -> list[tuple[float, float]]:
    """Return the points of a path that consists of the commands M, H, V and L."""
    x = y = 0.0
    points = []
    for letter, numbers in re.findall(r"([MHVL])([-\d. ]+)", path):
        values = [float(number) for number in numbers.split()]
        x = values[0] if letter in "MHL" else x
        y = values[-1] if letter in "MVL" else y
        points.append((x, y))
    return points


WORD_TYPES: dict[str, type] = {
    "histogram": HistogramWords,
    "histograms": PanelWords,
    "distribution": DistributionWords,
}
"""The texts of each chart."""
