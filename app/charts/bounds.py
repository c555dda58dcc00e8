"""Chart of bounds: how large a permutation's mean distance is, by how many individuals stay in place."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from markupsafe import Markup

from anoncup.messages import N_
from app.charts import marks
from app.charts.axes import build_axis
from app.charts.figure import Figure, LegendEntry
from app.charts.frame import (
    Box,
    PlotArea,
    build_horizontal_axis,
    build_picture,
    draw_empty,
    draw_grid,
    draw_text,
    draw_vertical_rule,
    fit_plot_area,
    label_mark,
)
from app.charts.label_placement import count_covered_points
from app.charts.numbers import clamp_finite, keep_finite
from app.charts.svg import MAX_FONT_SIZE, draw_path, estimate_text_width, shorten, tag
from app.charts.text import ChartWords

_HEIGHT = 340.0
_MAX_SHOWN_FACTOR = 2.5
"""The picture ends at this multiple of the number of individuals that the rule assumes to stay in place."""
_IDENTIFIER = "bounds"


@dataclass(frozen=True, slots=True)
class DistanceBound:
    """Bounds of the mean distance if at most ``fixed`` individuals stay in place."""

    fixed: int
    s_lower: float
    lower: float | None = None
    upper: float | None = None


_SERIES: dict[str, Callable[[DistanceBound], float | None]] = {
    "upper": lambda item: item.upper,
    "lower": lambda item: item.lower,
    "s_lower": lambda item: item.s_lower,
}
SHAPES: dict[str, marks.MarkShape] = {
    "upper": partial(marks.triangle, size=11.0),
    "lower": partial(marks.square, size=5.5),
    "s_lower": partial(marks.dot, size=3.0),
}
"""Marks from back to front. Each is smaller than the one before, so that equal bounds stay visible."""


@dataclass(frozen=True, slots=True)
class BoundWords(ChartWords):
    """Texts of the chart of bounds.

    ``summary`` is the description, with {fixed}, {bound} (the bound for this number) and {threshold}; without
    a threshold, ``summary_unguaranteed`` replaces it. ``point_label`` is the label of a mark, with {series}, {fixed}
    and {value}.
    """

    title: str = N_("Smallest mean distance of a permutation")
    x_title: str = N_("Fixed points")
    y_title: str = N_("Mean distance")
    s_lower: str = N_("Simple lower bound")
    lower: str = N_("Certified lower bound")
    upper: str = N_("A permutation found")
    threshold: str = N_("Threshold")
    fixed: str = N_("assumed in place:")
    empty: str = N_("There are no bounds to show.")
    summary: str = N_(
        "If at most {fixed} individuals stay in place, the mean distance is at least {bound}; "
        "the largest guaranteed threshold is {threshold}."
    )
    summary_unguaranteed: str = N_(
        "If at most {fixed} individuals stay in place, the mean distance is at least {bound}; "
        "no threshold is guaranteed."
    )
    point_label: str = N_("{series}, {fixed} in place: {value}")

    def series_label(self, series: str) -> str:
        return {"s_lower": self.s_lower, "lower": self.lower, "upper": self.upper}[series]


def build_bounds(
    points: Sequence[DistanceBound], words: BoundWords, *, fixed: int, threshold: float | None = None
) -> Figure:
    """Build the chart of bounds; the rule assumes that at most ``fixed`` individuals stay in place."""
    ordered = sorted(points, key=lambda point: point.fixed)
    return Figure(
        _IDENTIFIER,
        words.title,
        _describe_bounds(ordered, words, fixed, clamp_finite(threshold)),
        _draw_bounds(select_shown_points(ordered, fixed), words, fixed, clamp_finite(threshold)),
        head=(words.x_title, words.s_lower, words.lower, words.upper),
        rows=tuple((point.fixed, point.s_lower, point.lower, point.upper) for point in ordered),
        legend=_build_legend(ordered, words),
    )


def select_shown_points(points: Sequence[DistanceBound], fixed: int) -> list[DistanceBound]:
    """Return the bounds near the number that the rule assumes; distant ones would compress the picture."""
    far_counts = [point.fixed for point in points if point.fixed >= _MAX_SHOWN_FACTOR * fixed]
    last = far_counts[0] if fixed > 0 and far_counts else max((point.fixed for point in points), default=0)
    return [point for point in points if point.fixed <= last]


def _describe_bounds(
    points: Sequence[DistanceBound], words: BoundWords, fixed: int, threshold: float | None
) -> str:
    if not points:
        return words.empty
    assumed = next((point for point in points if point.fixed == fixed), None)
    distance = None if assumed is None else assumed.s_lower if assumed.lower is None else assumed.lower
    summary = words.summary_unguaranteed if threshold is None else words.summary
    return words.fill(summary, fixed=fixed, bound=distance, threshold=threshold)


def _draw_bounds(
    points: Sequence[DistanceBound], words: BoundWords, fixed: int, threshold: float | None
) -> Markup:
    heights = [value(point) for point in points for value in _SERIES.values()]
    x = build_horizontal_axis(
        [fixed, *(point.fixed for point in points)], from_zero=True, is_integer=True, localize=words.localize
    )
    plot_area = fit_plot_area(
        x,
        build_axis([*heights, threshold], non_negative=True, localize=words.localize),
        height=_HEIGHT,
        top=3.4 * MAX_FONT_SIZE,
    )
    if not points:
        return draw_empty(
            _IDENTIFIER, plot_area, _HEIGHT, words.empty, x_title=words.x_title, y_title=words.y_title
        )
    return build_picture(
        _IDENTIFIER,
        _HEIGHT,
        draw_grid(plot_area, x_title=words.x_title, y_title=words.y_title, title_gap=2.2 * MAX_FONT_SIZE),
        *(
            _draw_series(name, points, plot_area, words, is_first_focusable=name == "s_lower")
            for name in _SERIES
        ),
        draw_vertical_rule(
            plot_area,
            fixed,
            f"{words.fixed} {words.format_number(fixed)}",
            "fixed",
            top=plot_area.top - 10,
            margin=4,
        ),
        _draw_threshold(plot_area, threshold, words, points),
        is_interactive=True,
    )


def _draw_series(
    name: str,
    points: Sequence[DistanceBound],
    plot_area: PlotArea,
    words: BoundWords,
    *,
    is_first_focusable: bool,
) -> Markup:
    """Draw a line through the bounds of one kind, with a mark at each."""
    coordinates = [
        (point.fixed, value) for point in points if (value := clamp_finite(_SERIES[name](point))) is not None
    ]
    if not coordinates:
        return Markup("")
    line = tag(
        "path",
        class_="line",
        d="M" + "L".join(plot_area.format_point(*index) for index in coordinates),
        aria_hidden="true",
    )
    shapes = [
        label_mark(
            SHAPES[name](*plot_area.position(fixed, value)),
            words.fill(words.point_label, series=words.series_label(name), fixed=fixed, value=value),
            is_focusable=is_first_focusable and index == 0,
        )
        for index, (fixed, value) in enumerate(coordinates)
    ]
    return tag("g", line, *shapes, class_=f"series points {name}")


def _draw_threshold(
    plot_area: PlotArea, threshold: float | None, words: BoundWords, points: Sequence[DistanceBound]
) -> Markup:
    """Draw the threshold; its label is placed where it hides as little of the lines as possible."""
    if threshold is None:
        return Markup("")
    y = plot_area.y_position(threshold)
    text = f"{words.threshold} {words.format_number(threshold)}"
    label = shorten(text, plot_area.right - plot_area.left)
    line = draw_path("M", plot_area.left, y, "H", plot_area.right, class_="line")
    width, line_points = estimate_text_width(label), sorted(_sample_lines(points, plot_area))
    boxes = [
        Box(left, top, left + width, top + MAX_FONT_SIZE)
        for top in (y - MAX_FONT_SIZE - 4, y + 3)
        for left in (plot_area.right - width - 4, plot_area.left + 4)
        if plot_area.top <= top <= plot_area.bottom - MAX_FONT_SIZE
    ]
    box = min(boxes, key=lambda box: count_covered_points(box, line_points))
    at_right = box.left > plot_area.left + 4
    kind = "label end" if at_right else "label"
    name = draw_text(label, box.right if at_right else box.left, box.bottom - 0.2 * MAX_FONT_SIZE, kind)
    return tag("g", line, name, class_="rule threshold", aria_hidden="true")


def _sample_lines(points: Sequence[DistanceBound], plot_area: PlotArea) -> Iterator[tuple[float, float]]:
    """Yield points along the lines of all series, as coordinates in the picture."""
    for get_height in _SERIES.values():
        heights_by_count = [
            (point.fixed, height)
            for point in points
            if (height := clamp_finite(get_height(point))) is not None
        ]
        for (left, begin), (right, end) in pairwise(heights_by_count):
            for step in range(8):
                share = step / 8
                yield plot_area.position(left + share * (right - left), begin + share * (end - begin))


def _build_legend(points: Sequence[DistanceBound], words: BoundWords) -> tuple[LegendEntry, ...]:
    return tuple(
        LegendEntry(name, words.series_label(name), marks.swatch(name, marks.LINE, SHAPES[name](0, 0)))
        for name, get_height in reversed(_SERIES.items())
        if keep_finite(get_height(point) for point in points)
    )
