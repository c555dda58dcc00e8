"""Histograms of the distances of individuals or permutations, with a threshold.

The part above a threshold is hatched, so that colour is not the only difference.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from anoncup.messages import N_
from app.charts import marks
from app.charts.axes import build_axis, clamp_finite, keep_finite
from app.charts.figure import Figure, LegendEntry
from app.charts.frame import (
    PICTURE_MARGIN,
    PICTURE_WIDTH,
    PlotArea,
    build_horizontal_axis,
    build_picture,
    draw_empty,
    draw_grid,
    fit_plot_area,
    fit_sides,
    label_mark,
)
from app.charts.svg import MAX_FONT_SIZE, estimate_text_width, format_coordinate, isolate_text, shorten, tag
from app.charts.text import ChartWords

_HEIGHT = 300.0
_PANEL_HEIGHT = 62.0
LINE_HEIGHT = 1.25 * MAX_FONT_SIZE
"""Distance between lines of text."""
_MIN_BAR_WIDTH = 1.0
"""Minimum width of a bar, so that bars of narrow bins stay visible."""


@dataclass(frozen=True, slots=True)
class HistogramWords(ChartWords):
    """Texts of a histogram.

    ``summary`` is the description, with {count}, {least} and {largest} (the limits of the bins that are not
    empty), {threshold}, {mean} and {beyond} (the count in bins wholly above the threshold); unknown numbers
    are written "–". ``point`` is the label of a bar, with {low}, {high} and {count}. ``above`` is the legend
    of the part above the threshold.
    """

    title: str = N_("Distance of individuals from their originals")
    x: str = N_("Distance")
    y: str = N_("Individuals")
    low: str = N_("From")
    high: str = N_("To")
    threshold: str = N_("Threshold")
    mean: str = N_("Mean")
    above: str = N_("Beyond the threshold")
    empty: str = N_("There is nothing to show yet.")
    summary: str = N_(
        "Individuals: {count}, at distances from {least} to {largest}. Mean: {mean}; threshold: "
        "{threshold}; beyond the threshold: {beyond}."
    )
    point: str = N_("{low} – {high}: {count}")


@dataclass(frozen=True, slots=True)
class HistogramBin:
    low: float
    high: float
    count: int


def build_histogram(
    counts: Sequence[int],
    words: HistogramWords,
    *,
    minimum: float,
    maximum: float,
    threshold: float | None = None,
    mean: float | None = None,
    per_individual: bool = True,
    identifier: str = "histogram",
) -> Figure:
    """Build a histogram of counts in equal bins from ``minimum`` to ``maximum``.

    If ``per_individual``, the threshold applies to every individual, so the part above it is hatched.
    Otherwise it applies to the mean.
    """
    bins = build_bins(counts, minimum, maximum)
    finite_threshold, finite_mean = clamp_finite(threshold), clamp_finite(mean)
    hatch_from = finite_threshold if per_individual else None
    return Figure(
        identifier,
        words.title,
        _describe_histogram(bins, finite_threshold, finite_mean, words),
        _draw_histogram(bins, finite_threshold, finite_mean, words, identifier, hatch_from=hatch_from),
        head=(words.low, words.high, words.y),
        rows=tuple((histogram_bin.low, histogram_bin.high, histogram_bin.count) for histogram_bin in bins),
        legend=_build_legend(bins, hatch_from, words, identifier),
    )


def _describe_histogram(
    bins: Sequence[HistogramBin], threshold: float | None, mean: float | None, words: HistogramWords
) -> str:
    filled = [histogram_bin for histogram_bin in bins if histogram_bin.count]
    if not filled:
        return words.empty
    above = (
        None
        if threshold is None
        else sum(histogram_bin.count for histogram_bin in filled if histogram_bin.low >= threshold)
    )
    return words.summary.format(
        count=words.format_number(sum(histogram_bin.count for histogram_bin in filled)),
        least=words.format_number(filled[0].low),
        largest=words.format_number(filled[-1].high),
        threshold=words.format_number(threshold),
        mean=words.format_number(mean),
        beyond=words.format_number(above),
    )


def _build_legend(
    bins: Sequence[HistogramBin], threshold: float | None, words: HistogramWords, identifier: str
) -> tuple[LegendEntry, ...]:
    if threshold is None or not any(
        histogram_bin.count and histogram_bin.high > threshold for histogram_bin in bins
    ):
        return ()
    box = {"x": -8, "y": -8, "width": 16, "height": 16}
    hatched = tag("rect", **box, fill=f"url(#{identifier}-hatch)", class_="hatched")
    swatch = marks.swatch("beyond", tag("rect", **box, class_="bar over"), hatched)
    return (LegendEntry("beyond", words.above, swatch),)


def _draw_histogram(
    bins: Sequence[HistogramBin],
    threshold: float | None,
    mean: float | None,
    words: HistogramWords,
    identifier: str,
    *,
    hatch_from: float | None,
) -> Markup:
    ends = (*((bins[0].low, bins[-1].high) if bins else ()), threshold, mean)
    x = build_horizontal_axis(ends, non_negative=True, localize=words.localize)
    y = build_axis(
        [histogram_bin.count for histogram_bin in bins],
        from_zero=True,
        is_integer=True,
        max_steps=5,
        localize=words.localize,
    )
    plot_area = fit_plot_area(x, y, height=_HEIGHT, top=2 * MAX_FONT_SIZE + 2.2 * LINE_HEIGHT)
    if not any(histogram_bin.count for histogram_bin in bins):
        return draw_empty(identifier, plot_area, _HEIGHT, words.empty, x_title=words.x, y_title=words.y)
    return build_picture(
        identifier,
        _HEIGHT,
        _draw_hatch_pattern(identifier),
        draw_grid(
            plot_area, x_title=words.x, y_title=words.y, title_gap=2.2 * LINE_HEIGHT + 0.8 * MAX_FONT_SIZE
        ),
        _draw_bars(
            bins,
            plot_area,
            words.point,
            words.format_number,
            hatch_from=hatch_from,
            pattern_identifier=identifier,
        ),
        *_draw_rules(plot_area, threshold, mean, words),
        is_interactive=True,
    )


def _draw_rules(
    plot_area: PlotArea, threshold: float | None, mean: float | None, words: HistogramWords
) -> list[Markup]:
    """Draw the lines of threshold and mean.

    The label of the mean is one row lower, on the side of its line where the threshold's line is not.
    """
    lines = []
    if threshold is not None:
        name = f"{words.threshold} {words.format_number(threshold)}"
        lines.append(
            draw_vertical_rule(plot_area, threshold, name, "threshold", top=plot_area.top - 1.7 * LINE_HEIGHT)
        )
    if mean is not None:
        side = 0 if threshold is None else -1 if mean <= threshold else 1
        name = f"{words.mean} {words.format_number(mean)}"
        lines.append(
            draw_vertical_rule(
                plot_area, mean, name, "mean", top=plot_area.top - 0.7 * LINE_HEIGHT, side=side
            )
        )
    return lines


def draw_vertical_rule(
    plot_area: PlotArea,
    value: float,
    words: str,
    kind: str,
    *,
    top: float,
    side: int = 0,
    bands: Sequence[PlotArea] = (),
) -> Markup:
    """Draw a vertical line with its label above the plot.

    The label is centred (``side`` 0), or left (-1) or right (1) of the line. With ``bands``, the line is only
    drawn inside them, and not through the titles between them.
    """
    x = plot_area.x_position(value)
    label = shorten(words, PICTURE_WIDTH - 2 * PICTURE_MARGIN)
    half_width = estimate_text_width(label) / 2
    label_x = min(
        max(x + side * (half_width - 2), PICTURE_MARGIN + half_width),
        PICTURE_WIDTH - PICTURE_MARGIN - half_width,
    )
    spans = [(band.top, band.bottom) for band in bands] or [(top + 6, plot_area.bottom)]
    path = "".join(
        f"M{format_coordinate(x)} {format_coordinate(begin)}V{format_coordinate(end)}" for begin, end in spans
    )
    line = tag("path", class_="line", d=path)
    name = tag("text", label, x=label_x, y=top, class_="label middle")
    return tag("g", line, name, class_=f"rule {kind}", aria_hidden="true")


@dataclass(frozen=True, slots=True)
class PanelWords(ChartWords):
    """Texts of the histograms by kind of permutation.

    ``summary`` is the description, with {low} and {high} (the limits of the interval) and {threshold}. It is
    followed by a ``panel_summary`` for each histogram, with {name}, {count}, {least} and {largest}.
    """

    title: str = N_("Mean distance of cheats by permutation")
    x: str = N_("Mean distance of a permutation")
    name: str = N_("Kind of permutation")
    low: str = N_("From")
    high: str = N_("To")
    count: str = N_("Permutations")
    threshold: str = N_("Recommended")
    interval: str = N_("Possible thresholds")
    empty: str = N_("There is nothing to show yet.")
    summary: str = N_("Thresholds between {low} and {high} are possible; recommended: {threshold}.")
    panel_summary: str = N_("{name}: {count} permutations, mean distances from {least} to {largest}.")
    point: str = N_("{name}, {low} – {high}: {count}")


def build_histogram_panels(
    kinds: Mapping[str, tuple[Sequence[int], float, float]],
    words: PanelWords,
    *,
    interval: tuple[float, float] | None = None,
    threshold: float | None = None,
    identifier: str = "histograms",
) -> Figure:
    """Build one small histogram for each kind, all over the same axis.

    ``kinds`` maps names to counts, minimum and maximum. ``interval`` is the open interval of the possible
    thresholds, drawn as a shaded area.
    """
    all_bins = {name: build_bins(*panel_values) for name, panel_values in kinds.items()}
    panels = {
        name: bins for name, bins in all_bins.items() if any(histogram_bin.count for histogram_bin in bins)
    }
    finite_threshold = clamp_finite(threshold)
    return Figure(
        identifier,
        words.title,
        _describe_panels(panels, interval, finite_threshold, words),
        _draw_panels(panels, interval, finite_threshold, words, identifier),
        head=(words.name, words.low, words.high, words.count),
        rows=tuple(
            (name, histogram_bin.low, histogram_bin.high, histogram_bin.count)
            for name, bins in panels.items()
            for histogram_bin in bins
        ),
    )


def _describe_panels(
    panels: Mapping[str, Sequence[HistogramBin]],
    interval: tuple[float, float] | None,
    threshold: float | None,
    words: PanelWords,
) -> str:
    if not panels:
        return words.empty
    low, high = interval or (None, None)
    parts = [
        words.summary.format(
            low=words.format_number(low),
            high=words.format_number(high),
            threshold=words.format_number(threshold),
        )
    ]
    for name, bins in panels.items():
        filled = [histogram_bin for histogram_bin in bins if histogram_bin.count]
        minimum, maximum = words.format_number(filled[0].low), words.format_number(filled[-1].high)
        count = words.format_number(sum(histogram_bin.count for histogram_bin in filled))
        parts.append(words.panel_summary.format(name=name, count=count, least=minimum, largest=maximum))
    return " ".join(parts)


def _draw_panels(
    panels: Mapping[str, Sequence[HistogramBin]],
    interval: tuple[float, float] | None,
    threshold: float | None,
    words: PanelWords,
    identifier: str,
) -> Markup:
    limits = [limit for bins in panels.values() for limit in (bins[0].low, bins[-1].high)]
    x = build_horizontal_axis(
        [*limits, *(interval or ()), threshold],
        max_width=PICTURE_WIDTH - 40,
        non_negative=True,
        localize=words.localize,
    )
    top, below = 1.6 * LINE_HEIGHT + LINE_HEIGHT, 3 * MAX_FONT_SIZE
    height = top + _PANEL_HEIGHT * max(len(panels), 2) + below
    y = build_axis([])
    left, right = fit_sides(x)
    panels_area = PlotArea(left, top, right, height - below, x, y)
    if not panels:
        return draw_empty(identifier, panels_area, height, words.empty, x_title=words.x, with_left_axis=False)
    return build_picture(
        identifier,
        height,
        draw_interval(panels_area, interval, words.interval, words.format_number),
        draw_grid(panels_area, x_title=words.x, with_left_axis=False),
        *(
            _draw_panel(bins, panels_area, name, words, index=index)
            for index, (name, bins) in enumerate(panels.items())
        ),
        *(
            [
                draw_vertical_rule(
                    panels_area,
                    threshold,
                    f"{words.threshold} {words.format_number(threshold)}",
                    "threshold",
                    top=top - 8,
                )
            ]
            if threshold is not None
            else []
        ),
        is_interactive=True,
    )


def draw_interval(
    plot_area: PlotArea, interval: tuple[float, float] | None, name: str, format_value: Callable[[float], str]
) -> Markup:
    """Draw the interval as a shaded area, with a label above that gives both ends."""
    ends = keep_finite(interval or ())
    if len(ends) < 2 or ends[0] >= ends[1]:
        return Markup("")
    low, high = ends
    left, right = plot_area.x_position(low), plot_area.x_position(high)
    top = plot_area.top - 1.15 * LINE_HEIGHT
    area = tag(
        "rect", x=left, y=top, width=max(right - left, 1), height=plot_area.bottom - top, class_="interval"
    )
    edges = tag(
        "path",
        class_="edge",
        d="".join(
            f"M{format_coordinate(x)} {format_coordinate(top)}V{format_coordinate(plot_area.bottom)}"
            for x in (left, right)
        ),
    )
    label_text = shorten(
        f"{name} {format_value(low)} – {format_value(high)}", PICTURE_WIDTH - 2 * PICTURE_MARGIN
    )
    half_width = estimate_text_width(label_text) / 2
    label_x = min(
        max((left + right) / 2, PICTURE_MARGIN + half_width), PICTURE_WIDTH - PICTURE_MARGIN - half_width
    )
    label = tag("text", label_text, x=label_x, y=top - 7, class_="aside middle")
    return tag("g", area, edges, label, aria_hidden="true")


def _draw_panel(
    bins: Sequence[HistogramBin], panels_area: PlotArea, name: str, words: PanelWords, *, index: int
) -> Markup:
    """Draw one small histogram under its name, scaled to its largest count."""
    bottom = panels_area.top + (index + 1) * _PANEL_HEIGHT
    y = build_axis([histogram_bin.count for histogram_bin in bins], from_zero=True)
    plot_area = PlotArea(
        panels_area.left,
        bottom - _PANEL_HEIGHT + 1.3 * MAX_FONT_SIZE,
        panels_area.right,
        bottom,
        panels_area.x,
        y,
    )
    base = tag(
        "path",
        class_="axis",
        d=f"M{format_coordinate(plot_area.left)} {format_coordinate(bottom)}H{format_coordinate(plot_area.right)}",
    )
    title_text = shorten(name, panels_area.right - panels_area.left)
    title = tag(
        "text",
        title_text,
        x=plot_area.left,
        y=bottom - _PANEL_HEIGHT + MAX_FONT_SIZE,
        class_="label",
        aria_hidden="true",
    )
    return (
        base
        + _draw_bars(bins, plot_area, words.point, words.format_number, name=name, first=index == 0)
        + title
    )


def build_bins(counts: Sequence[int], minimum: float, maximum: float) -> list[HistogramBin]:
    """Return equal bins over the range; none if the range is empty or unknown."""
    low, high = clamp_finite(minimum), clamp_finite(maximum)
    if low is None or high is None or high < low or not counts:
        return []
    width = (high - low) / len(counts)
    edges = [low + index * width for index in range(len(counts))] + [high]
    return [HistogramBin(edges[index], edges[index + 1], int(count)) for index, count in enumerate(counts)]


def _draw_hatch_pattern(identifier: str) -> Markup:
    """Draw the definition of the hatch pattern; its id is derived from the picture's identifier."""
    stroke = tag("path", d="M-1 1L1 -1M0 6L6 0M5 7L7 5", class_="hatch")
    pattern = tag(
        "pattern", stroke, id=f"{identifier}-hatch", width=6, height=6, patternUnits="userSpaceOnUse"
    )
    return tag("defs", pattern)


def _draw_bars(
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
