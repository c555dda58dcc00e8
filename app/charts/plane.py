"""The plane of utility loss and risk as a still picture: the part of it where the teams are, and what is in it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import quantiles

from markupsafe import Markup

from app.charts import marks
from app.charts.axes import nice_step, rounded, tick_texts, window
from app.charts.frame import GAP, WIDTH, Box, Plot, apart, grid, mark, picture, plot
from app.charts.label_placement import Named, labels
from app.charts.svg import LETTER, fitted, short, tag, width_of

HEIGHT = 350.0
SHAPES = {"others": marks.dot, "baseline": marks.square, "front": marks.dot, "own": marks.diamond}
PODIUM = 3
"""Ranks up to this one are named."""
MOST_NAMES = 8
MARGIN = 0.06
"""Of the range of the points, left free on each side of them."""
FEW = 4
"""Places of teams: with fewer all baselines are shown, too."""
LEAST_RANGE = 0.1
"""Of the largest number: what lies closer together is not drawn farther apart."""
EDGE = 0.03
"""Of the range, above 1 and below 0 where marks stand there: so that they are not cut, and hide no number of an axis."""
STEPS = 16
"""Places along a line where it may say its score."""


@dataclass(frozen=True, slots=True)
class Stack:
    """Teams that share a point: one mark. ``names``: the reader's own first, then by rank; ``said``: all of
    them with their numbers; ``rank``: the best of theirs."""

    x: float
    y: float
    kind: str
    names: tuple[str, ...]
    said: str
    rank: int | None
    on_front: bool
    blur: float

    @property
    def label(self) -> str:
        return f"{self.rank}. {self.names[0]}".rstrip() if self.rank else self.names[0]

    @property
    def more(self) -> str:
        """After the label: how many others share the point."""
        return f" +{len(self.names) - 1}" if self.names[1:] else ""

    @property
    def size(self) -> float:
        if len(self.names) == 1:
            return 4.5
        return (6.5 + 2.5 * len(str(len(self.names)))) * (1.3 if self.kind == "own" else 1.0)

    @property
    def needed(self) -> bool:
        return self.kind == "own" or (self.rank is not None and self.rank <= PODIUM)

    def ends(self, score: float) -> tuple[float, float]:
        """Between which a rounded score lies; nothing is below 0 or above 1."""
        return max(0.0, score - self.blur), min(max(1.0, score), score + self.blur)


@dataclass(frozen=True, slots=True)
class Window:
    """The part of the plane that is shown."""

    left: float
    right: float
    low: float
    high: float

    def holds(self, one: Stack) -> bool:
        return self.left <= one.x <= self.right and self.low <= one.y <= self.high

    def side(self, one: Stack) -> tuple[int, int]:
        """In which direction a point lies beyond it: right or left, up or down."""
        across = (one.x > self.right) - (one.x < self.left)
        return across, (one.y > self.high) - (one.y < self.low)


def focus(stacks: Sequence[Stack]) -> Window:
    """Where the teams are, and all of who matters: a few far off, and baselines, do not squeeze the others.
    Few teams have nothing but baselines to be compared with."""
    teams = [one for one in stacks if one.kind != "baseline"]
    if len(teams) < FEW:
        return around(stacks)
    limits = [fence([value for one in teams for value in one_of(one)]) for one_of in (across, up)]
    near = [one for one in teams if one.needed or (one.x <= limits[0] and one.y <= limits[1])]
    return around(near)


def across(one: Stack) -> list[float]:
    return [one.x] * len(one.names)


def up(one: Stack) -> list[float]:
    return [one.y] * len(one.names)


def fence(values: Sequence[float]) -> float:
    """Tukey's outer fence, above which a value is far out; of a few values all are near."""
    if len(values) < 8:
        return max(values)
    first, _, third = quantiles(values, n=4, method="inclusive")
    return third + 3 * max(third - first, LEAST_RANGE * abs(third))


def around(stacks: Sequence[Stack]) -> Window:
    """The least window around the points, their rounding included, with a margin."""
    left, right = span([end for one in stacks for end in one.ends(one.x)])
    low, high = span([end for one in stacks for end in one.ends(one.y)])
    return Window(left, right, low, high)


def span(values: Sequence[float]) -> tuple[float, float]:
    """A little more than the values: never empty, hardly below 0 where they are not, and hardly above 1."""
    least, most = min(values), max(values)
    half, least_half = most / 2 - least / 2, LEAST_RANGE * max(abs(least), abs(most)) / 2 or 0.05
    more = max(2 * MARGIN * half, least_half - half)
    low, high = least - more, most + more
    if least >= 0:
        low = max(low, -EDGE * high if least < EDGE * high else 0.0)
    return low, (min(high, 1.0 + EDGE * (1.0 - low)) if most <= 1 else high)


@dataclass(frozen=True, slots=True)
class Level:
    """A line of equal score; ``best``: that of the leader."""

    score: float
    text: str
    best: bool = False


def levels(view: Window, leader: float | None, signs: Callable[[str], str]) -> list[Level]:
    """Round scores that cross the window; and the leader's, in the four decimals that boards have."""
    low, high = (view.left + view.low) / 2, (view.right + view.high) / 2
    step = nice_step(high - low, 7)
    scores = [rounded(place * step, step) for place in range(int(low // step) + 1, int(high // step) + 1)]
    if leader is not None:
        scores = [one for one in scores if abs(one - leader) > 0.05 * step]
    texts = tick_texts(scores, step) if scores else ()
    found = [Level(score, signs(text)) for score, text in zip(scores, texts, strict=True)]
    return found if leader is None else [*found, Level(leader, signs(f"{leader:.4f}"), best=True)]


def drawn(
    stacks: Sequence[Stack],
    identifier: str,
    *,
    view: Window,
    equal: Sequence[Level],
    titles: tuple[str, str],
    better: str,
    signs: Callable[[str], str],
) -> Markup:
    x = apart(lambda most: window(view.left, view.right, most=most, signs=signs))
    room = plot(x, window(view.low, view.high, signs=signs), height=HEIGHT)
    texts = named_levels(equal, room, mark_boxes(stacks, room, view))
    return picture(
        identifier,
        HEIGHT,
        grid(room, x_title=titles[0], y_title=titles[1]),
        corner(room, titles[0], better),
        blurs(stacks, room),
        tag(
            "g",
            *(level(one, room, texts.get(one)) for one in equal),
            class_="series levels",
            aria_hidden="true",
        ),
        front_line(stacks, room),
        series(stacks, room, view),
        names(stacks, room, view, [*texts.values(), *best_line(equal, room)]),
        live=True,
        kind="level",
    )


def corner(room: Plot, beside: str, words: str) -> Markup:
    """The corner that everybody wants to reach, named below the axes, where nothing else stands."""
    free = room.right - room.left - width_of(beside) - LETTER
    if free < 3 * LETTER:
        return Markup("")
    y = room.bottom + GAP + 2.2 * LETTER
    return tag("text", fitted(f"↙ {words}", free), x=room.left, y=y, class_="better", aria_hidden="true")


def crossing(score: float, room: Plot) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Where the line of a score comes in at the upper left and leaves at the lower right, in the picture."""
    left, right = max(room.x.low, 2 * score - room.y.high), min(room.x.high, 2 * score - room.y.low)
    if left >= right:
        return None
    begin, end = ((room.across(x), room.up(2 * score - x)) for x in (left, right))
    return begin, end


def named_levels(equal: Sequence[Level], room: Plot, marked: Sequence[Box]) -> dict[Level, Box]:
    """The lines that say their score, the leader's before others, and where: off marks and one another."""
    found: dict[Level, Box] = {}
    for one in sorted(equal, key=lambda one: not one.best):
        taken = [*marked, *found.values(), *([] if one.best else best_line(equal, room))]
        box = next((box for box in level_boxes(one, room) if clear(box, taken)), None)
        if box is not None:
            found[one] = box
    return found


def clear(box: Box, taken: Iterable[Box]) -> bool:
    return not any(box.meets(other) for other in taken)


def level(one: Level, room: Plot, box: Box | None) -> Markup:
    ends = crossing(one.score, room)
    if ends is None:
        return Markup("")
    (left, top), (right, bottom) = ends
    kind = " best" if one.best else ""
    line = tag(
        "path",
        class_=f"equal{kind}",
        d=f"M{short(left)} {short(top)}L{short(right)} {short(bottom)}",
    )
    if box is None:
        return line
    x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    return line + tag("text", one.text, x=x, y=y, dy=".34em", class_=f"aside middle{kind}")


def level_boxes(one: Level, room: Plot) -> Iterator[Box]:
    """Where a line may say its score: from its lower right end as far as its middle, the leader's from the other."""
    ends = crossing(one.score, room)
    if ends is None:
        return
    (left, top), (right, bottom) = ends
    half, within = width_of(one.text) / 2, Box(room.left + 2, room.top, room.right - 2, room.bottom - 2)
    for place in range(1, STEPS if one.best else STEPS // 2):
        share = place / STEPS if one.best else 1 - place / STEPS
        x, y = left + share * (right - left), top + share * (bottom - top)
        box = Box(x - half, y - LETTER / 2, x + half, y + LETTER / 2)
        if box.inside(within):
            yield box


def best_line(equal: Sequence[Level], room: Plot) -> list[Box]:
    """What the leader's line takes up, in small pieces, as it is not level."""
    ends = next((crossing(one.score, room) for one in equal if one.best), None)
    if ends is None:
        return []
    (left, top), (right, bottom) = ends
    steps = max(1, round((right - left) / 4))
    places = [
        (left + at / steps * (right - left), top + at / steps * (bottom - top)) for at in range(steps + 1)
    ]
    return [Box(x - 2, y - 2, x + 2, y + 2) for x, y in places]


def mark_boxes(stacks: Sequence[Stack], room: Plot, view: Window) -> list[Box]:
    """What the marks within the window take up, and the front's line."""
    seen = [(room.across(one.x), room.up(one.y), one.size) for one in stacks if view.holds(one)]
    return [Box(x - size, y - size, x + size, y + size) for x, y, size in seen] + step_boxes(stacks, room)


def blurs(stacks: Sequence[Stack], room: Plot) -> Markup:
    """Behind every rounded point the box that it may lie in, once."""
    places = {(one.ends(one.x), one.ends(one.y)) for one in stacks if one.blur}
    return tag("g", *(blur(*place, room) for place in sorted(places)), class_="blurs", aria_hidden="true")


def blur(x: tuple[float, float], y: tuple[float, float], room: Plot) -> Markup:
    left, right = map(room.across, x)
    low, high = map(room.up, y)
    return tag("rect", x=left, y=high, width=right - left, height=low - high)


def front_of(stacks: Sequence[Stack]) -> list[Stack]:
    return sorted((one for one in stacks if one.on_front), key=lambda one: (one.x, -one.y))


def front_line(stacks: Sequence[Stack], room: Plot) -> Markup:
    """Steps through the points of the front: right of and above them, somebody is better in both."""
    front = front_of(stacks)
    if not front:
        return Markup("")
    steps = "".join(f"H{short(room.across(one.x))}V{short(room.up(one.y))}" for one in front[1:])
    first, last = (room.at(one.x, one.y) for one in (front[0], front[-1]))
    ends = f"M{first}V{short(room.top)}M{last}H{short(room.right)}"
    return tag(
        "g",
        tag("path", class_="reach", d=ends),
        tag("path", class_="line", d=f"M{first}{steps}"),
        class_="series points front",
        aria_hidden="true",
    )


def step_boxes(stacks: Sequence[Stack], room: Plot) -> list[Box]:
    """What the front's line takes up."""
    places = [(room.across(one.x), room.up(one.y)) for one in front_of(stacks)]
    return [
        box
        for (left, upper), (right, lower) in pairwise(places)
        for box in (Box(left, upper - 1, right, upper + 1), Box(right - 1, upper, right + 1, lower))
    ]


def series(stacks: Sequence[Stack], room: Plot, view: Window) -> Markup:
    """The points by what they are, those that matter most on top; the keyboard enters at the last."""
    groups: dict[str, list[Stack]] = {name: [] for name in SHAPES}
    for one in sorted(stacks, key=lambda one: one.x):
        groups[one.kind].append(one)
    drawn_last = next(group[-1] for group in reversed(groups.values()) if group)
    return Markup("").join(
        tag(
            "g",
            *(point(one, room, view, first=one is drawn_last) for one in group),
            class_=f"series points {name}",
        )
        for name, group in groups.items()
        if group
    )


def point(one: Stack, room: Plot, view: Window, *, first: bool) -> Markup:
    """A mark; of a stack with its count inside, beyond the window an arrow at its edge."""
    x, y = room.across(one.x), room.up(one.y)
    if not view.holds(one):
        return mark(marks.arrow(x, y, *view.side(one)), one.said, first=first)
    if len(one.names) == 1:
        return mark(SHAPES[one.kind](x, y), one.said, first=first)
    shape = marks.diamond if one.kind == "own" else marks.square if one.kind == "baseline" else marks.dot
    count = tag("text", str(len(one.names)), x=x, y=y, dy=".34em", class_="count middle", aria_hidden="true")
    return mark(shape(x, y, one.size, class_="stack"), one.said, first=first) + count


def names(stacks: Sequence[Stack], room: Plot, view: Window, texts: Sequence[Box]) -> Markup:
    """The reader's own team, the podium, then the front from its ends inwards."""
    front = [one for one in front_of(stacks) if not one.needed]
    ordered = [front.pop(0 if place % 2 == 0 else -1) for place in range(len(front))]
    first = sorted((one for one in stacks if one.needed), key=lambda one: (one.kind != "own", one.rank or 0))
    found = labels(
        [
            Named(room.across(one.x), room.up(one.y), one.label, one.kind, one.needed, one.size, one.more)
            for one in [*first, *ordered]
            if view.holds(one)
        ],
        within=Box(room.left + 2, room.top - 4, WIDTH - 2, room.bottom),
        taken=[*texts, *step_boxes(stacks, room)],
        points=sorted((room.across(one.x), room.up(one.y)) for one in stacks),
        most=MOST_NAMES,
        room=160.0,
    )
    return tag("g", *(label.drawn() for label in found), class_="names", aria_hidden="true")
