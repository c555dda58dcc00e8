"""Picture of the scatter plot: the visible part, points, labels, Pareto front and lines of equal score."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import quantiles

from markupsafe import Markup

from app.charts import marks
from app.charts.axes import build_window_axis, choose_step, format_ticks, round_to_step
from app.charts.frame import (
    PICTURE_WIDTH,
    TICK_LABEL_GAP,
    Box,
    PlotArea,
    build_picture,
    draw_grid,
    fit_axis,
    fit_plot_area,
    label_mark,
)
from app.charts.label_placement import LabelRequest, place_labels
from app.charts.svg import MAX_FONT_SIZE, build_outline, draw_path, estimate_text_width, shorten, tag

SCATTER_HEIGHT = 350.0
SHAPE_BY_KIND = {"others": marks.dot, "baseline": marks.square, "front": marks.dot, "own": marks.diamond}
_PODIUM_RANKS = 3
"""Teams up to this rank are always labelled."""
_MAX_LABELS = 8
_MARGIN = 0.06
"""Margin on each side, as a share of the range of the points."""
_MIN_TEAMS_FOR_FOCUS = 4
"""With fewer points of teams, the view also includes all baselines."""
_MIN_RELATIVE_RANGE = 0.1
"""Minimum range of the view, as a share of the largest value."""
_EDGE_MARGIN = 0.03
"""Margin above 1 and below 0, as a share of the range, so that marks there are not cut off."""
_LABEL_STEPS = 16
"""Number of possible label positions along a score line."""


@dataclass(frozen=True, slots=True)
class PointStack:
    """Teams with the same values, drawn as one mark.

    ``names`` has the reader's team first, the others by rank. ``description`` lists all teams with their
    values. ``rank`` is the best of their ranks. Both values have the same rounding error.
    """

    x: float
    y: float
    kind: str
    names: tuple[str, ...]
    description: str
    rank: int | None
    on_front: bool
    rounding_error: float

    @property
    def label(self) -> str:
        return f"{self.rank}. {self.names[0]}".rstrip() if self.rank else self.names[0]

    @property
    def suffix(self) -> str:
        """The number of other teams at this place, such as " +2"; empty if there are none."""
        return f" +{len(self.names) - 1}" if self.names[1:] else ""

    @property
    def size(self) -> float:
        if len(self.names) == 1:
            return 4.5
        return (6.5 + 2.5 * len(str(len(self.names)))) * (1.3 if self.kind == "own" else 1.0)

    @property
    def is_required(self) -> bool:
        return self.kind == "own" or (self.rank is not None and self.rank <= _PODIUM_RANKS)

    def rounding_interval(self, score: float) -> tuple[float, float]:
        """Return the interval of a rounded score, clamped to the range from 0 to 1."""
        return max(0.0, score - self.rounding_error), min(max(1.0, score), score + self.rounding_error)


@dataclass(frozen=True, slots=True)
class ViewWindow:
    """The visible part of the scatter plot."""

    left: float
    right: float
    low: float
    high: float

    def contains(self, stack: PointStack) -> bool:
        return self.left <= stack.x <= self.right and self.low <= stack.y <= self.high

    def outside_direction(self, stack: PointStack) -> tuple[int, int]:
        """Return the direction of a point outside: right (1) or left (-1), and up (1) or down (-1)."""
        x_direction = (stack.x > self.right) - (stack.x < self.left)
        return x_direction, (stack.y > self.high) - (stack.y < self.low)


def choose_view(stacks: Sequence[PointStack]) -> ViewWindow:
    """Return a view of the teams that leaves out distant teams and baselines, which would compress the rest.

    The reader's team and the podium are always visible. If there are few teams, all points are.
    """
    teams = [stack for stack in stacks if stack.kind != "baseline"]
    if len(teams) < _MIN_TEAMS_FOR_FOCUS:
        return fit_view(stacks)
    x_limit = _compute_outer_fence([stack.x for stack in teams for _ in stack.names])
    y_limit = _compute_outer_fence([stack.y for stack in teams for _ in stack.names])
    nearby = [stack for stack in teams if stack.is_required or (stack.x <= x_limit and stack.y <= y_limit)]
    return fit_view(nearby)


def _compute_outer_fence(values: Sequence[float]) -> float:
    """Return Tukey's upper outer fence; with fewer than 8 values, their maximum."""
    if len(values) < 8:
        return max(values)
    first, _, third = quantiles(values, n=4, method="inclusive")
    return third + 3 * max(third - first, _MIN_RELATIVE_RANGE * abs(third))


def fit_view(stacks: Sequence[PointStack]) -> ViewWindow:
    """Return the smallest view that contains all points with their rounding intervals, and a margin."""
    left, right = _add_margin([end for stack in stacks for end in stack.rounding_interval(stack.x)])
    low, high = _add_margin([end for stack in stacks for end in stack.rounding_interval(stack.y)])
    return ViewWindow(left, right, low, high)


def _add_margin(values: Sequence[float]) -> tuple[float, float]:
    """Return the range of the values, extended by a margin.

    It is never empty. If no value is below 0 or above 1, it extends only slightly beyond these limits.
    """
    minimum, maximum = min(values), max(values)
    half_range = maximum / 2 - minimum / 2
    min_half_range = _MIN_RELATIVE_RANGE * max(abs(minimum), abs(maximum)) / 2 or 0.05
    margin = max(2 * _MARGIN * half_range, min_half_range - half_range)
    low, high = minimum - margin, maximum + margin
    if minimum >= 0:
        low = max(low, -_EDGE_MARGIN * high if minimum < _EDGE_MARGIN * high else 0.0)
    return low, (min(high, 1.0 + _EDGE_MARGIN * (1.0 - low)) if maximum <= 1 else high)


@dataclass(frozen=True, slots=True)
class ScoreLevel:
    """A line of equal overall score; ``best`` is set for the score of the leader."""

    score: float
    text: str
    best: bool = False


def build_levels(view: ViewWindow, leader: float | None, localize: Callable[[str], str]) -> list[ScoreLevel]:
    """Return the lines of round scores that cross the view, and the line of the leader's score.

    The leader's score is written with four decimals, as on boards.
    """
    low, high = (view.left + view.low) / 2, (view.right + view.high) / 2
    step = choose_step(high - low, 7)
    scores = [
        round_to_step(index * step, step) for index in range(int(low // step) + 1, int(high // step) + 1)
    ]
    if leader is not None:
        scores = [value for value in scores if abs(value - leader) > 0.05 * step]
    texts = format_ticks(scores, step) if scores else ()
    levels = [ScoreLevel(score, localize(text)) for score, text in zip(scores, texts, strict=True)]
    return levels if leader is None else [*levels, ScoreLevel(leader, localize(f"{leader:.4f}"), best=True)]


def draw_scatter_plot(
    stacks: Sequence[PointStack],
    identifier: str,
    *,
    view: ViewWindow,
    levels: Sequence[ScoreLevel],
    titles: tuple[str, str],
    better: str,
    localize: Callable[[str], str],
) -> Markup:
    x = fit_axis(
        lambda max_steps: build_window_axis(view.left, view.right, max_steps=max_steps, localize=localize)
    )
    plot_area = fit_plot_area(
        x, build_window_axis(view.low, view.high, localize=localize), height=SCATTER_HEIGHT
    )
    label_boxes = _place_level_labels(levels, plot_area, _list_mark_boxes(stacks, plot_area, view))
    return build_picture(
        identifier,
        SCATTER_HEIGHT,
        draw_grid(plot_area, x_title=titles[0], y_title=titles[1]),
        _draw_corner(plot_area, titles[0], better),
        _draw_rounding_intervals(stacks, plot_area),
        tag(
            "g",
            *(_draw_level(level, plot_area, label_boxes.get(level)) for level in levels),
            class_="series levels",
            aria_hidden="true",
        ),
        _draw_front(stacks, plot_area),
        _draw_series(stacks, plot_area, view),
        _draw_labels(stacks, plot_area, view, [*label_boxes.values(), *_trace_best_level(levels, plot_area)]),
        is_interactive=True,
        kind="level",
    )


def _draw_corner(plot_area: PlotArea, axis_title: str, better: str) -> Markup:
    """Draw the text that marks the best corner. It is below the axes, where nothing else is drawn."""
    free_width = plot_area.right - plot_area.left - estimate_text_width(axis_title) - MAX_FONT_SIZE
    if free_width < 3 * MAX_FONT_SIZE:
        return Markup("")
    y = plot_area.bottom + TICK_LABEL_GAP + 2.2 * MAX_FONT_SIZE
    return tag(
        "text", shorten(f"↙ {better}", free_width), x=plot_area.left, y=y, class_="better", aria_hidden="true"
    )


def _find_crossing(
    score: float, plot_area: PlotArea
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return the upper left and lower right end of a score line; None if it does not cross the picture."""
    left = max(plot_area.x.low, 2 * score - plot_area.y.high)
    right = min(plot_area.x.high, 2 * score - plot_area.y.low)
    if left >= right:
        return None
    begin, end = (plot_area.position(x, 2 * score - x) for x in (left, right))
    return begin, end


def _place_level_labels(
    levels: Sequence[ScoreLevel], plot_area: PlotArea, mark_areas: Sequence[Box]
) -> dict[ScoreLevel, Box]:
    """Return the boxes of the labels of score lines, which overlap neither marks nor each other.

    The leader's line is labelled first. Lines without room for a label are left out.
    """
    label_boxes: dict[ScoreLevel, Box] = {}
    for level in sorted(levels, key=lambda level: not level.best):
        obstacles = [
            *mark_areas,
            *label_boxes.values(),
            *([] if level.best else _trace_best_level(levels, plot_area)),
        ]
        candidates = _iter_label_boxes(level, plot_area)
        box = next((box for box in candidates if not any(map(box.overlaps, obstacles))), None)
        if box is not None:
            label_boxes[level] = box
    return label_boxes


def _draw_level(level: ScoreLevel, plot_area: PlotArea, box: Box | None) -> Markup:
    ends = _find_crossing(level.score, plot_area)
    if ends is None:
        return Markup("")
    (left, top), (right, bottom) = ends
    kind = " best" if level.best else ""
    line = draw_path("M", left, top, "L", right, bottom, class_=f"equal{kind}")
    if box is None:
        return line
    x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    return line + tag("text", level.text, x=x, y=y, dy=".34em", class_=f"aside middle{kind}")


def _iter_label_boxes(level: ScoreLevel, plot_area: PlotArea) -> Iterator[Box]:
    """Yield possible boxes of a label, from the lower right end of its line to the middle.

    The leader's label may be anywhere on its line, beginning at the upper left end.
    """
    ends = _find_crossing(level.score, plot_area)
    if ends is None:
        return
    (left, top), (right, bottom) = ends
    half = estimate_text_width(level.text) / 2
    plot_box = Box(plot_area.left + 2, plot_area.top, plot_area.right - 2, plot_area.bottom - 2)
    for index in range(1, _LABEL_STEPS if level.best else _LABEL_STEPS // 2):
        share = index / _LABEL_STEPS if level.best else 1 - index / _LABEL_STEPS
        x, y = left + share * (right - left), top + share * (bottom - top)
        box = Box(x - half, y - MAX_FONT_SIZE / 2, x + half, y + MAX_FONT_SIZE / 2)
        if box.is_inside(plot_box):
            yield box


def _trace_best_level(levels: Sequence[ScoreLevel], plot_area: PlotArea) -> list[Box]:
    """Return small boxes that cover the leader's line, which is diagonal."""
    ends = next((_find_crossing(level.score, plot_area) for level in levels if level.best), None)
    if ends is None:
        return []
    (left, top), (right, bottom) = ends
    step_count = max(1, round((right - left) / 4))
    points = [
        (left + step / step_count * (right - left), top + step / step_count * (bottom - top))
        for step in range(step_count + 1)
    ]
    return [Box(x - 2, y - 2, x + 2, y + 2) for x, y in points]


def _list_mark_boxes(stacks: Sequence[PointStack], plot_area: PlotArea, view: ViewWindow) -> list[Box]:
    """Return the areas of the visible marks and of the front line."""
    visible_marks = [
        (plot_area.x_position(stack.x), plot_area.y_position(stack.y), stack.size)
        for stack in stacks
        if view.contains(stack)
    ]
    return [Box(x - size, y - size, x + size, y + size) for x, y, size in visible_marks] + _list_front_boxes(
        stacks, plot_area
    )


def _draw_rounding_intervals(stacks: Sequence[PointStack], plot_area: PlotArea) -> Markup:
    """Draw the rounding intervals behind rounded points, equal ones only once."""
    intervals = {
        (stack.rounding_interval(stack.x), stack.rounding_interval(stack.y))
        for stack in stacks
        if stack.rounding_error
    }
    return tag(
        "g",
        *(_draw_rounding_interval(*index, plot_area) for index in sorted(intervals)),
        class_="blurs",
        aria_hidden="true",
    )


def _draw_rounding_interval(x: tuple[float, float], y: tuple[float, float], plot_area: PlotArea) -> Markup:
    left, right = map(plot_area.x_position, x)
    low, high = map(plot_area.y_position, y)
    return tag("rect", x=left, y=high, width=right - left, height=low - high)


def _list_front(stacks: Sequence[PointStack]) -> list[PointStack]:
    return sorted((stack for stack in stacks if stack.on_front), key=lambda stack: (stack.x, -stack.y))


def _draw_front(stacks: Sequence[PointStack], plot_area: PlotArea) -> Markup:
    """Draw the Pareto front as steps. Every point to the right of it and above is beaten in both values."""
    front = _list_front(stacks)
    if not front:
        return Markup("")
    steps = "".join(
        build_outline("H", plot_area.x_position(stack.x), "V", plot_area.y_position(stack.y))
        for stack in front[1:]
    )
    first, last = (plot_area.format_point(stack.x, stack.y) for stack in (front[0], front[-1]))
    ends = build_outline("M", first, "V", plot_area.top, "M", last, "H", plot_area.right)
    return tag(
        "g",
        draw_path(ends, class_="reach"),
        draw_path("M", first, steps, class_="line"),
        class_="series points front",
        aria_hidden="true",
    )


def _list_front_boxes(stacks: Sequence[PointStack], plot_area: PlotArea) -> list[Box]:
    """Return the area of the front line."""
    points = [plot_area.position(stack.x, stack.y) for stack in _list_front(stacks)]
    return [
        box
        for (left, upper), (right, lower) in pairwise(points)
        for box in (Box(left, upper - 1, right, upper + 1), Box(right - 1, upper, right + 1, lower))
    ]


def _draw_series(stacks: Sequence[PointStack], plot_area: PlotArea, view: ViewWindow) -> Markup:
    """Draw the points by kind, the most important on top. The tab key reaches the topmost one."""
    groups: dict[str, list[PointStack]] = {name: [] for name in SHAPE_BY_KIND}
    for stack in sorted(stacks, key=lambda stack: stack.x):
        groups[stack.kind].append(stack)
    topmost = next(group[-1] for group in reversed(groups.values()) if group)
    return Markup("").join(
        tag(
            "g",
            *(_draw_point(stack, plot_area, view, is_focusable=stack is topmost) for stack in group),
            class_=f"series points {name}",
        )
        for name, group in groups.items()
        if group
    )


def _draw_point(stack: PointStack, plot_area: PlotArea, view: ViewWindow, *, is_focusable: bool) -> Markup:
    """Draw a mark, with the number of its teams if there are several, or an arrow for a point outside."""
    x, y = plot_area.position(stack.x, stack.y)
    if not view.contains(stack):
        return label_mark(
            marks.arrow(x, y, *view.outside_direction(stack)), stack.description, is_focusable=is_focusable
        )
    if len(stack.names) == 1:
        return label_mark(SHAPE_BY_KIND[stack.kind](x, y), stack.description, is_focusable=is_focusable)
    count = tag(
        "text", str(len(stack.names)), x=x, y=y, dy=".34em", class_="count middle", aria_hidden="true"
    )
    return (
        label_mark(
            SHAPE_BY_KIND[stack.kind](x, y, stack.size, class_="stack"),
            stack.description,
            is_focusable=is_focusable,
        )
        + count
    )


def _draw_labels(
    stacks: Sequence[PointStack], plot_area: PlotArea, view: ViewWindow, text_boxes: Sequence[Box]
) -> Markup:
    """Draw labels of the reader's team, of the podium, and of the front, from its ends inwards."""
    front = [stack for stack in _list_front(stacks) if not stack.is_required]
    front_inwards = [front.pop(0 if index % 2 == 0 else -1) for index in range(len(front))]
    required = sorted(
        (stack for stack in stacks if stack.is_required),
        key=lambda stack: (stack.kind != "own", stack.rank or 0),
    )
    placed_labels = place_labels(
        [
            LabelRequest(
                plot_area.x_position(stack.x),
                plot_area.y_position(stack.y),
                stack.label,
                stack.kind,
                stack.is_required,
                stack.size,
                stack.suffix,
            )
            for stack in [*required, *front_inwards]
            if view.contains(stack)
        ],
        within=Box(plot_area.left + 2, plot_area.top - 4, PICTURE_WIDTH - 2, plot_area.bottom),
        obstacles=[*text_boxes, *_list_front_boxes(stacks, plot_area)],
        points=sorted(plot_area.position(stack.x, stack.y) for stack in stacks),
        max_labels=_MAX_LABELS,
        max_width=160.0,
    )
    return tag("g", *(label.draw() for label in placed_labels), class_="names", aria_hidden="true")
