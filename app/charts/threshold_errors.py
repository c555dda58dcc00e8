"""Chart of both errors of a threshold: how many honest releases it rejects, and how many cheats it accepts.

Each error and each kind of release has a band of its own over a common axis.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise

from markupsafe import Markup

from anoncup.messages import N_
from app.charts import marks
from app.charts.axes import Axis, build_axis
from app.charts.figure import Figure, LegendEntry
from app.charts.frame import (
    LINE_HEIGHT,
    PlotArea,
    build_horizontal_axis,
    build_picture,
    draw_empty,
    draw_grid,
    draw_interval,
    draw_vertical_rule,
    fit_sides,
    label_mark,
)
from app.charts.histogram import label_interval
from app.charts.numbers import clamp_finite
from app.charts.strip import GOLDEN_FRACTION
from app.charts.svg import MAX_FONT_SIZE, isolate_text, shorten, tag
from app.charts.text import ChartWords

_BAND_TITLE_HEIGHT = 1.4 * MAX_FONT_SIZE
_SHARE_BAND_HEIGHT, _RELEASE_BAND_HEIGHT = 58.0, 56.0
"""Heights of a band with a share, and of a band with releases, without their titles."""
_BAND_GAP = 10.0
_SHARE_AXIS = Axis(0.0, 1.0, (), ())
_IDENTIFIER = "errors"


@dataclass(frozen=True, slots=True)
class SampleRelease:
    """A release made by a sample method, which ``name`` describes, and its mean distance."""

    name: str
    mean: float


@dataclass(frozen=True, slots=True)
class SimulatedCheats:
    """Counts of simulated permutations by mean distance; each bin lies between consecutive ``edges``."""

    counts: Sequence[int]
    edges: Sequence[float]

    def share_below(self, distance: float) -> float:
        """Return the share of permutations up to a distance, interpolated linearly within a bin."""
        passing_count = 0.0
        for count, (low, high) in zip(self.counts, pairwise(self.edges), strict=True):
            passing_count += (
                count * min(max((distance - low) / (high - low), 0.0), 1.0) if high > low else 0.0
            )
        return passing_count / max(sum(self.counts), 1)


@dataclass(frozen=True, slots=True)
class ErrorWords(ChartWords):
    """Texts of the chart of errors.

    ``summary`` is the description, with {honest} (the largest mean distance of a sample release), {cheats}
    (the smallest of a simulated cheat) and {threshold}. ``point_label`` is the label of a release, with
    {name} and {value}.
    """

    title: str = N_("Both errors of a threshold")
    x_title: str = N_("Threshold, mean distance")
    rejected: str = N_("Honest releases rejected, 0–100%")
    honest: str = N_("Sample releases")
    mixed: str = N_("Sample releases with a cheat inside")
    passing: str = N_("Simulated cheats accepted, 0–100%")
    threshold: str = N_("Recommended")
    interval: str = N_("guaranteed")
    release: str = N_("Release")
    kind: str = N_("Kind")
    value: str = N_("Mean distance")
    empty: str = N_("There is nothing to show yet.")
    summary: str = N_(
        "Sample releases have distances up to {honest}, simulated cheats from {cheats}. Recommended "
        "threshold: {threshold}. The curve of cheats shows the kind that passes most often."
    )
    point_label: str = N_("{name}: {value}")


def build_threshold_errors(
    honest: Sequence[SampleRelease],
    mixed: Sequence[SampleRelease],
    cheats: Mapping[str, SimulatedCheats],
    words: ErrorWords,
    *,
    interval: tuple[float, float] | None = None,
    threshold: float | None = None,
) -> Figure:
    """Build a band for each error, and between them a band of marks for each kind of release.

    Releases and cheats without finite, non-negative distances are left out.
    """
    honest, mixed = (
        [release for release in releases if _is_distance(release.mean)] for releases in (honest, mixed)
    )
    cheats = {name: item for name, item in cheats.items() if all(map(_is_distance, item.edges))}
    kinds = ((words.honest, honest), (words.mixed, mixed))
    return Figure(
        _IDENTIFIER,
        words.title,
        _describe_errors(honest, cheats, threshold, words),
        _draw_errors(honest, mixed, cheats, words, interval=interval, threshold=clamp_finite(threshold)),
        head=(words.release, words.kind, words.value),
        rows=tuple((release.name, kind, release.mean) for kind, group in kinds for release in group),
        legend=_build_legend(mixed, words),
    )


def _is_distance(value: float) -> bool:
    return (clamp_finite(value) or 0.0) >= 0.0 and clamp_finite(value) is not None


def _describe_errors(
    honest: Sequence[SampleRelease],
    cheats: Mapping[str, SimulatedCheats],
    threshold: float | None,
    words: ErrorWords,
) -> str:
    if not honest:
        return words.empty
    return words.fill(
        words.summary,
        honest=max(release.mean for release in honest),
        cheats=min((simulation.edges[0] for simulation in cheats.values()), default=None),
        threshold=threshold,
    )


def _draw_errors(
    honest: Sequence[SampleRelease],
    mixed: Sequence[SampleRelease],
    cheats: Mapping[str, SimulatedCheats],
    words: ErrorWords,
    *,
    interval: tuple[float, float] | None,
    threshold: float | None,
) -> Markup:
    farthest = [*(simulation.edges[-1] for simulation in cheats.values()), max(threshold or 0.0, 0.0)]
    means = [release.mean for release in (*honest, *mixed)]
    x = build_horizontal_axis([*means, *farthest], from_zero=True, non_negative=True, localize=words.localize)
    top = 2.6 * LINE_HEIGHT
    heights = [
        _SHARE_BAND_HEIGHT,
        _RELEASE_BAND_HEIGHT,
        *([_RELEASE_BAND_HEIGHT] if mixed else []),
        *([_SHARE_BAND_HEIGHT] if cheats else []),
    ]
    bottom = top + sum(_BAND_TITLE_HEIGHT + inner_height + _BAND_GAP for inner_height in heights)
    left, right = fit_sides(x)
    plot_area, height = PlotArea(left, top, right, bottom, x, build_axis([])), bottom + 3 * MAX_FONT_SIZE
    if not honest:
        return draw_empty(
            _IDENTIFIER, plot_area, height, words.empty, x_title=words.x_title, with_left_axis=False
        )
    tops = accumulate(
        (_BAND_TITLE_HEIGHT + inner_height + _BAND_GAP for inner_height in heights), initial=top
    )
    bands = [
        PlotArea(
            left,
            band_top + _BAND_TITLE_HEIGHT,
            right,
            band_top + _BAND_TITLE_HEIGHT + band_height,
            x,
            _SHARE_AXIS,
        )
        for band_top, band_height in zip(tops, heights, strict=False)
    ]
    parts = [
        _draw_area(bands[0], compute_rejection_curve(honest), words.rejected, "honest"),
        _draw_dots(bands[1], honest, words.honest, words, "honest"),
    ]
    if mixed:
        parts.append(_draw_dots(bands[2], mixed, words.mixed, words, "mixed"))
    if cheats:
        parts.append(_draw_area(bands[-1], compute_acceptance_curve(cheats), words.passing, "cheats"))
    return build_picture(
        _IDENTIFIER,
        height,
        draw_interval(plot_area, interval, label_interval(words.interval, interval, words)),
        draw_grid(plot_area, x_title=words.x_title, with_left_axis=False),
        draw_vertical_rule(
            plot_area,
            threshold,
            f"{words.threshold} {words.format_number(threshold)}",
            "threshold",
            top=top - 8,
            bands=bands,
        ),
        *parts,
        is_interactive=True,
    )


def compute_rejection_curve(honest: Sequence[SampleRelease]) -> list[tuple[float, float]]:
    """Return the share of honest releases above each threshold, as the corners of a step function."""
    corners = [(0.0, 1.0)]
    for index, distance in enumerate(sorted(release.mean for release in honest)):
        corners += [(distance, corners[-1][1]), (distance, 1.0 - (index + 1) / len(honest))]
    return corners


def compute_acceptance_curve(cheats: Mapping[str, SimulatedCheats]) -> list[tuple[float, float]]:
    """Return the share of cheats up to each threshold, for the kind of which most are accepted."""
    distances = sorted({edge for kind in cheats.values() for edge in kind.edges})
    return [(distance, max(kind.share_below(distance) for kind in cheats.values())) for distance in distances]


def _draw_area(band: PlotArea, corners: Sequence[tuple[float, float]], name: str, kind: str) -> Markup:
    """Draw a share by threshold as an area that extends to the right end of the axis."""
    outline = "L".join(band.format_point(*corner) for corner in (*corners, (band.x.high, corners[-1][1])))
    first, last = band.format_point(corners[0][0], 0.0), band.format_point(band.x.high, 0.0)
    filled = tag("path", class_="area", d=f"M{first}L{outline}L{last}Z")
    return tag(
        "g",
        filled,
        _draw_base_line(band),
        _draw_band_title(band, name),
        class_=f"series {kind}",
        aria_hidden="true",
    )


def _draw_dots(
    band: PlotArea, releases: Sequence[SampleRelease], name: str, words: ErrorWords, kind: str
) -> Markup:
    """Draw a mark for each release. Heights have no meaning; they avoid overlaps."""
    shape = marks.dot if kind == "honest" else partial(marks.triangle, size=4.5)
    shapes = [
        label_mark(
            shape(
                band.x_position(release.mean),
                band.top + 7 + (index * GOLDEN_FRACTION % 1) * (band.bottom - band.top - 14),
            ),
            words.fill(words.point_label, name=isolate_text(release.name), value=release.mean),
            is_focusable=kind == "honest" and index == 0,
        )
        for index, release in enumerate(sorted(releases, key=lambda release: release.mean))
    ]
    return tag(
        "g", _draw_base_line(band), _draw_band_title(band, name), *shapes, class_=f"series points {kind}"
    )


def _draw_base_line(band: PlotArea) -> Markup:
    ends = (band.format_point(band.x.low, 0.0), band.format_point(band.x.high, 0.0))
    return tag("path", class_="axis", d="M" + "L".join(ends), aria_hidden="true")


def _draw_band_title(band: PlotArea, name: str) -> Markup:
    title = shorten(name, band.right - band.left)
    return tag(
        "text", title, x=band.left, y=band.top - 0.35 * MAX_FONT_SIZE, class_="label", aria_hidden="true"
    )


def _build_legend(mixed: Sequence[SampleRelease], words: ErrorWords) -> tuple[LegendEntry, ...]:
    entries = [LegendEntry("honest", words.honest, marks.swatch("honest", marks.dot(0, 0)))]
    if mixed:
        entries.append(LegendEntry("mixed", words.mixed, marks.swatch("mixed", marks.triangle(0, 0))))
    return tuple(entries)
