"""Utility loss against risk: a point per team, and the front that nobody has passed in both."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from app.charts import marks
from app.charts.axes import axis, finite
from app.charts.figure import Figure, LegendEntry
from app.charts.frame import WIDTH, Box, Plot, grid, level_axis, mark, picture, plot, vacant
from app.charts.labels import Named, labels
from app.charts.svg import LETTER, fitted, lone, short, tag, width_of
from app.charts.words import ChartWords
from app.messages import N_

HEIGHT = 380.0
SHAPES = {"others": marks.dot, "baseline": marks.square, "front": marks.dot, "own": marks.diamond}


@dataclass(frozen=True, slots=True)
class Point:
    """A team's best submission; ``utility`` is a loss and ``security`` a risk: less is better.

    ``blur``: by how much either may be off, because it is shown rounded.
    """

    name: str
    utility: float
    security: float
    own: bool = False
    on_front: bool = False
    baseline: bool = False
    blur: float = 0.0


@dataclass(frozen=True, slots=True)
class ScatterWords(ChartWords):
    """``x``, ``y``: the axes with their direction; ``better``: beside the lower left corner.

    ``said``: the description, with {teams}, {front} (how many on it), {x_least}, {x_largest}, {y_least} and
    {y_largest}; ``said_own`` follows where the reader's team is shown, with {name}, {x} and {y};
    ``point``: {name}, {x}, {y}.
    """

    title: str = N_("Utility loss against risk")
    team: str = N_("Team")
    x: str = N_("Utility loss (lower is better)")
    y: str = N_("Risk (lower is better)")
    better: str = N_("better")
    front: str = N_("Pareto front")
    own: str = N_("Your team")
    others: str = N_("Other teams")
    baseline: str = N_("Baselines")
    none: str = N_("No submission has been scored yet.")
    said: str = N_(
        "Teams: {teams}. Points on the Pareto front: {front}. Utility loss from {x_least} to {x_largest}, risk from {y_least} to {y_largest}."
    )
    said_own: str = N_("{name}: utility loss {x}, risk {y}.")
    point: str = N_("{name}: utility loss {x}, risk {y}")


def scatter(points: Sequence[Point], words: ScatterWords, *, identifier: str = "scatter") -> Figure:
    """Every team by what its best release lost and what attackers found in it."""
    shown = [one for one in points if None not in (finite(one.utility), finite(one.security))]
    return Figure(
        identifier,
        words.title,
        description(shown, words),
        drawn(shown, words, identifier),
        head=(words.team, words.x, words.y, words.front),
        rows=tuple((one.name, one.utility, one.security, "●" if one.on_front else "") for one in shown),
        legend=legend(shown, words),
    )


def description(points: Sequence[Point], words: ScatterWords) -> str:
    if not points:
        return words.none
    across, up = [one.utility for one in points], [one.security for one in points]
    said = words.said.format(
        teams=words.number(sum(not one.baseline for one in points)),
        front=words.number(sum(one.on_front for one in points)),
        x_least=words.number(min(across)),
        x_largest=words.number(max(across)),
        y_least=words.number(min(up)),
        y_largest=words.number(max(up)),
    )
    own = [said_of(one, words, words.said_own) for one in points if one.own]
    return " ".join([said, *own])


def said_of(one: Point, words: ScatterWords, said: str) -> str:
    return said.format(name=lone(one.name), x=words.number(one.utility), y=words.number(one.security))


def drawn(points: Sequence[Point], words: ScatterWords, identifier: str) -> Markup:
    x = level_axis((end for one in points for end in ends(one.utility, one.blur)), signs=words.signs)
    y = axis((end for one in points for end in ends(one.security, one.blur)), signs=words.signs)
    room = plot(x, y, height=HEIGHT)
    if not points:
        return vacant(identifier, room, HEIGHT, words.none, x_title=words.x, y_title=words.y)
    corner, hint = better(room, words.better)
    parts = [
        grid(room, x_title=words.x, y_title=words.y),
        hint,
        blurs(points, room),
        front_line(points, room),
    ]
    return picture(
        identifier,
        HEIGHT,
        *parts,
        series(points, room, words),
        names(points, room, corner),
        live=True,
        kind="level",
    )


def ends(score: float, blur: float) -> tuple[float, float]:
    """Between which a rounded score lies; nothing is below 0 or above 1."""
    return max(0.0, score - blur), min(max(1.0, score), score + blur)


def blurs(points: Sequence[Point], room: Plot) -> Markup:
    """Behind every rounded point the box that it may lie in, once."""
    places = {(one.utility, one.security, one.blur) for one in points if one.blur}
    return tag("g", *(blur(*place, room) for place in sorted(places)), class_="blurs", aria_hidden="true")


def blur(utility: float, security: float, half: float, room: Plot) -> Markup:
    left, right = map(room.across, ends(utility, half))
    low, high = map(room.up, ends(security, half))
    return tag("rect", x=short(left), y=short(high), width=short(right - left), height=short(low - high))


def better(room: Plot, words: str) -> tuple[Box, Markup]:
    """The corner that everybody wants to reach."""
    written = "↙ " + fitted(words, 0.6 * (room.right - room.left))
    box = Box(room.left + 6, room.bottom - 1.7 * LETTER, room.left + 6 + width_of(written), room.bottom - 4)
    words_there = tag("text", written, x=box.left, y=box.bottom - 5, class_="better", aria_hidden="true")
    return box, words_there


def front_of(points: Sequence[Point]) -> list[Point]:
    return sorted((one for one in points if one.on_front), key=lambda one: (one.utility, -one.security))


def front_line(points: Sequence[Point], room: Plot) -> Markup:
    """Steps through the points of the front: right of and above them, somebody is better in both."""
    front = front_of(points)
    if not front:
        return Markup("")
    steps = "".join(f"H{short(room.across(one.utility))}V{short(room.up(one.security))}" for one in front[1:])
    first, last = (room.at(one.utility, one.security) for one in (front[0], front[-1]))
    ends = f"M{first}V{short(room.top)}M{last}H{short(room.right)}"
    return tag(
        "g",
        tag("path", class_="reach", d=ends),
        tag("path", class_="line", d=f"M{first}{steps}"),
        class_="series points front",
        aria_hidden="true",
    )


def step_boxes(points: Sequence[Point], room: Plot) -> list[Box]:
    """What the front's line takes up."""
    places = [(room.across(one.utility), room.up(one.security)) for one in front_of(points)]
    return [
        box
        for (left, upper), (right, lower) in pairwise(places)
        for box in (Box(left, upper - 1, right, upper + 1), Box(right - 1, upper, right + 1, lower))
    ]


def series_of(one: Point) -> str:
    if one.own:
        return "own"
    if one.baseline:
        return "baseline"
    return "front" if one.on_front else "others"


def series(points: Sequence[Point], room: Plot, words: ScatterWords) -> Markup:
    """The points by what they are, those that matter most on top; the keyboard enters at the last."""
    groups: dict[str, list[Point]] = {name: [] for name in SHAPES}
    for one in sorted(points, key=lambda one: one.utility):
        groups[series_of(one)].append(one)
    drawn_last = next(group[-1] for group in reversed(groups.values()) if group)
    return Markup("").join(
        tag(
            "g",
            *(point(one, name, room, words, first=one is drawn_last) for one in group),
            class_=f"series points {name}",
        )
        for name, group in groups.items()
        if group
    )


def point(one: Point, kind: str, room: Plot, words: ScatterWords, *, first: bool) -> Markup:
    shape = SHAPES[kind](room.across(one.utility), room.up(one.security))
    return mark(shape, said_of(one, words, words.point), first=first)


def names(points: Sequence[Point], room: Plot, corner: Box) -> Markup:
    """The reader's own team, then the front from its ends inwards."""
    front = [one for one in front_of(points) if not one.own]
    ordered = [front.pop(0 if place % 2 == 0 else -1) for place in range(len(front))]
    wished = [*(one for one in points if one.own), *ordered]
    found = labels(
        [
            Named(room.across(one.utility), room.up(one.security), one.name, series_of(one), one.own)
            for one in wished
        ],
        within=Box(room.left, room.top - 4, WIDTH - 2, room.bottom),
        taken=[corner, *step_boxes(points, room)],
        points=sorted((room.across(one.utility), room.up(one.security)) for one in points),
        most=7,
    )
    return tag("g", *(label.drawn() for label in found), class_="names", aria_hidden="true")


def legend(points: Sequence[Point], words: ScatterWords) -> tuple[LegendEntry, ...]:
    texts = {"own": words.own, "front": words.front, "others": words.others, "baseline": words.baseline}
    present = {series_of(one) for one in points} | ({"front"} if front_of(points) else set())
    line = tag("path", class_="line", d="M-10 0H10")
    return tuple(
        LegendEntry(name, text, marks.swatch(name, *([line] if name == "front" else []), SHAPES[name](0, 0)))
        for name, text in texts.items()
        if name in present
    )
