"""Bars of a histogram; the part above a threshold is hatched, because colour alone must not mark it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.charts.axes import clamp_finite
from app.charts.frame import PlotArea, label_mark
from app.charts.svg import format_coordinate, isolate_text, tag

_MIN_BAR_WIDTH = 1.0
"""Minimum width of a bar, which keeps it visible if the bins are narrow."""


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
    """Draw the hatch pattern with an id derived from the picture's identifier."""
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

    ``template`` is the label of a bar, with {name}, {low}, {high} and {count}; ``format_value`` formats its
    numbers.
    """
    filled = [item for item in bins if item.count > 0]
    shapes = [
        label_mark(
            _draw_bar(item, plot_area, hatch_from, pattern_identifier),
            template.format(
                name=isolate_text(name),
                low=format_value(item.low),
                high=format_value(item.high),
                count=format_value(item.count),
            ),
            first=first and index == 0,
        )
        for index, item in enumerate(filled)
    ]
    return tag("g", *shapes, class_="series bars")


def _draw_bar(
    item: HistogramBin, plot_area: PlotArea, hatch_from: float | None, pattern_identifier: str
) -> Markup:
    """Draw the bar, split into two parts if the threshold is inside its bin."""
    top = plot_area.y_position(item.count)
    left, right = plot_area.x_position(item.low), plot_area.x_position(item.high)
    if hatch_from is None or item.high <= hatch_from:
        return tag("g", _draw_rectangle(left, right, top, plot_area.bottom, class_="bar"), class_="column")
    hatch_x = plot_area.x_position(max(item.low, hatch_from))
    above = _draw_rectangle(hatch_x, right, top, plot_area.bottom, class_="bar over")
    hatched = _draw_rectangle(
        hatch_x, right, top, plot_area.bottom, class_="hatched", fill=f"url(#{pattern_identifier}-hatch)"
    )
    if item.low >= hatch_from:
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
