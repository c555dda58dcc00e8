"""Place labels beside points without overlaps; where it is crowded, a line connects point and label."""

import math
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.charts.frame import Box
from app.charts.svg import MAX_FONT_SIZE, build_outline, estimate_text_width, shorten, tag

_LABEL_DISTANCE = 8.0
"""Distance between a point and its label."""
LEADER_CLEARANCE = 4.0
"""Distance from the edge of a mark within which its leader line may cross other marks."""
_CROSSING_COST = 10.0
"""Cost of a leader line that crosses something. It is finite, as a missing label would be worse."""
_HIDDEN_POINT_COST = 4.0
"""Cost of hiding another point. Only required labels may do so."""
_LABEL_SIDES = ((-1, 1), (-1, 0), (1, -1), (1, 0), (0, 1), (0, -1), (1, 1), (-1, -1))
"""Positions beside a point, best first: horizontal (-1 left, 1 right) and vertical (1 below, -1 above)."""
_RING_RADII = (26.0, 44.0, 66.0, 92.0, 120.0)
"""Distances at which a required label may be placed, with a leader line to its point."""
_DIRECTIONS = [(math.cos(turn * math.pi / 8), math.sin(turn * math.pi / 8)) for turn in range(16)]


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """A point to be labelled.

    A label that ``is_required`` may use a leader line and hide other points. ``mark_size`` is half the width
    of the point's mark. ``suffix`` follows the name and is never cut.
    """

    x: float
    y: float
    name: str
    kind: str = ""
    is_required: bool = False
    mark_size: float = 4.5
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class PlacedLabel:
    """A placed label.

    It is left (``side`` -1) or right (1) of its point, or centred on it (0). ``line`` is the path of the
    leader line to the point, and ``leader_boxes`` are the areas that this line takes up.
    """

    box: Box
    side: int
    text: str
    kind: str
    line: str = ""
    leader_boxes: tuple[Box, ...] = ()

    def draw(self) -> Markup:
        """Draw the label. It is anchored on the side of its point, so that smaller text stays close to it."""
        anchors = {-1: self.box.right, 0: (self.box.left + self.box.right) / 2, 1: self.box.left}
        kind = {-1: "label end ", 0: "label middle ", 1: "label "}[self.side] + self.kind
        middle = (self.box.top + self.box.bottom) / 2
        name = tag("text", self.text, x=anchors[self.side], y=middle, dy=".34em", class_=kind.rstrip())
        return tag("path", d=self.line, class_=f"leader {self.kind}".rstrip()) + name if self.line else name


def place_labels(
    requests: Sequence[LabelRequest],
    *,
    within: Box,
    obstacles: Iterable[Box] = (),
    points: Sequence[tuple[float, float]] = (),
    max_labels: int = 6,
    max_width: float = 140.0,
) -> list[PlacedLabel]:
    """Place the labels in the order of the requests.

    Labels do not overlap the ``obstacles`` and hide as few of the ``points`` as possible, which are positions
    in the picture, sorted by x.
    """
    placed_labels: list[PlacedLabel] = []
    surroundings = _LabelSurroundings(within, list(obstacles), points)
    occupied = [_build_mark_box(request) for request in requests]
    for request in requests:
        if len(placed_labels) == max_labels:
            break
        name = shorten(request.name, max_width - estimate_text_width(request.suffix)) + request.suffix
        label = _place_label(request, name, surroundings, occupied)
        if label is not None:
            placed_labels.append(label)
            occupied += [label.box, *label.leader_boxes]
    return placed_labels


def _build_mark_box(request: LabelRequest) -> Box:
    """Return the area of a point's mark."""
    half = request.mark_size - 0.5
    return Box(request.x - half, request.y - half, request.x + half, request.y + half)


@dataclass(frozen=True, slots=True)
class _LabelSurroundings:
    """The picture around a label: labels stay ``within`` a box and off the ``obstacles``.

    ``points`` are positions sorted by x, which labels hide only if they must.
    """

    within: Box
    obstacles: Sequence[Box]
    points: Sequence[tuple[float, float]]


def _place_label(
    request: LabelRequest, text: str, surroundings: _LabelSurroundings, occupied: Sequence[Box]
) -> PlacedLabel | None:
    """Return the label at its cheapest position; None if every position would hide something."""
    lowest_cost = math.inf
    cheapest: PlacedLabel | None = None
    own_box = _build_mark_box(request)
    obstacles = [*surroundings.obstacles, *occupied]
    leader_obstacles = (
        [*surroundings.obstacles, *(obstacle for obstacle in occupied if obstacle != own_box)]
        if request.is_required
        else []
    )
    for ring, box, side in _iter_places(request, estimate_text_width(text)):
        if lowest_cost <= ring:
            break
        if not box.is_inside(surroundings.within) or any(box.overlaps(obstacle) for obstacle in obstacles):
            continue
        line, leader_boxes = _build_leader(request, box) if ring >= 1 else ("", ())
        hidden_count = _count_covered_points(box, surroundings.points)
        cost = ring + hidden_count * _HIDDEN_POINT_COST
        if line and cost < lowest_cost:
            cost += _CROSSING_COST * any(_crosses(request, box, obstacle) for obstacle in leader_obstacles)
            cost += sum(
                _crosses(request, box, dot)
                for dot in _list_mark_boxes_towards(request, box, surroundings.points)
            )
        if cost < lowest_cost and (request.is_required or not hidden_count):
            lowest_cost, cheapest = cost, PlacedLabel(box, side, text, request.kind, line, leader_boxes)
    return cheapest


def _iter_places(request: LabelRequest, width: float) -> Iterator[tuple[float, Box, int]]:
    """Yield the cost, box and side of each possible position.

    Positions beside the point come first; a required label may also be farther away.
    """
    for index, (x_side, y_side) in enumerate(_LABEL_SIDES):
        yield index / 100, _build_label_box(request, width, 1.1 * MAX_FONT_SIZE, x_side, y_side), x_side
    for radius in _RING_RADII if request.is_required else ():
        for x_direction, y_direction in _DIRECTIONS:
            x, y = request.x + radius * x_direction, request.y + radius * y_direction
            for side in (0, -1, 1) if abs(x_direction) < 0.5 else (round(x_direction),):
                left = {-1: x - width, 0: x - width / 2, 1: x}[side]
                yield (
                    1 + radius / 25,
                    Box(left, y - 0.55 * MAX_FONT_SIZE, left + width, y + 0.55 * MAX_FONT_SIZE),
                    side,
                )


def _build_leader(request: LabelRequest, box: Box) -> tuple[str, tuple[Box, ...]]:
    """Return the path from a mark to the nearest position in its label, and the areas that it takes up."""
    (x, y), distance = _find_nearest_point(request, box)
    dx, dy = x - request.x, y - request.y
    start_share = min((request.mark_size + 1) / distance, 1.0)
    begin = request.x + start_share * dx, request.y + start_share * dy
    fractions = [
        fraction / 8
        for fraction in range(1, 8)
        if fraction / 8 * distance >= request.mark_size + LEADER_CLEARANCE
    ]
    points = [(request.x + fraction * dx, request.y + fraction * dy) for fraction in fractions]
    leader_boxes = tuple(Box(x_step - 1, y_step - 1, x_step + 1, y_step + 1) for x_step, y_step in points)
    return build_outline("M", *begin, "L", x, y), leader_boxes


def _find_nearest_point(request: LabelRequest, box: Box) -> tuple[tuple[float, float], float]:
    """Return the position in a box that is nearest to a point, and its distance."""
    x, y = min(max(request.x, box.left), box.right), min(max(request.y, box.top), box.bottom)
    return (x, y), math.hypot(x - request.x, y - request.y) or 1.0


def _crosses(request: LabelRequest, box: Box, obstacle: Box) -> bool:
    """Return whether the leader line of a label crosses another box (Liang–Barsky clipping)."""
    (x, y), distance = _find_nearest_point(request, box)
    first, last = min((request.mark_size + LEADER_CLEARANCE) / distance, 1.0), 1.0
    for start, extent, low, high in (
        (request.x, x - request.x, obstacle.left, obstacle.right),
        (request.y, y - request.y, obstacle.top, obstacle.bottom),
    ):
        if extent:
            enters, leaves = sorted(((low - start) / extent, (high - start) / extent))
            first, last = max(first, enters), min(last, leaves)
        elif not low < start < high:
            return False
    return first < last


def _list_mark_boxes_towards(
    request: LabelRequest, box: Box, points: Sequence[tuple[float, float]]
) -> list[Box]:
    """Return the areas of the marks that lie horizontally between a point and its label."""
    left, right = sorted((request.x, _find_nearest_point(request, box)[0][0]))
    first, last = bisect(points, (left - 4,)), bisect(points, (right + 4,))
    return [
        Box(x - 4, y - 4, x + 4, y + 4) for x, y in points[first:last] if (x, y) != (request.x, request.y)
    ]


def _build_label_box(request: LabelRequest, width: float, height: float, x_side: int, y_side: int) -> Box:
    """Return the box of a label beside its point. At a corner the label may be closer than at a side."""
    gap = (0.5 if x_side and y_side else 1.0) * _LABEL_DISTANCE + request.mark_size - 4.5
    left = {-1: request.x - gap - width, 0: request.x - width / 2, 1: request.x + gap}[x_side]
    top = {-1: request.y - gap - height, 0: request.y - height / 2, 1: request.y + gap}[y_side]
    return Box(left, top, left + width, top + height)


def _count_covered_points(box: Box, points: Sequence[tuple[float, float]]) -> int:
    """Return how many of the points, sorted by x, the box would hide."""
    first, last = bisect(points, (box.left - 4,)), bisect(points, (box.right + 4,))
    return sum(box.top - 4 < y < box.bottom + 4 for _, y in points[first:last])
