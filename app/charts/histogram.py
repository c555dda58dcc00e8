"""Histograms of the distances of individuals or permutations, with a threshold.

The part above a threshold is hatched, so that colour is not the only difference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from anoncup.messages import N_
from app.charts import marks
from app.charts.axes import build_axis
from app.charts.figure import Figure, LegendEntry
from app.charts.frame import (
    LINE_HEIGHT,
    PICTURE_WIDTH,
    PlotArea,
    build_horizontal_axis,
    build_picture,
    draw_empty,
    draw_grid,
    draw_interval,
    draw_vertical_rule,
    fit_plot_area,
    fit_sides,
    label_mark,
)
from app.charts.numbers import clamp_finite
from app.charts.svg import MAX_FONT_SIZE, build_outline, draw_path, isolate_text, shorten, tag
from app.charts.text import ChartWords

_HEIGHT = 300.0
_PANEL_HEIGHT = 62.0
_MIN_BAR_WIDTH = 1.0
"""Minimum width of a bar, so that bars of narrow bins stay visible."""
_IDENTIFIER, _PANELS_IDENTIFIER = "distances", "simulated"
_HATCH_PATTERN = "distances-hatch"


@dataclass(frozen=True, slots=True)
class HistogramWords(ChartWords):
    """Texts of a histogram.

    ``summary`` is the description, with {count}, {least} and {largest} (the limits of the bins that are not
    empty). ``point_label`` is the label of a bar, with {low}, {high} and {count}. ``above`` is the legend
    of the part above the threshold.
    """

    title: str = N_("Individuals by their distance to their own original")
    x_title: str = N_("Distance")
    y_title: str = N_("Individuals")
    low: str = N_("Low")
    high: str = N_("High")
    threshold: str = N_("Threshold")
    mean: str = N_("Mean")
    above: str = N_("Beyond the threshold")
    empty: str = N_("No distances are known.")
    summary: str = N_("{count} individuals, at distances from {least} to {largest}.")
    point_label: str = N_("{low} – {high}: {count}")


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
) -> Figure:
    """Build a histogram of counts in equal bins from ``minimum`` to ``maximum``.

    If ``per_individual``, the threshold applies to every individual, so the part above it is hatched.
    Otherwise it applies to the mean.
    """
    bins = build_bins(counts, minimum, maximum)
    finite_threshold, finite_mean = clamp_finite(threshold), clamp_finite(mean)
    hatch_from = finite_threshold if per_individual else None
    return Figure(
        _IDENTIFIER,
        words.title,
        _describe_histogram(bins, words),
        _draw_histogram(bins, finite_threshold, finite_mean, words, hatch_from=hatch_from),
        head=(words.low, words.high, words.y_title),
        rows=tuple((bar.low, bar.high, bar.count) for bar in bins),
        legend=_build_legend(bins, hatch_from, words),
    )


def _describe_histogram(bins: Sequence[HistogramBin], words: HistogramWords) -> str:
    filled = [bar for bar in bins if bar.count]
    if not filled:
        return words.empty
    count = sum(bar.count for bar in filled)
    return words.fill(words.summary, count=count, least=filled[0].low, largest=filled[-1].high)


def _build_legend(
    bins: Sequence[HistogramBin], threshold: float | None, words: HistogramWords
) -> tuple[LegendEntry, ...]:
    if threshold is None or not any(bar.count and bar.high > threshold for bar in bins):
        return ()
    box = {"x": -8, "y": -8, "width": 16, "height": 16}
    hatched = tag("rect", **box, fill=f"url(#{_HATCH_PATTERN})", class_="hatched")
    swatch = marks.swatch("beyond", tag("rect", **box, class_="bar over"), hatched)
    return (LegendEntry("beyond", words.above, swatch),)


def _draw_histogram(
    bins: Sequence[HistogramBin],
    threshold: float | None,
    mean: float | None,
    words: HistogramWords,
    *,
    hatch_from: float | None,
) -> Markup:
    ends = (*((bins[0].low, bins[-1].high) if bins else ()), threshold, mean)
    x = build_horizontal_axis(ends, non_negative=True, localize=words.localize)
    y = build_axis(
        [bar.count for bar in bins], from_zero=True, is_integer=True, max_steps=5, localize=words.localize
    )
    plot_area = fit_plot_area(x, y, height=_HEIGHT, top=2 * MAX_FONT_SIZE + 2.2 * LINE_HEIGHT)
    if not any(bar.count for bar in bins):
        return draw_empty(
            _IDENTIFIER, plot_area, _HEIGHT, words.empty, x_title=words.x_title, y_title=words.y_title
        )
    return build_picture(
        _IDENTIFIER,
        _HEIGHT,
        _draw_hatch_pattern(),
        draw_grid(
            plot_area,
            x_title=words.x_title,
            y_title=words.y_title,
            title_gap=2.2 * LINE_HEIGHT + 0.8 * MAX_FONT_SIZE,
        ),
        _draw_bars(bins, plot_area, words, words.point_label, hatch_from=hatch_from),
        _draw_rules(plot_area, threshold, mean, words),
        is_interactive=True,
    )


def _draw_rules(
    plot_area: PlotArea, threshold: float | None, mean: float | None, words: HistogramWords
) -> Markup:
    """Draw the lines of threshold and mean.

    The label of the mean is one row lower, on the side of its line where the threshold's line is not.
    """
    side = 0 if threshold is None or mean is None else -1 if mean <= threshold else 1
    threshold_label = f"{words.threshold} {words.format_number(threshold)}"
    mean_label, top = f"{words.mean} {words.format_number(mean)}", plot_area.top - 0.7 * LINE_HEIGHT
    return draw_vertical_rule(
        plot_area, threshold, threshold_label, "threshold", top=top - LINE_HEIGHT
    ) + draw_vertical_rule(plot_area, mean, mean_label, "mean", top=top, side=side)


@dataclass(frozen=True, slots=True)
class PanelWords(ChartWords):
    """Texts of the histograms by kind of permutation.

    ``summary`` is the description, with {low} and {high} (the limits of the interval); without an interval or
    a threshold, ``summary_unguaranteed`` replaces it. It is followed by a ``panel_summary`` for each
    histogram, with {name}, {count}, {least} and {largest}.
    """

    title: str = N_("Mean distance of cheats")
    x_title: str = N_("Mean distance")
    name: str = N_("Cheat")
    low: str = N_("From")
    high: str = N_("To")
    count: str = N_("Permutations")
    threshold: str = N_("Threshold")
    interval: str = N_("guaranteed")
    empty: str = N_("Nothing was simulated.")
    summary: str = N_(
        "Mean distances of simulated cheats. Every threshold between {low} and {high} is guaranteed to stop "
        "them."
    )
    summary_unguaranteed: str = N_(
        "Mean distances of simulated cheats; no threshold is guaranteed to stop them and to leave room."
    )
    panel_summary: str = N_("{name}: {count} permutations, from {least} to {largest}.")
    point_label: str = N_("{name}, {low} – {high}: {count}")


def build_histogram_panels(
    kinds: Mapping[str, tuple[Sequence[int], float, float]],
    words: PanelWords,
    *,
    interval: tuple[float, float] | None = None,
    threshold: float | None = None,
) -> Figure:
    """Build one small histogram for each kind, all over the same axis.

    ``kinds`` maps names to counts, minimum and maximum. ``interval`` is the open interval of the possible
    thresholds, drawn as a shaded area.
    """
    all_bins = {name: build_bins(*panel_values) for name, panel_values in kinds.items()}
    panels = {name: bins for name, bins in all_bins.items() if any(bar.count for bar in bins)}
    finite_threshold = clamp_finite(threshold)
    return Figure(
        _PANELS_IDENTIFIER,
        words.title,
        _describe_panels(panels, interval, finite_threshold, words),
        _draw_panels(panels, interval, finite_threshold, words),
        head=(words.name, words.low, words.high, words.count),
        rows=tuple((name, bar.low, bar.high, bar.count) for name, bins in panels.items() for bar in bins),
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
    is_guaranteed = interval is not None and threshold is not None
    summary = words.summary if is_guaranteed else words.summary_unguaranteed
    parts = [words.fill(summary, low=low, high=high)]
    for name, bins in panels.items():
        filled = [bar for bar in bins if bar.count]
        count = sum(bar.count for bar in filled)
        parts.append(
            words.fill(
                words.panel_summary, name=name, count=count, least=filled[0].low, largest=filled[-1].high
            )
        )
    return " ".join(parts)


def _draw_panels(
    panels: Mapping[str, Sequence[HistogramBin]],
    interval: tuple[float, float] | None,
    threshold: float | None,
    words: PanelWords,
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
        return draw_empty(
            _PANELS_IDENTIFIER, panels_area, height, words.empty, x_title=words.x_title, with_left_axis=False
        )
    return build_picture(
        _PANELS_IDENTIFIER,
        height,
        draw_interval(panels_area, interval, _label_interval(interval, words)),
        draw_grid(panels_area, x_title=words.x_title, with_left_axis=False),
        *(
            _draw_panel(bins, panels_area, name, words, index=index)
            for index, (name, bins) in enumerate(panels.items())
        ),
        draw_vertical_rule(
            panels_area,
            threshold,
            f"{words.threshold} {words.format_number(threshold)}",
            "threshold",
            top=top - 8,
        ),
        is_interactive=True,
    )


def _label_interval(interval: tuple[float, float] | None, words: PanelWords) -> str:
    low, high = interval or (None, None)
    return words.fill("{name} {low} – {high}", name=words.interval, low=low, high=high)


def _draw_panel(
    bins: Sequence[HistogramBin], panels_area: PlotArea, name: str, words: PanelWords, *, index: int
) -> Markup:
    """Draw one small histogram under its name, scaled to its largest count."""
    bottom = panels_area.top + (index + 1) * _PANEL_HEIGHT
    y = build_axis([bar.count for bar in bins], from_zero=True)
    plot_area = PlotArea(
        panels_area.left,
        bottom - _PANEL_HEIGHT + 1.3 * MAX_FONT_SIZE,
        panels_area.right,
        bottom,
        panels_area.x,
        y,
    )
    base = draw_path("M", plot_area.left, bottom, "H", plot_area.right, class_="axis")
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
        + _draw_bars(bins, plot_area, words, words.point_label, name=name, is_first_focusable=index == 0)
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


def _draw_hatch_pattern() -> Markup:
    """Draw the definition of the hatch pattern."""
    stroke = tag("path", d="M-1 1L1 -1M0 6L6 0M5 7L7 5", class_="hatch")
    pattern = tag("pattern", stroke, id=_HATCH_PATTERN, width=6, height=6, patternUnits="userSpaceOnUse")
    return tag("defs", pattern)


def _draw_bars(
    bins: Sequence[HistogramBin],
    plot_area: PlotArea,
    words: ChartWords,
    template: str,
    *,
    hatch_from: float | None = None,
    name: str = "",
    is_first_focusable: bool = True,
) -> Markup:
    """Draw a bar for each bin that is not empty.

    ``template`` is the label of a bar, with {name}, {low}, {high} and {count}. Bars are hatched from
    ``hatch_from`` on. If ``is_first_focusable``, the tab key reaches the first bar.
    """
    filled = [bar for bar in bins if bar.count > 0]
    shapes = [
        label_mark(
            _draw_bar(bar, plot_area, hatch_from),
            words.fill(template, name=isolate_text(name), low=bar.low, high=bar.high, count=bar.count),
            is_focusable=is_first_focusable and index == 0,
        )
        for index, bar in enumerate(filled)
    ]
    return tag("g", *shapes, class_="series bars")


def _draw_bar(bar: HistogramBin, plot_area: PlotArea, hatch_from: float | None) -> Markup:
    """Draw the bar, split into two parts if the threshold is inside its bin."""
    top = plot_area.y_position(bar.count)
    left, right = plot_area.x_position(bar.low), plot_area.x_position(bar.high)
    if hatch_from is None or bar.high <= hatch_from:
        return tag("g", _draw_rectangle(left, right, top, plot_area.bottom, class_="bar"), class_="column")
    hatch_x = plot_area.x_position(max(bar.low, hatch_from))
    above = _draw_rectangle(hatch_x, right, top, plot_area.bottom, class_="bar over")
    hatched = _draw_rectangle(
        hatch_x, right, top, plot_area.bottom, class_="hatched", fill=f"url(#{_HATCH_PATTERN})"
    )
    if bar.low >= hatch_from:
        return tag("g", above, hatched, class_="column")
    below = _draw_rectangle(left, hatch_x + 0.6, top, plot_area.bottom, class_="bar")
    return tag("g", below, above, hatched, class_="column")


def _draw_rectangle(left: float, right: float, top: float, bottom: float, **attributes: str) -> Markup:
    width = max(right - left - 0.6, _MIN_BAR_WIDTH)
    return tag(
        "path", d=build_outline("M", left, bottom, "V", top, "h", width, "V", bottom, "Z"), **attributes
    )
