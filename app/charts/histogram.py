"""How many individuals or permutations have which distance, against a threshold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from anoncup.messages import N_
from app.charts import marks
from app.charts.axes import axis, finite, known
from app.charts.bars import Bin, bars, beyond_pattern, bins_of
from app.charts.figure import Figure, LegendEntry
from app.charts.frame import EDGE, WIDTH, Plot, grid, level_axis, picture, plot, sides, vacant
from app.charts.svg import LETTER, fitted, short, tag, width_of
from app.charts.text import ChartWords

HEIGHT = 300.0
PANEL = 62.0
LINE = 1.25 * LETTER
"""From one line of text to the next."""


@dataclass(frozen=True, slots=True)
class HistogramWords(ChartWords):
    """``said``: the description, with {count}, {least}, {largest} (of the bins that hold something),
    {threshold}, {mean} and {beyond} (in bins wholly above the threshold); those unknown are written "–".

    ``point``: of a bar, with {low}, {high} and {count}; ``beyond``: what lies above the threshold.
    """

    title: str = N_("Distance of individuals from their originals")
    x: str = N_("Distance")
    y: str = N_("Individuals")
    low: str = N_("From")
    high: str = N_("To")
    threshold: str = N_("Threshold")
    mean: str = N_("Mean")
    beyond: str = N_("Beyond the threshold")
    none: str = N_("There is nothing to show yet.")
    said: str = N_(
        "Individuals: {count}, at distances from {least} to {largest}. Mean: {mean}; threshold: "
        "{threshold}; beyond the threshold: {beyond}."
    )
    point: str = N_("{low} – {high}: {count}")


def histogram(
    counts: Sequence[int],
    words: HistogramWords,
    *,
    least: float,
    largest: float,
    threshold: float | None = None,
    mean: float | None = None,
    each: bool = True,
    identifier: str = "histogram",
) -> Figure:
    """Counts in equal bins from ``least`` to ``largest``.

    ``each``: every one is held against the threshold, so what lies above it is hatched; else the mean is.
    """
    bins = bins_of(counts, least, largest)
    limit, middle = finite(threshold), finite(mean)
    beyond = limit if each else None
    return Figure(
        identifier,
        words.title,
        description(bins, limit, middle, words),
        drawn(bins, limit, middle, words, identifier, beyond=beyond),
        head=(words.low, words.high, words.y),
        rows=tuple((one.low, one.high, one.count) for one in bins),
        legend=legend(bins, beyond, words, identifier),
    )


def description(
    bins: Sequence[Bin], threshold: float | None, mean: float | None, words: HistogramWords
) -> str:
    held = [one for one in bins if one.count]
    if not held:
        return words.none
    above = None if threshold is None else sum(one.count for one in held if one.low >= threshold)
    return words.said.format(
        count=words.number(sum(one.count for one in held)),
        least=words.number(held[0].low),
        largest=words.number(held[-1].high),
        threshold=words.number(threshold),
        mean=words.number(mean),
        beyond=words.number(above),
    )


def legend(
    bins: Sequence[Bin], threshold: float | None, words: HistogramWords, identifier: str
) -> tuple[LegendEntry, ...]:
    if threshold is None or not any(one.count and one.high > threshold for one in bins):
        return ()
    box = {"x": -8, "y": -8, "width": 16, "height": 16}
    hatched = tag("rect", **box, fill=f"url(#{identifier}-hatch)", class_="hatched")
    drawing = marks.swatch("beyond", tag("rect", **box, class_="bar over"), hatched)
    return (LegendEntry("beyond", words.beyond, drawing),)


def drawn(
    bins: Sequence[Bin],
    threshold: float | None,
    mean: float | None,
    words: HistogramWords,
    identifier: str,
    *,
    beyond: float | None,
) -> Markup:
    ends = (*((bins[0].low, bins[-1].high) if bins else ()), threshold, mean)
    x = level_axis(ends, distance=True, signs=words.signs)
    y = axis([one.count for one in bins], zero=True, whole=True, most=5, signs=words.signs)
    room = plot(x, y, height=HEIGHT, top=2 * LETTER + 2.2 * LINE)
    if not any(one.count for one in bins):
        return vacant(identifier, room, HEIGHT, words.none, x_title=words.x, y_title=words.y)
    return picture(
        identifier,
        HEIGHT,
        beyond_pattern(identifier),
        grid(room, x_title=words.x, y_title=words.y, over=2.2 * LINE + 0.8 * LETTER),
        bars(bins, room, words.point, words.number, beyond=beyond, hatch=identifier),
        *rules(room, threshold, mean, words),
        live=True,
    )


def rules(room: Plot, threshold: float | None, mean: float | None, words: HistogramWords) -> list[Markup]:
    """The lines of threshold and mean; the name of the second, a row below, keeps off the first line."""
    drawn = []
    if threshold is not None:
        name = f"{words.threshold} {words.number(threshold)}"
        drawn.append(upright(room, threshold, name, "threshold", top=room.top - 1.7 * LINE))
    if mean is not None:
        side = 0 if threshold is None else -1 if mean <= threshold else 1
        name = f"{words.mean} {words.number(mean)}"
        drawn.append(upright(room, mean, name, "mean", top=room.top - 0.7 * LINE, side=side))
    return drawn


def upright(
    room: Plot,
    value: float,
    words: str,
    kind: str,
    *,
    top: float,
    side: int = 0,
    bands: Sequence[Plot] = (),
) -> Markup:
    """A line through the picture with its name on a row of its own: over it, or to one ``side`` of it.

    Where there are ``bands``, the line is drawn in them only, and not through the titles between them.
    """
    place = room.across(value)
    written = fitted(words, WIDTH - 2 * EDGE)
    half = width_of(written) / 2
    middle = min(max(place + side * (half - 2), EDGE + half), WIDTH - EDGE - half)
    spans = [(band.top, band.bottom) for band in bands] or [(top + 6, room.bottom)]
    path = "".join(f"M{short(place)} {short(begin)}V{short(end)}" for begin, end in spans)
    line = tag("path", class_="line", d=path)
    name = tag("text", written, x=middle, y=top, class_="label middle")
    return tag("g", line, name, class_=f"rule {kind}", aria_hidden="true")


@dataclass(frozen=True, slots=True)
class PanelWords(ChartWords):
    """``said``: the description, with {low}, {high} (of the interval) and {threshold};
    ``each`` follows for every histogram, with {name}, {count}, {least} and {largest}.
    """

    title: str = N_("Mean distance of cheats by permutation")
    x: str = N_("Mean distance of a permutation")
    name: str = N_("Kind of permutation")
    low: str = N_("From")
    high: str = N_("To")
    count: str = N_("Permutations")
    threshold: str = N_("Recommended")
    interval: str = N_("Possible thresholds")
    none: str = N_("There is nothing to show yet.")
    said: str = N_("Thresholds between {low} and {high} are possible; recommended: {threshold}.")
    each: str = N_("{name}: {count} permutations, mean distances from {least} to {largest}.")
    point: str = N_("{name}, {low} – {high}: {count}")


def histograms(
    kinds: Mapping[str, tuple[Sequence[int], float, float]],
    words: PanelWords,
    *,
    interval: tuple[float, float] | None = None,
    threshold: float | None = None,
    identifier: str = "histograms",
) -> Figure:
    """A small histogram (counts, least, largest) of each kind, over one axis; ``interval``: open, shaded."""
    all_bins = {name: bins_of(*of_kind) for name, of_kind in kinds.items()}
    panels = {name: bins for name, bins in all_bins.items() if any(one.count for one in bins)}
    limit = finite(threshold)
    return Figure(
        identifier,
        words.title,
        panel_description(panels, interval, limit, words),
        drawn_panels(panels, interval, limit, words, identifier),
        head=(words.name, words.low, words.high, words.count),
        rows=tuple((name, one.low, one.high, one.count) for name, bins in panels.items() for one in bins),
    )


def panel_description(
    panels: Mapping[str, Sequence[Bin]],
    interval: tuple[float, float] | None,
    threshold: float | None,
    words: PanelWords,
) -> str:
    if not panels:
        return words.none
    low, high = interval or (None, None)
    parts = [
        words.said.format(low=words.number(low), high=words.number(high), threshold=words.number(threshold))
    ]
    for name, bins in panels.items():
        held = [one for one in bins if one.count]
        least, largest = words.number(held[0].low), words.number(held[-1].high)
        count = words.number(sum(one.count for one in held))
        parts.append(words.each.format(name=name, count=count, least=least, largest=largest))
    return " ".join(parts)


def drawn_panels(
    panels: Mapping[str, Sequence[Bin]],
    interval: tuple[float, float] | None,
    threshold: float | None,
    words: PanelWords,
    identifier: str,
) -> Markup:
    ends = [end for bins in panels.values() for end in (bins[0].low, bins[-1].high)]
    x = level_axis([*ends, *(interval or ()), threshold], room=WIDTH - 40, distance=True, signs=words.signs)
    top, below = 1.6 * LINE + LINE, 3 * LETTER
    height = top + PANEL * max(len(panels), 2) + below
    flat = axis([])
    left, right = sides(x)
    whole = Plot(left, top, right, height - below, x, flat)
    if not panels:
        return vacant(identifier, whole, height, words.none, x_title=words.x, upright=False)
    return picture(
        identifier,
        height,
        shaded(whole, interval, words.interval, words.number),
        grid(whole, x_title=words.x, upright=False),
        *(panel(bins, whole, name, words, place=place) for place, (name, bins) in enumerate(panels.items())),
        *(
            [
                upright(
                    whole, threshold, f"{words.threshold} {words.number(threshold)}", "threshold", top=top - 8
                )
            ]
            if threshold is not None
            else []
        ),
        live=True,
    )


def shaded(
    room: Plot, interval: tuple[float, float] | None, name: str, number: Callable[[float], str]
) -> Markup:
    """The values between the ends of the interval, and both as a label above."""
    ends = known(interval or ())
    if len(ends) < 2 or ends[0] >= ends[1]:
        return Markup("")
    low, high = ends
    left, right = room.across(low), room.across(high)
    top = room.top - 1.15 * LINE
    area = tag("rect", x=left, y=top, width=max(right - left, 1), height=room.bottom - top, class_="interval")
    edges = tag(
        "path",
        class_="edge",
        d="".join(f"M{short(x)} {short(top)}V{short(room.bottom)}" for x in (left, right)),
    )
    written = fitted(f"{name} {number(low)} – {number(high)}", WIDTH - 2 * EDGE)
    half = width_of(written) / 2
    middle = min(max((left + right) / 2, EDGE + half), WIDTH - EDGE - half)
    label = tag("text", written, x=middle, y=top - 7, class_="aside middle")
    return tag("g", area, edges, label, aria_hidden="true")


def panel(bins: Sequence[Bin], whole: Plot, name: str, words: PanelWords, *, place: int) -> Markup:
    """One of the small histograms, under its name and as high as its largest count."""
    bottom = whole.top + (place + 1) * PANEL
    y = axis([one.count for one in bins], zero=True)
    room = Plot(whole.left, bottom - PANEL + 1.3 * LETTER, whole.right, bottom, whole.x, y)
    base = tag("path", class_="axis", d=f"M{short(room.left)} {short(bottom)}H{short(room.right)}")
    written = fitted(name, whole.right - whole.left)
    said = tag("text", written, x=room.left, y=bottom - PANEL + LETTER, class_="label", aria_hidden="true")
    return base + bars(bins, room, words.point, words.number, name=name, first=place == 0) + said
