"""Both errors of a threshold over one axis: honest releases that it rejects, cheats that it lets through.

Each has a band of its own, as have the releases themselves, so that nothing lies over anything else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from markupsafe import Markup

from anoncup.messages import N_
from app.charts import marks
from app.charts.axes import Axis, axis, finite
from app.charts.figure import Figure, LegendEntry
from app.charts.frame import Plot, grid, level_axis, mark, picture, sides, vacant
from app.charts.histogram import LINE, shaded, upright
from app.charts.strip import SCATTERED
from app.charts.svg import LETTER, fitted, lone, tag
from app.charts.text import ChartWords

NAME = 1.4 * LETTER
AREA, DOTS = 58.0, 56.0
"""How high a band of shares is, and one of releases, under its name."""
GAP = 10.0
SHARES = Axis(0.0, 1.0, (), ())


@dataclass(frozen=True, slots=True)
class Release:
    """A release that was tried, by a name that says how it was made, and its mean distance."""

    name: str
    mean: float


@dataclass(frozen=True, slots=True)
class Simulated:
    """Permutations by mean distance: how many lie between one of ``edges`` and the next."""

    counts: Sequence[int]
    edges: Sequence[float]

    def below(self, distance: float) -> float:
        """The share of them up to a distance, evenly within each bin."""
        passed = 0.0
        for count, (low, high) in zip(self.counts, pairwise(self.edges), strict=True):
            passed += count * min(max((distance - low) / (high - low), 0.0), 1.0) if high > low else 0.0
        return passed / max(sum(self.counts), 1)


@dataclass(frozen=True, slots=True)
class ErrorWords(ChartWords):
    """``said``: the description, with {honest} (the farthest sample release), {cheats} (the nearest simulated
    one) and {threshold}; ``point``: of a release, with {name} and {value}."""

    title: str = N_("Both errors of a threshold")
    x: str = N_("Threshold, mean distance")
    rejected: str = N_("Honest releases rejected, 0–100%")
    honest: str = N_("Sample releases")
    mixed: str = N_("Sample releases with a cheat inside")
    passing: str = N_("Simulated cheats accepted, 0–100%")
    threshold: str = N_("Recommended")
    interval: str = N_("guaranteed")
    release: str = N_("Release")
    kind: str = N_("Kind")
    value: str = N_("Mean distance")
    none: str = N_("There is nothing to show yet.")
    said: str = N_(
        "Sample releases have distances up to {honest}, simulated cheats from {cheats}. Recommended "
        "threshold: {threshold}. The curve of cheats shows the kind that passes most often."
    )
    point: str = N_("{name}: {value}")


def errors(
    honest: Sequence[Release],
    mixed: Sequence[Release],
    cheats: Mapping[str, Simulated],
    words: ErrorWords,
    *,
    interval: tuple[float, float] | None = None,
    threshold: float | None = None,
    identifier: str = "errors",
) -> Figure:
    """A band of shares for each error, and between them a band of marks for each kind of releases.

    A distance is a finite number from 0 on; what has none is not shown.
    """
    honest, mixed = ([one for one in each if is_distance(one.mean)] for each in (honest, mixed))
    cheats = {name: one for name, one in cheats.items() if all(map(is_distance, one.edges))}
    kinds = ((words.honest, honest), (words.mixed, mixed))
    return Figure(
        identifier,
        words.title,
        description(honest, cheats, threshold, words),
        drawn(honest, mixed, cheats, words, identifier, interval=interval, threshold=finite(threshold)),
        head=(words.release, words.kind, words.value),
        rows=tuple((one.name, kind, one.mean) for kind, several in kinds for one in several),
        legend=legend(mixed, words),
    )


def is_distance(value: float) -> bool:
    return (finite(value) or 0.0) >= 0.0 and finite(value) is not None


def description(
    honest: Sequence[Release],
    cheats: Mapping[str, Simulated],
    threshold: float | None,
    words: ErrorWords,
) -> str:
    if not honest:
        return words.none
    return words.said.format(
        honest=words.number(max(one.mean for one in honest)),
        cheats=words.number(min((one.edges[0] for one in cheats.values()), default=None)),
        threshold=words.number(threshold),
    )


def drawn(
    honest: Sequence[Release],
    mixed: Sequence[Release],
    cheats: Mapping[str, Simulated],
    words: ErrorWords,
    identifier: str,
    *,
    interval: tuple[float, float] | None,
    threshold: float | None,
) -> Markup:
    farthest = [*(one.edges[-1] for one in cheats.values()), max(threshold or 0.0, 0.0)]
    means = [one.mean for one in (*honest, *mixed)]
    x = level_axis([*means, *farthest], zero=True, distance=True, signs=words.signs)
    top, heights = 2.6 * LINE, [AREA, DOTS, *([DOTS] if mixed else []), *([AREA] if cheats else [])]
    bottom = top + sum(NAME + each + GAP for each in heights)
    left, right = sides(x)
    room, height = Plot(left, top, right, bottom, x, axis([])), bottom + 3 * LETTER
    if not honest:
        return vacant(identifier, room, height, words.none, x_title=words.x, upright=False)
    begins = accumulate((NAME + each + GAP for each in heights), initial=top)
    bands = [
        Plot(left, begin + NAME, right, begin + NAME + tall, x, SHARES)
        for begin, tall in zip(begins, heights, strict=False)
    ]
    parts = [
        area(bands[0], rejected_at(honest), words.rejected, "honest"),
        dots(bands[1], honest, words.honest, words, "honest"),
    ]
    if mixed:
        parts.append(dots(bands[2], mixed, words.mixed, words, "mixed"))
    if cheats:
        parts.append(area(bands[-1], passing_at(cheats), words.passing, "cheats"))
    if threshold is not None:
        name = f"{words.threshold} {words.number(threshold)}"
        parts.insert(0, upright(room, threshold, name, "threshold", top=top - 8, bands=bands))
    return picture(
        identifier,
        height,
        shaded(room, interval, words.interval, words.number),
        grid(room, x_title=words.x, upright=False),
        *parts,
        live=True,
    )


def rejected_at(honest: Sequence[Release]) -> list[tuple[float, float]]:
    """The share of honest releases beyond a threshold, as the corners of its steps."""
    found = [(0.0, 1.0)]
    for place, one in enumerate(sorted(each.mean for each in honest)):
        found += [(one, found[-1][1]), (one, 1.0 - (place + 1) / len(honest))]
    return found


def passing_at(cheats: Mapping[str, Simulated]) -> list[tuple[float, float]]:
    """The largest share of a kind of cheats up to a threshold."""
    places = sorted({edge for one in cheats.values() for edge in one.edges})
    return [(place, max(one.below(place) for one in cheats.values())) for place in places]


def area(band: Plot, corners: Sequence[tuple[float, float]], name: str, kind: str) -> Markup:
    """A share by threshold, from the first corner on to the right end."""
    outline = "L".join(band.at(*corner) for corner in (*corners, (band.x.high, corners[-1][1])))
    first, last = band.at(corners[0][0], 0.0), band.at(band.x.high, 0.0)
    filled = tag("path", class_="area", d=f"M{first}L{outline}L{last}Z")
    return tag("g", filled, base(band), named(band, name), class_=f"series {kind}", aria_hidden="true")


def dots(band: Plot, several: Sequence[Release], name: str, words: ErrorWords, kind: str) -> Markup:
    """A mark for each release, spread in height only so that they do not hide one another."""
    shape = marks.dot if kind == "honest" else small_triangle
    drawn = [
        mark(
            shape(
                band.across(one.mean), band.top + 7 + (place * SCATTERED % 1) * (band.bottom - band.top - 14)
            ),
            words.point.format(name=lone(one.name), value=words.number(one.mean)),
            first=kind == "honest" and place == 0,
        )
        for place, one in enumerate(sorted(several, key=lambda one: one.mean))
    ]
    return tag("g", base(band), named(band, name), *drawn, class_=f"series points {kind}")


def small_triangle(x: float, y: float) -> Markup:
    return marks.triangle(x, y, 4.5)


def base(band: Plot) -> Markup:
    return tag(
        "path",
        class_="axis",
        d=f"M{band.at(band.x.low, 0.0)}L{band.at(band.x.high, 0.0)}",
        aria_hidden="true",
    )


def named(band: Plot, name: str) -> Markup:
    written = fitted(name, band.right - band.left)
    return tag("text", written, x=band.left, y=band.top - 0.35 * LETTER, class_="label", aria_hidden="true")


def legend(mixed: Sequence[Release], words: ErrorWords) -> tuple[LegendEntry, ...]:
    entries = [LegendEntry("honest", words.honest, marks.swatch("honest", marks.dot(0, 0)))]
    if mixed:
        entries.append(LegendEntry("mixed", words.mixed, marks.swatch("mixed", marks.triangle(0, 0))))
    return tuple(entries)
