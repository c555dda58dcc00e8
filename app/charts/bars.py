"""Bars of a histogram. The part above a threshold is hatched, so that colour is not the only difference."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.charts.axes import clamp_finite
from app.charts.frame import PlotArea, label_mark
from app.charts.svg import format_coordinate, isolate_text, tag

_MIN_BAR_WIDTH = 1.0
"""Minimum width of a bar, so that bars of narrow bins stay visible."""


@dataclass(frozen=True, slots=True)
class HistogramBin:
    low: float
    high: float
    count: int


def build_bins(counts: Sequence[int], minimum: float, maximum: float) -> list[HistogramBin]:
    """Return equal bins over the range; none if the range is empty or unknown."""
    low, high = clamp_finite(minimum), clamp_finite(maximum)
    if low is None or high is None or high < low or not counts:
        return []
    width = (high - low) / len(counts)
    edges = [low + index * width for index in range(len(counts))] + [high]
    return [HistogramBin(edges[index], edges[index + 1], int(count)) for index, count in enumerate(counts)]


def draw_hatch_pattern(identifier: str) -> Markup:
    """Draw the definition of the hatch pattern; its id is derived from the picture's identifier."""
    stroke = tag("path", d="M-1 1L1 -1M0 6L6 0M5 7L7 5", class_="hatch")
    pattern = tag(
        "pattern", stroke, id=f"{identifier}-hatch", width=6, height=6, patternUnits="userSpaceOnUse"
    )
    return tag("defs", pattern)


def draw_bars(
    bins: Sequence[HistogramBin],
    plot_area: PlotArea,
    template: str,
    format_value: Callable[[float], str],
    *,
    hatch_from: float | None = None,
    pattern_identifier: str = "",
    name: str = "",
    first: bool = True,
) -> Markup:
    """Draw a bar for each bin that is not empty.

    ``template`` is the label of a bar, with {name}, {low}, {high} and {count}, and ``format_value`` formats
    its numbers. Bars are hatched from ``hatch_from`` on. If ``first``, the tab key reaches the first bar.
    """
    filled = [histogram_bin for histogram_bin in bins if histogram_bin.count > 0]
    shapes = [
        label_mark(
            _draw_bar(histogram_bin, plot_area, hatch_from, pattern_identifier),
            template.format(
                name=isolate_text(name),
                low=format_value(histogram_bin.low),
                high=format_value(histogram_bin.high),
                count=format_value(histogram_bin.count),
            ),
            first=first and index == 0,
        )
        for index, histogram_bin in enumerate(filled)
    ]
    return tag("g", *shapes, class_="series bars")


def _draw_bar(
    histogram_bin: HistogramBin, plot_area: PlotArea, hatch_from: float | None, pattern_identifier: str
) -> Markup:
    """Draw the bar, split into two parts if the threshold is inside its bin."""
    top = plot_area.y_position(histogram_bin.count)
    left, right = plot_area.x_position(histogram_bin.low), plot_area.x_position(histogram_bin.high)
    if hatch_from is None or histogram_bin.high <= hatch_from:
        return tag("g", _draw_rectangle(left, right, top, plot_area.bottom, class_="bar"), class_="column")
    hatch_x = plot_area.x_position(max(histogram_bin.low, hatch_from))
    above = _draw_rectangle(hatch_x, right, top, plot_area.bottom, class_="bar over")
    hatched = _draw_rectangle(
        hatch_x, right, top, plot_area.bottom, class_="hatched", fill=f"url(#{pattern_identifier}-hatch)"
    )
    if histogram_bin.low >= hatch_from:
        return tag("g", above, hatched, class_="column")
    below = _draw_rectangle(left, hatch_x + 0.6, top, plot_area.bottom, class_="bar")
    return tag("g", below, above, hatched, class_="column")


def _draw_rectangle(left: float, right: float, top: float, bottom: float, **attributes: str) -> Markup:
    width = max(right - left - 0.6, _MIN_BAR_WIDTH)
    return tag(
        "path",
        d=f"M{format_coordinate(left)} {format_coordinate(bottom)}V{format_coordinate(top)}h{format_coordinate(width)}V{format_coordinate(bottom)}Z",
        **attributes,
    )
