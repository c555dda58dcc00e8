"""The frame of a picture: its axes with names and round numbers, and a quiet grid behind the data."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from markupsafe import Markup

from app.charts.axes import Axis, axis
from app.charts.svg import LETTER, fitted, short, tag, text, width_of

WIDTH = 480.0
"""All pictures are as wide as this, in their own units, as all lengths here; they scale to the room they get."""
EDGE = 10.0
GAP = 7.0
"""Between a tick's text and the grid."""


@dataclass(frozen=True, slots=True)
class Plot:
    """The part of a picture that holds the data, and the axes along its lower and left sides."""

    left: float
    top: float
    right: float
    bottom: float
    x: Axis
    y: Axis

    def across(self, value: float) -> float:
        return self.left + self.x.share(value) * (self.right - self.left)

    def up(self, value: float) -> float:
        return self.bottom - self.y.share(value) * (self.bottom - self.top)

    def at(self, x: float, y: float) -> str:
        """The place as a path writes it."""
        return f"{short(self.across(x))} {short(self.up(y))}"


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle that something takes up."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        beside = self.right <= other.left or other.right <= self.left
        return not (beside or self.bottom <= other.top or other.bottom <= self.top)

    def inside(self, other: "Box") -> bool:
        across = other.left <= self.left and self.right <= other.right
        return across and other.top <= self.top and self.bottom <= other.bottom


def plot(x: Axis, y: Axis, *, height: float, top: float = 2 * LETTER, below: float = 3 * LETTER) -> Plot:
    """The room for the data: what the axes' texts leave of the picture."""
    left, right = sides(x)
    return Plot(max(left_of(y), left), top, right, height - below, x, y)


def sides(x: Axis) -> tuple[float, float]:
    """Where the data may begin and end, so that the outer numbers below them stay in the picture."""
    first, last = (
        max((width_of(each.split("\n")[0]) / 2 for each in end), default=0.0)
        for end in (x.texts[:1], x.texts[-1:])
    )
    return EDGE + first, WIDTH - max(EDGE, last + 2)


def left_of(y: Axis) -> float:
    """Where the data begin beside the texts of an upright axis."""
    return max(width_of(each) for each in y.texts) + GAP + 4


def level_axis(
    values: Iterable[float | None],
    *,
    signs: Callable[[str], str],
    room: float = WIDTH - 70,
    zero: bool = False,
    whole: bool = False,
    distance: bool = False,
) -> Axis:
    """An axis from left to right whose texts stand well apart."""
    values = list(values)
    return apart(
        lambda most: axis(values, most=most, zero=zero, whole=whole, distance=distance, signs=signs), room
    )


def apart(made: Callable[[int], Axis], room: float = WIDTH - 70) -> Axis:
    """The axis with the most steps whose texts stand well apart from left to right."""
    for most in (8, 6, 5, 4, 3):
        found = made(most)
        if sum(width_of(each) + 1.4 * LETTER for each in found.texts) <= room:
            return found
    return made(2)


def grid(
    plot: Plot, *, x_title: str = "", y_title: str = "", upright: bool = True, over: float = 0.8 * LETTER
) -> Markup:
    """Lines and numbers of both axes, and their names, the upper one ``over`` the grid.

    ``upright``: the left axis is shown too.
    """
    parts = [vertical_lines(plot), *((horizontal_lines(plot),) if upright else ())]
    base = tag("path", class_="axis", d=f"M{short(plot.left)} {short(plot.bottom)}H{short(plot.right)}")
    return tag("g", *parts, base, titles(plot, x_title, y_title, over), aria_hidden="true")


def vertical_lines(plot: Plot) -> Markup:
    places = [(plot.across(tick), written) for tick, written in zip(plot.x.ticks, plot.x.texts, strict=True)]
    lines = "".join(f"M{short(place)} {short(plot.top)}V{short(plot.bottom)}" for place, _ in places)
    texts = [
        tag(
            "text",
            line,
            x=place,
            y=plot.bottom + GAP + 3,
            dy=f"{0.8 + 1.2 * row:.1f}em",
            class_="tick middle",
        )
        for place, written in places
        for row, line in enumerate(written.split("\n"))
    ]
    return tag("path", class_="grid", d=lines) + Markup("").join(texts)


def horizontal_lines(plot: Plot) -> Markup:
    places = [(plot.up(tick), written) for tick, written in zip(plot.y.ticks, plot.y.texts, strict=True)]
    lines = "".join(f"M{short(plot.left)} {short(place)}H{short(plot.right)}" for place, _ in places)
    texts = [
        tag("text", written, x=plot.left - GAP, y=place, dy=".34em", class_="tick end")
        for place, written in places
    ]
    return tag("path", class_="grid", d=lines) + Markup("").join(texts)


def titles(plot: Plot, x_title: str, y_title: str, over: float) -> Markup:
    """The upright axis is named above it, the other one below its right end."""
    room = WIDTH - 2 * EDGE
    below = plot.bottom + GAP + 2.2 * LETTER
    parts = []
    if y_title:
        parts.append(tag("text", fitted(y_title, room), x=4, y=plot.top - over, class_="title"))
    if x_title:
        place = fitted(x_title, room)
        parts.append(tag("text", place, x=plot.right, y=below, class_="title end"))
    return Markup("").join(parts)


def picture(identifier: str, height: float, *content: str, live: bool = False, kind: str = "") -> Markup:
    """The whole picture, named by the texts that stand around it; ``live``: its marks can be reached."""
    return tag(
        "svg",
        *content,
        class_=f"picture {kind}".strip(),
        viewBox=f"0 0 {short(WIDTH)} {short(height)}",
        role="group" if live else "img",
        aria_labelledby=f"{identifier}-title",
        aria_describedby=f"{identifier}-said",
    )


def mark(shape: Markup, said: str, *, first: bool = False) -> Markup:
    """A mark that says what it stands for; the keyboard enters a picture at the ``first`` of its marks."""
    opening, rest = shape.split(" ", 1)
    focus = ' tabindex="0"' if first else ""
    return Markup(f'{opening} role="img" aria-label="{text(said)}"{focus} {rest}')  # noqa: S704


def vacant(
    identifier: str,
    plot: Plot,
    height: float,
    words: str,
    *,
    x_title: str = "",
    y_title: str = "",
    upright: bool = True,
) -> Markup:
    """The axes of a picture that has nothing to show yet, and why."""
    middle = (plot.left + plot.right) / 2
    written = fitted(words, plot.right - plot.left)
    said = tag("text", written, x=middle, y=(plot.top + plot.bottom) / 2, class_="vacant middle")
    return picture(identifier, height, grid(plot, x_title=x_title, y_title=y_title, upright=upright), said)
