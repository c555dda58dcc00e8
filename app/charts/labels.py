"""Names beside points: few, legible, and never over one another."""

from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.charts.frame import Box
from app.charts.svg import LETTER, fitted, tag, width_of

AWAY = 8.0
"""Between a point and its name."""
CROWD = 5
"""A name that would hide more points than this is left out."""
SIDES = ((-1, 1), (-1, 0), (1, -1), (1, 0), (0, 1), (0, -1), (1, 1), (-1, -1))
"""Where a name may stand: beside its point (left -1, right 1) and below (1) or above it, best first."""


@dataclass(frozen=True, slots=True)
class Named:
    """A point in the picture whose name is wished for; ``needed``: it is worth covering others."""

    x: float
    y: float
    name: str
    kind: str = ""
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """``side``: where it stands, left (-1) or right (1) of its point."""

    box: Box
    side: int
    text: str
    kind: str

    def drawn(self) -> Markup:
        """Smaller letters than room is kept for stay close to the point."""
        places = {-1: self.box.right, 0: (self.box.left + self.box.right) / 2, 1: self.box.left}
        kind = {-1: "label end ", 0: "label middle ", 1: "label "}[self.side] + self.kind
        middle = (self.box.top + self.box.bottom) / 2
        return tag("text", self.text, x=places[self.side], y=middle, dy=".34em", class_=kind.rstrip())


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
    blocked = [*taken, *(Box(one.x - 4, one.y - 4, one.x + 4, one.y + 4) for one in wished)]
    for one in wished:
        if len(found) == most:
            break
        label = placed(one, fitted(one.name, room), within, blocked, points)
        if label is not None:
            found.append(label)
            blocked.append(label.box)
    return found


def placed(
    one: Named, text: str, within: Box, blocked: Sequence[Box], points: Sequence[tuple[float, float]]
) -> Label | None:
    """The name at the best of its places; None where each of them would hide something."""
    chosen: tuple[int, int, Box] | None = None
    for place, box in enumerate(places(one, width_of(text))):
        clear = not any(box.meets(other) for other in blocked)
        if not box.inside(within) or not (clear or one.needed):
            continue
        hidden = covered_points(box, points) + (0 if clear else 2 * CROWD)
        if (one.needed or hidden <= CROWD) and (chosen is None or hidden < chosen[0]):
            chosen = hidden, place, box
    return chosen and Label(chosen[2], SIDES[chosen[1]][0], text, one.kind)


def places(one: Named, wide: float) -> list[Box]:
    return [box_at(one, wide, 1.1 * LETTER, across, down) for across, down in SIDES]


def box_at(one: Named, wide: float, tall: float, across: int, down: int) -> Box:
    """A name at a corner of its point may come closer than one at its side."""
    away = 0.5 * AWAY if across and down else AWAY
    left = {-1: one.x - away - wide, 0: one.x - wide / 2, 1: one.x + away}[across]
    top = {-1: one.y - away - tall, 0: one.y - tall / 2, 1: one.y + away}[down]
    return Box(left, top, left + wide, top + tall)


def covered_points(box: Box, points: Sequence[tuple[float, float]]) -> int:
    """How many of the points, sorted from left to right, the box would hide."""
    first, last = bisect(points, (box.left - 4,)), bisect(points, (box.right + 4,))
    return sum(box.top - 4 < y < box.bottom + 4 for _, y in points[first:last])
