"""Names beside points: few, legible, and never over one another; where it is crowded, away and on a line."""

import math
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.charts.frame import Box
from app.charts.svg import LETTER, fitted, short, tag, width_of

AWAY = 8.0
"""Between a point and its name."""
CLEAR = 4.0
"""From the edge of its mark on a line may cross nothing."""
ACROSS = 10.0
"""What it costs to lead to a name across something: it is better than no name."""
HIDES = 4.0
"""What it costs to hide another's point. Only names that are needed may."""
SIDES = ((-1, 1), (-1, 0), (1, -1), (1, 0), (0, 1), (0, -1), (1, 1), (-1, -1))
"""Where a name may stand: beside its point (left -1, right 1) and below (1) or above it, best first."""
RINGS = (26.0, 44.0, 66.0, 92.0, 120.0)
"""How far a name that is needed may go from its point, on a line."""
ROUND = [(math.cos(turn * math.pi / 8), math.sin(turn * math.pi / 8)) for turn in range(16)]


@dataclass(frozen=True, slots=True)
class Named:
    """A point in the picture whose name is wished for; ``needed``: it is worth a line to it, and covering
    others. ``size``: of its mark; ``more``: what follows the name, and is never cut."""

    x: float
    y: float
    name: str
    kind: str = ""
    needed: bool = False
    size: float = 4.5
    more: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """``side``: where it stands, left (-1) or right (1) of its point; ``line``: from its point to it, and what
    that takes up, ``along`` it."""

    box: Box
    side: int
    text: str
    kind: str
    line: str = ""
    along: tuple[Box, ...] = ()

    def drawn(self) -> Markup:
        """Smaller letters than room is kept for stay close to the point."""
        places = {-1: self.box.right, 0: (self.box.left + self.box.right) / 2, 1: self.box.left}
        kind = {-1: "label end ", 0: "label middle ", 1: "label "}[self.side] + self.kind
        middle = (self.box.top + self.box.bottom) / 2
        name = tag("text", self.text, x=places[self.side], y=middle, dy=".34em", class_=kind.rstrip())
        return tag("path", d=self.line, class_=f"leader {self.kind}".rstrip()) + name if self.line else name


def labels(
    wished: Sequence[Named],
    *,
    within: Box,
    taken: Iterable[Box] = (),
    points: Sequence[tuple[float, float]] = (),
    most: int = 6,
    room: float = 140.0,
) -> list[Label]:
    """The names that fit, in the order of the wishes: off the ``taken`` boxes, over the fewest ``points``.

    ``points``: places in the picture, sorted.
    """
    found: list[Label] = []
    there, blocked = Surroundings(within, list(taken), points), [around(one) for one in wished]
    for one in wished:
        if len(found) == most:
            break
        name = fitted(one.name, room - width_of(one.more)) + one.more
        label = placed(one, name, there, blocked)
        if label is not None:
            found.append(label)
            blocked += [label.box, *label.along]
    return found


def around(one: Named) -> Box:
    """What the mark of a point takes up."""
    half = one.size - 0.5
    return Box(one.x - half, one.y - half, one.x + half, one.y + half)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``lines``: what neither a name nor a line to it may cross; ``points``: places in the picture, sorted."""

    within: Box
    lines: Sequence[Box]
    points: Sequence[tuple[float, float]]


def placed(one: Named, text: str, there: Surroundings, blocked: Sequence[Box]) -> Label | None:
    """The name at the cheapest of its places; None where each of them would hide something."""
    least = math.inf
    chosen: Label | None = None
    own = around(one)
    every = [*there.lines, *blocked]
    crossed = [*there.lines, *(other for other in blocked if other != own)] if one.needed else []
    for ring, box, side in places(one, width_of(text)):
        if least <= ring:
            break
        if not box.inside(there.within) or any(box.meets(other) for other in every):
            continue
        line, along = leader(one, box) if ring >= 1 else ("", ())
        hidden = covered_points(box, there.points)
        cost = ring + hidden * HIDES
        if line and cost < least:
            cost += ACROSS * any(crosses(one, box, other) for other in crossed)
            cost += sum(crosses(one, box, dot) for dot in dots_towards(one, box, there.points))
        if cost < least and (one.needed or not hidden):
            least, chosen = cost, Label(box, side, text, one.kind, line, along)
    return chosen


def places(one: Named, wide: float) -> Iterator[tuple[float, Box, int]]:
    """What a place costs, in points hidden, and the box there: beside the point, then, if needed, afar."""
    for place, (across, down) in enumerate(SIDES):
        yield place / 100, box_at(one, wide, 1.1 * LETTER, across, down), across
    for far in RINGS if one.needed else ():
        for right, low in ROUND:
            x, y = one.x + far * right, one.y + far * low
            for side in (0, -1, 1) if abs(right) < 0.5 else (round(right),):
                left = {-1: x - wide, 0: x - wide / 2, 1: x}[side]
                yield 1 + far / 25, Box(left, y - 0.55 * LETTER, left + wide, y + 0.55 * LETTER), side


def leader(one: Named, box: Box) -> tuple[str, tuple[Box, ...]]:
    """From the edge of a point's mark to the nearest place of its name: the line, and what it takes up."""
    (x, y), long = nearest(one, box)
    right, down = x - one.x, y - one.y
    share = min((one.size + 1) / long, 1.0)
    begin = one.x + share * right, one.y + share * down
    parts = [part / 8 for part in range(1, 8) if part / 8 * long >= one.size + CLEAR]
    steps = [(one.x + part * right, one.y + part * down) for part in parts]
    along = tuple(Box(left - 1, top - 1, left + 1, top + 1) for left, top in steps)
    return f"M{short(begin[0])} {short(begin[1])}L{short(x)} {short(y)}", along


def nearest(one: Named, box: Box) -> tuple[tuple[float, float], float]:
    """The place of a box that is nearest to a point, and how far it is."""
    x, y = min(max(one.x, box.left), box.right), min(max(one.y, box.top), box.bottom)
    return (x, y), math.hypot(x - one.x, y - one.y) or 1.0


def crosses(one: Named, box: Box, other: Box) -> bool:
    """Whether the line from a point to its name runs through the other box (Liang and Barsky)."""
    (x, y), long = nearest(one, box)
    first, last = min((one.size + CLEAR) / long, 1.0), 1.0
    for start, along, low, high in (
        (one.x, x - one.x, other.left, other.right),
        (one.y, y - one.y, other.top, other.bottom),
    ):
        if along:
            enters, leaves = sorted(((low - start) / along, (high - start) / along))
            first, last = max(first, enters), min(last, leaves)
        elif not low < start < high:
            return False
    return first < last


def dots_towards(one: Named, box: Box, points: Sequence[tuple[float, float]]) -> list[Box]:
    """The points on the way to a name, as marks."""
    left, right = sorted((one.x, nearest(one, box)[0][0]))
    first, last = bisect(points, (left - 4,)), bisect(points, (right + 4,))
    return [Box(x - 4, y - 4, x + 4, y + 4) for x, y in points[first:last] if (x, y) != (one.x, one.y)]


def box_at(one: Named, wide: float, tall: float, across: int, down: int) -> Box:
    """A name at a corner of its point may come closer than one at its side."""
    away = (0.5 if across and down else 1.0) * AWAY + one.size - 4.5
    left = {-1: one.x - away - wide, 0: one.x - wide / 2, 1: one.x + away}[across]
    top = {-1: one.y - away - tall, 0: one.y - tall / 2, 1: one.y + away}[down]
    return Box(left, top, left + wide, top + tall)


def covered_points(box: Box, points: Sequence[tuple[float, float]]) -> int:
    """How many of the points, sorted from left to right, the box would hide."""
    first, last = bisect(points, (box.left - 4,)), bisect(points, (box.right + 4,))
    return sum(box.top - 4 < y < box.bottom + 4 for _, y in points[first:last])
