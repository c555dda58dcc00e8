"""How far the individuals of a permutation must be from their originals, if some of them stay in place."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from markupsafe import Markup

from anoncup.messages import N_
from app.charts import marks
from app.charts.axes import axis, finite, known
from app.charts.figure import Figure, LegendEntry
from app.charts.frame import WIDTH, Box, Plot, grid, level_axis, mark, picture, plot, vacant
from app.charts.label_placement import covered_points
from app.charts.svg import LETTER, fitted, short, tag, width_of
from app.charts.text import ChartWords

HEIGHT = 340.0
IN_VIEW = 2.5
"""The picture shows the bounds up to this many times what the rule's number of individuals is."""


@dataclass(frozen=True, slots=True)
class Bound:
    """Bounds of the mean distance if at most ``fixed`` individuals stay in place."""

    fixed: int
    s_lower: float
    lower: float | None = None
    upper: float | None = None
    exact: bool = False


SERIES: dict[str, Callable[[Bound], float | None]] = {
    "upper": lambda one: one.upper,
    "lower": lambda one: one.lower,
    "s_lower": lambda one: one.s_lower,
}
SHAPES: dict[str, marks.Shape] = {
    "upper": partial(marks.triangle, size=11.0),
    "lower": partial(marks.square, size=5.5),
    "s_lower": partial(marks.dot, size=3.0),
}
"""From the back to the front, each smaller, as lines are thinner: bounds that are equal are all to be seen."""


@dataclass(frozen=True, slots=True)
class BoundWords(ChartWords):
    """``said``: the description, with {fixed}, {bound} (the bound there) and {threshold};
    ``point``: {series}, {fixed}, {value}.
    """

    title: str = N_("Bounds of the mean distance")
    x: str = N_("Fixed points")
    y: str = N_("Mean distance")
    s_lower: str = N_("Lower bound s_lower")
    lower: str = N_("Certified lower bound")
    upper: str = N_("Certified upper bound")
    threshold: str = N_("Recommended threshold")
    fixed: str = N_("Largest number by chance:")
    none: str = N_("There is nothing to show yet.")
    said: str = N_(
        "If at most {fixed} individuals stay in place, the least mean distance is {bound}. Recommended threshold: {threshold}."
    )
    point: str = N_("{series}, at most {fixed} in place: {value}")

    def of(self, series: str) -> str:
        return {"s_lower": self.s_lower, "lower": self.lower, "upper": self.upper}[series]


def bounds(
    found: Sequence[Bound],
    words: BoundWords,
    *,
    fixed: int,
    threshold: float | None = None,
    identifier: str = "bounds",
) -> Figure:
    """The bounds by how many individuals stay; ``fixed``: the number that the rule reckons with."""
    ordered = sorted(found, key=lambda one: one.fixed)
    return Figure(
        identifier,
        words.title,
        description(ordered, words, fixed, finite(threshold)),
        drawn(in_view(ordered, fixed), words, fixed, finite(threshold), identifier),
        head=(words.x, words.s_lower, words.lower, words.upper),
        rows=tuple((one.fixed, one.s_lower, one.lower, one.upper) for one in ordered),
        legend=legend(ordered, words),
    )


def in_view(found: Sequence[Bound], fixed: int) -> list[Bound]:
    """The bounds around the rule's number: the rest, up to everybody, would squeeze them together."""
    beyond = [one.fixed for one in found if one.fixed >= IN_VIEW * fixed]
    last = beyond[0] if fixed > 0 and beyond else max((one.fixed for one in found), default=0)
    return [one for one in found if one.fixed <= last]


def description(found: Sequence[Bound], words: BoundWords, fixed: int, threshold: float | None) -> str:
    if not found:
        return words.none
    there = next((one for one in found if one.fixed == fixed), None)
    bound = None if there is None else there.s_lower if there.lower is None else there.lower
    return words.said.format(
        fixed=words.number(fixed), bound=words.number(bound), threshold=words.number(threshold)
    )


def drawn(
    found: Sequence[Bound], words: BoundWords, fixed: int, threshold: float | None, identifier: str
) -> Markup:
    heights = [value(one) for one in found for value in SERIES.values()]
    x = level_axis([fixed, *(one.fixed for one in found)], zero=True, whole=True, signs=words.signs)
    room = plot(
        x, axis([*heights, threshold], distance=True, signs=words.signs), height=HEIGHT, top=3.4 * LETTER
    )
    if not found:
        return vacant(identifier, room, HEIGHT, words.none, x_title=words.x, y_title=words.y)
    return picture(
        identifier,
        HEIGHT,
        grid(room, x_title=words.x, y_title=words.y, over=2.2 * LETTER),
        *(series(name, found, room, words, first=name == "s_lower") for name in SERIES),
        upright_rule(room, fixed, f"{words.fixed} {words.number(fixed)}"),
        *(
            [level_rule(room, threshold, f"{words.threshold} {words.number(threshold)}", found)]
            if threshold is not None
            else []
        ),
        live=True,
    )


def series(name: str, found: Sequence[Bound], room: Plot, words: BoundWords, *, first: bool) -> Markup:
    """A line through the bounds of one kind, with a mark at each."""
    places = [(one.fixed, value) for one in found if (value := finite(SERIES[name](one))) is not None]
    if not places:
        return Markup("")
    line = tag(
        "path", class_="line", d="M" + "L".join(room.at(*place) for place in places), aria_hidden="true"
    )
    points = [
        mark(
            SHAPES[name](room.across(fixed), room.up(value)),
            words.point.format(series=words.of(name), fixed=words.number(fixed), value=words.number(value)),
            first=first and place == 0,
        )
        for place, (fixed, value) in enumerate(places)
    ]
    return tag("g", line, *points, class_=f"series points {name}")


def upright_rule(room: Plot, value: float, words: str) -> Markup:
    """The rule's number of individuals, named above the picture."""
    place, written = room.across(value), fitted(words, WIDTH - 20)
    half = width_of(written) / 2
    line = tag("path", class_="line", d=f"M{short(place)} {short(room.top - 4)}V{short(room.bottom)}")
    middle = min(max(place, half + 4), WIDTH - half - 4)
    name = tag("text", written, x=middle, y=room.top - 10, class_="label middle")
    return tag("g", line, name, class_="rule fixed", aria_hidden="true")


def level_rule(room: Plot, value: float, words: str, found: Sequence[Bound]) -> Markup:
    """The threshold, named where its name hides least of the lines."""
    place, written = room.up(value), fitted(words, room.right - room.left)
    line = tag("path", class_="line", d=f"M{short(room.left)} {short(place)}H{short(room.right)}")
    wide, hidden = width_of(written), sorted(along(found, room))
    boxes = [
        Box(left, top, left + wide, top + LETTER)
        for top in (place - LETTER - 4, place + 3)
        for left in (room.right - wide - 4, room.left + 4)
        if room.top <= top <= room.bottom - LETTER
    ]
    box = min(boxes, key=lambda box: covered_points(box, hidden))
    end = box.left > room.left + 4
    kind = "label end" if end else "label"
    name = tag("text", written, x=box.right if end else box.left, y=box.bottom - 0.2 * LETTER, class_=kind)
    return tag("g", line, name, class_="rule threshold", aria_hidden="true")


def along(found: Sequence[Bound], room: Plot) -> Iterator[tuple[float, float]]:
    """Places along the lines of all series."""
    for value in SERIES.values():
        known_ones = [(one.fixed, height) for one in found if (height := finite(value(one))) is not None]
        for (left, begin), (right, end) in pairwise(known_ones):
            for part in range(8):
                share = part / 8
                yield room.across(left + share * (right - left)), room.up(begin + share * (end - begin))


def legend(found: Sequence[Bound], words: BoundWords) -> tuple[LegendEntry, ...]:
    line = tag("path", class_="line", d="M-10 0H10")
    return tuple(
        LegendEntry(name, words.of(name), marks.swatch(name, line, SHAPES[name](0, 0)))
        for name, value in reversed(SERIES.items())
        if known(value(one) for one in found)
    )
