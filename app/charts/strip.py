"""Where one value stands among all: a thin strip for the cell of a table, and the whole distribution."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from markupsafe import Markup

from anoncup.messages import N_
from app.charts import marks
from app.charts.axes import Axis, finite, known
from app.charts.figure import Figure, LegendEntry
from app.charts.frame import EDGE, WIDTH, Plot, grid, level_axis, mark, picture, sides, vacant
from app.charts.svg import LETTER, fitted, lone, short, tag, width_of
from app.charts.text import ChartWords

WIDE, TALL = 160.0, 28.0
HEIGHT = 210.0
SCATTERED = (5**0.5 - 1) / 2
"""Multiples of the golden ratio fill a band evenly, however many there are."""


@dataclass(frozen=True, slots=True)
class StripWords(ChartWords):
    """``said``: the strip in a sentence, with {least}, {median}, {largest} and {count}; ``said_own`` follows
    where the own value is known, with {own}; ``none``: instead of both, if there are no values.
    """

    title: str = N_("Among all teams")
    value: str = N_("Value")
    none: str = N_("There is nothing to show yet.")
    said: str = N_("All teams: least {least}, median {median}, largest {largest}.")
    said_own: str = N_("Your team: {own}.")


def strip(
    values: Sequence[float | None], own: float | None, words: StripWords, *, identifier: str = "strip"
) -> Figure:
    """A line from the least to the largest value, a tick for each, and marks for the median and the own one.

    The picture names itself: it stands in a cell, without the figure around it.
    """
    shown, mine = sorted(known(values)), finite(own)
    said = strip_description(shown, mine, words)
    return Figure(
        identifier,
        words.title,
        said,
        thin(shown, mine, said),
        head=(words.value,),
        rows=tuple((value,) for value in shown),
    )


def strip_description(values: Sequence[float], own: float | None, words: StripWords) -> str:
    if not values:
        return words.none
    said = words.said.format(
        least=words.number(values[0]),
        median=words.number(median(values)),
        largest=words.number(values[-1]),
        count=words.number(len(values)),
    )
    return said if own is None else f"{said} {words.said_own.format(own=words.number(own))}"


def thin(values: Sequence[float], own: float | None, said: str) -> Markup:
    """The strip; its own range is its width, even if that is a single value."""
    places = [*values, *([] if own is None else [own])]
    low, high = min(places, default=0.0), max(places, default=0.0)
    margin = max(1.0, abs(low)) if low == high else 0.0  # 1 more than a large number is that number
    room = Axis(low - margin, high + margin, (), ())
    parts: list[Markup] = []
    if values:
        ticks = "".join(
            f"M{short(x)} 9v10" for x in dict.fromkeys(strip_place(value, room) for value in values)
        )
        ends = [strip_place(values[place], room) for place in (0, -1)]
        line = f"M{short(ends[0])} 14H{short(ends[1])}"
        limits = "".join(f"M{short(x)} 5v18" for x in ends)
        parts = [
            tag("path", class_="span", d=line),
            tag("path", class_="each", d=ticks),
            tag("path", class_="limits", d=limits),
            marks.square(strip_place(median(values), room), TALL / 2, 4, class_="median"),
        ]
    if own is not None:
        parts.append(marks.diamond(strip_place(own, room), TALL / 2, 7, class_="mine"))
    box = f"0 0 {short(WIDE)} {short(TALL)}"
    return tag("svg", *parts, class_="strip", viewBox=box, role="img", aria_label=said)


def strip_place(value: float, room: Axis) -> float:
    return round(8 + room.share(value) * (WIDE - 16), 1)


@dataclass(frozen=True, slots=True)
class Standing:
    """A team's value of one measure."""

    name: str
    value: float
    own: bool = False


@dataclass(frozen=True, slots=True)
class DistributionWords(ChartWords):
    """``x``: the measure with its unit and direction; ``said``, ``said_own``: as of a strip;
    ``point``: {name}, {value}; ``middle``: the box from the first to the third quartile.
    """

    title: str = N_("Among all teams")
    x: str = N_("Value")
    team: str = N_("Team")
    own: str = N_("Your team")
    others: str = N_("Other teams")
    median: str = N_("Median")
    middle: str = N_("Middle half of the teams")
    none: str = N_("There is nothing to show yet.")
    said: str = N_("Teams: {count}. Least {least}, median {median}, largest {largest}.")
    said_own: str = N_("Your team: {own}.")
    point: str = N_("{name}: {value}")


def distribution(
    standings: Sequence[Standing], words: DistributionWords, *, identifier: str = "distribution"
) -> Figure:
    """All teams' values of one measure, spread in height only so that they do not hide one another."""
    shown = sorted((one for one in standings if finite(one.value) is not None), key=lambda one: one.value)
    return Figure(
        identifier,
        words.title,
        distribution_description(shown, words),
        drawn(shown, words, identifier),
        head=(words.team, words.x),
        rows=tuple((one.name, one.value) for one in shown),
        legend=legend(shown, words),
    )


def distribution_description(standings: Sequence[Standing], words: DistributionWords) -> str:
    own = next((one.value for one in standings if one.own), None)
    plain = StripWords(none=words.none, said=words.said, said_own=words.said_own, signs=words.signs)
    return strip_description([one.value for one in standings], own, plain)


def drawn(standings: Sequence[Standing], words: DistributionWords, identifier: str) -> Markup:
    x = level_axis([one.value for one in standings], room=WIDTH - 40, signs=words.signs)
    left, right = sides(x)
    room = Plot(left, 2.2 * LETTER, right, HEIGHT - 3 * LETTER, x, Axis(0, 1, (), ()))
    if not standings:
        return vacant(identifier, room, HEIGHT, words.none, x_title=words.x, upright=False)
    placed = [(one, height(place, room)) for place, one in enumerate(standings)]
    others = [point(one, y, room, words, first=False) for one, y in placed if not one.own]
    own = [point(one, (room.top + room.bottom) / 2, room, words, first=True) for one in standings if one.own]
    if others and not own:
        others[0] = point(*placed[0], room, words, first=True)
    return picture(
        identifier,
        HEIGHT,
        grid(room, x_title=words.x, upright=False),
        quarters([one.value for one in standings], room, words),
        tag("g", *others, class_="series points others"),
        tag("g", *own, class_="series points own"),
        live=True,
        kind="level",
    )


def height(place: int, room: Plot) -> float:
    return room.top + 10 + (place * SCATTERED % 1) * (room.bottom - room.top - 20)


def quarters(values: Sequence[float], room: Plot, words: DistributionWords) -> Markup:
    """The middle half of the values, and their median by name."""
    first, third = values[0], values[-1]
    if len(values) > 1:
        first, _, third = quantiles(values, n=4, method="inclusive")
    left, right, middle = (room.across(value) for value in (first, third, median(values)))
    box = tag("rect", x=left, y=room.top, width=max(right - left, 1), height=room.bottom - room.top)
    line = tag("path", class_="line", d=f"M{short(middle)} {short(room.top - 5)}V{short(room.bottom)}")
    written = fitted(f"{words.median} {words.number(median(values))}", WIDTH - 2 * EDGE)
    half = width_of(written) / 2
    at = min(max(middle, EDGE + half), WIDTH - EDGE - half)
    name = tag("text", written, x=at, y=room.top - 10, class_="label middle")
    return tag("g", box, line, name, class_="rule quarters", aria_hidden="true")


def point(one: Standing, y: float, room: Plot, words: DistributionWords, *, first: bool) -> Markup:
    shape = (marks.diamond if one.own else marks.dot)(room.across(one.value), y)
    return mark(shape, words.point.format(name=lone(one.name), value=words.number(one.value)), first=first)


def legend(standings: Sequence[Standing], words: DistributionWords) -> tuple[LegendEntry, ...]:
    box = tag("rect", x=-9, y=-7, width=18, height=14)
    entries = (
        (
            any(one.own for one in standings),
            LegendEntry("own", words.own, marks.swatch("own", marks.diamond(0, 0))),
        ),
        (
            any(not one.own for one in standings),
            LegendEntry("others", words.others, marks.swatch("others", marks.dot(0, 0))),
        ),
        (bool(standings), LegendEntry("quarters", words.middle, marks.swatch("quarters", box))),
    )
    return tuple(entry for present, entry in entries if present)
