"""Bars of a histogram; the part above a threshold is hatched, as colour alone must not say it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.charts.axes import finite
from app.charts.frame import Plot, mark
from app.charts.svg import lone, short, tag

SLIVER = 1.0
"""The least width of a bar: it stays visible where the range of all bins is much wider."""


@dataclass(frozen=True, slots=True)
class Bin:
    low: float
    high: float
    count: int


def bins_of(counts: Sequence[int], least: float, largest: float) -> list[Bin]:
    """Equal bins over the range; none where there is no range."""
    low, high = finite(least), finite(largest)
    if low is None or high is None or high < low or not counts:
        return []
    width = (high - low) / len(counts)
    edges = [low + place * width for place in range(len(counts))] + [high]
    return [Bin(edges[place], edges[place + 1], int(count)) for place, count in enumerate(counts)]


def beyond_pattern(identifier: str) -> Markup:
    """The hatching, under the picture's own name."""
    stroke = tag("path", d="M-1 1L1 -1M0 6L6 0M5 7L7 5", class_="hatch")
    pattern = tag(
        "pattern", stroke, id=f"{identifier}-hatch", width=6, height=6, patternUnits="userSpaceOnUse"
    )
    return tag("defs", pattern)


def bars(
    bins: Sequence[Bin],
    room: Plot,
    words: str,
    number: Callable[[float], str],
    *,
    beyond: float | None = None,
    hatch: str = "",
    name: str = "",
    first: bool = True,
) -> Markup:
    """A bar per bin that holds something; ``words``: what it says, with {name}, {low}, {high}, {count}, each a ``number``."""
    held = [one for one in bins if one.count > 0]
    drawn = [
        mark(
            bar(one, room, beyond, hatch),
            words.format(
                name=lone(name), low=number(one.low), high=number(one.high), count=number(one.count)
            ),
            first=first and place == 0,
        )
        for place, one in enumerate(held)
    ]
    return tag("g", *drawn, class_="series bars")


def bar(one: Bin, room: Plot, beyond: float | None, hatch: str) -> Markup:
    """The bar, in two parts where the threshold cuts it."""
    top = room.up(one.count)
    left, right = room.across(one.low), room.across(one.high)
    if beyond is None or one.high <= beyond:
        return tag("g", rectangle(left, right, top, room.bottom, class_="bar"), class_="column")
    cut = room.across(max(one.low, beyond))
    over = rectangle(cut, right, top, room.bottom, class_="bar over")
    hatched = rectangle(cut, right, top, room.bottom, class_="hatched", fill=f"url(#{hatch}-hatch)")
    if one.low >= beyond:
        return tag("g", over, hatched, class_="column")
    within = rectangle(left, cut + 0.6, top, room.bottom, class_="bar")
    return tag("g", within, over, hatched, class_="column")


def rectangle(left: float, right: float, top: float, bottom: float, **more: str) -> Markup:
    wide = max(right - left - 0.6, SLIVER)
    return tag(
        "path", d=f"M{short(left)} {short(bottom)}V{short(top)}h{short(wide)}V{short(bottom)}Z", **more
    )
