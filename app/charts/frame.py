"""Frame of a picture: axes with titles and round numbers, and a grid behind the data."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from markupsafe import Markup

from app.charts.axes import Axis, build_axis
from app.charts.numbers import keep_finite
from app.charts.svg import (
    MAX_FONT_SIZE,
    build_outline,
    draw_path,
    escape_text,
    estimate_text_width,
    format_coordinate,
    shorten,
    tag,
)

PICTURE_WIDTH = 480.0
"""Width of all pictures in SVG user units, as all lengths here. The page scales the pictures."""
PICTURE_MARGIN = 10.0
LINE_HEIGHT = 1.25 * MAX_FONT_SIZE
"""Distance between lines of text."""
TICK_LABEL_GAP = 7.0
"""Distance between the label of a tick and the grid."""


@dataclass(frozen=True, slots=True)
class PlotArea:
    """The area of a picture that shows the data; the axes run along its lower and left sides."""

    left: float
    top: float
    right: float
    bottom: float
    x: Axis
    y: Axis

    def x_position(self, value: float) -> float:
        return self.left + self.x.fraction(value) * (self.right - self.left)

    def y_position(self, value: float) -> float:
        return self.bottom - self.y.fraction(value) * (self.bottom - self.top)

    def position(self, x: float, y: float) -> tuple[float, float]:
        return self.x_position(x), self.y_position(y)

    def format_point(self, x: float, y: float) -> str:
        """Format a position for use in a path."""
        return build_outline(*self.position(x, y)).lstrip()


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in the picture."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, box: "Box") -> bool:
        is_beside = self.right <= box.left or box.right <= self.left
        return not (is_beside or self.bottom <= box.top or box.bottom <= self.top)

    def is_inside(self, container: "Box") -> bool:
        fits_across = container.left <= self.left and self.right <= container.right
        return fits_across and container.top <= self.top and self.bottom <= container.bottom


def fit_plot_area(
    x: Axis, y: Axis, *, height: float, top: float = 2 * MAX_FONT_SIZE, below: float = 3 * MAX_FONT_SIZE
) -> PlotArea:
    """Return the plot area that is left beside the labels of both axes."""
    left, right = fit_sides(x)
    y_labels_end = max(estimate_text_width(label) for label in y.labels) + TICK_LABEL_GAP + 4
    return PlotArea(max(y_labels_end, left), top, right, height - below, x, y)


def fit_sides(x: Axis) -> tuple[float, float]:
    """Return the left and right limits of the plot area that keep the outermost x labels in the picture."""
    first, last = (
        max((estimate_text_width(label.split("\n")[0]) / 2 for label in end_texts), default=0.0)
        for end_texts in (x.labels[:1], x.labels[-1:])
    )
    return PICTURE_MARGIN + first, PICTURE_WIDTH - max(PICTURE_MARGIN, last + 2)


def build_horizontal_axis(
    values: Iterable[float | None],
    *,
    localize: Callable[[str], str],
    max_width: float = PICTURE_WIDTH - 70,
    from_zero: bool = False,
    is_integer: bool = False,
    non_negative: bool = False,
) -> Axis:
    """Return a horizontal axis whose labels do not touch."""
    values = list(values)
    return fit_axis(
        lambda max_steps: build_axis(
            values,
            max_steps=max_steps,
            from_zero=from_zero,
            is_integer=is_integer,
            non_negative=non_negative,
            localize=localize,
        ),
        max_width,
    )


def fit_axis(make_axis: Callable[[int], Axis], max_width: float = PICTURE_WIDTH - 70) -> Axis:
    """Return the horizontal axis with the most steps whose labels do not touch."""
    for max_steps in (8, 6, 5, 4, 3):
        candidate = make_axis(max_steps)
        if sum(estimate_text_width(label) + 1.4 * MAX_FONT_SIZE for label in candidate.labels) <= max_width:
            return candidate
    return make_axis(2)


def draw_grid(
    plot_area: PlotArea,
    *,
    x_title: str = "",
    y_title: str = "",
    with_left_axis: bool = True,
    title_gap: float = 0.8 * MAX_FONT_SIZE,
) -> Markup:
    """Draw the grid lines, labels and titles of both axes.

    ``title_gap`` is the distance of the y title above the grid. Without ``with_left_axis`` the y axis is not
    drawn.
    """
    parts = [_draw_vertical_grid(plot_area), *((_draw_horizontal_grid(plot_area),) if with_left_axis else ())]
    base = draw_path("M", plot_area.left, plot_area.bottom, "H", plot_area.right, class_="axis")
    return tag("g", *parts, base, _draw_titles(plot_area, x_title, y_title, title_gap), aria_hidden="true")


def _draw_vertical_grid(plot_area: PlotArea) -> Markup:
    labelled_positions = [
        (plot_area.x_position(tick), label)
        for tick, label in zip(plot_area.x.ticks, plot_area.x.labels, strict=True)
    ]
    lines = "".join(
        build_outline("M", position, plot_area.top, "V", plot_area.bottom)
        for position, _ in labelled_positions
    )
    texts = [
        tag(
            "text",
            line,
            x=position,
            y=plot_area.bottom + TICK_LABEL_GAP + 3,
            dy=f"{0.8 + 1.2 * row:.1f}em",
            class_="tick middle",
        )
        for position, label in labelled_positions
        for row, line in enumerate(label.split("\n"))
    ]
    return tag("path", class_="grid", d=lines) + Markup("").join(texts)


def _draw_horizontal_grid(plot_area: PlotArea) -> Markup:
    labelled_positions = [
        (plot_area.y_position(tick), label)
        for tick, label in zip(plot_area.y.ticks, plot_area.y.labels, strict=True)
    ]
    lines = "".join(
        build_outline("M", plot_area.left, position, "H", plot_area.right)
        for position, _ in labelled_positions
    )
    texts = [
        tag("text", label, x=plot_area.left - TICK_LABEL_GAP, y=position, dy=".34em", class_="tick end")
        for position, label in labelled_positions
    ]
    return tag("path", class_="grid", d=lines) + Markup("").join(texts)


def _draw_titles(plot_area: PlotArea, x_title: str, y_title: str, title_gap: float) -> Markup:
    """Draw the y title above its axis, and the x title below the right end of its axis."""
    max_width = PICTURE_WIDTH - 2 * PICTURE_MARGIN
    title_y = plot_area.bottom + TICK_LABEL_GAP + 2.2 * MAX_FONT_SIZE
    return _draw_text(shorten(y_title, max_width), 4, plot_area.top - title_gap, "title") + _draw_text(
        shorten(x_title, max_width), plot_area.right, title_y, "title end"
    )


def _draw_text(text: str, x: float, y: float, class_: str) -> Markup:
    return tag("text", text, x=x, y=y, class_=class_) if text else Markup("")


def draw_centred_text(text: str, x: float, y: float, class_: str, *, side: int = 0) -> Markup:
    """Draw a text centred on a position, or left (-1) or right (1) of it; it stays inside the picture."""
    label = shorten(text, PICTURE_WIDTH - 2 * PICTURE_MARGIN)
    half_width = estimate_text_width(label) / 2
    first, last = PICTURE_MARGIN + half_width, PICTURE_WIDTH - PICTURE_MARGIN - half_width
    centre = min(max(x + side * (half_width - 2), first), last)
    return _draw_text(label, centre, y, class_)


def draw_vertical_rule(
    plot_area: PlotArea, value: float | None, label: str, kind: str, *, top: float, side: int = 0
) -> Markup:
    """Draw a vertical line at a value, if there is one, with its label at ``top``, above the plot."""
    if value is None:
        return Markup("")
    x = plot_area.x_position(value)
    outline = build_outline("M", x, top + 6, "V", plot_area.bottom)
    name = draw_centred_text(label, x, top, "label middle", side=side)
    return tag("g", draw_path(outline, class_="line"), name, class_=f"rule {kind}", aria_hidden="true")


def draw_interval(plot_area: PlotArea, interval: tuple[float, float] | None, label: str) -> Markup:
    """Draw the interval as a shaded area with its label above."""
    ends = keep_finite(interval or ())
    if len(ends) < 2 or ends[0] >= ends[1]:
        return Markup("")
    left, right = map(plot_area.x_position, ends)
    top = plot_area.top - 1.15 * LINE_HEIGHT
    area = tag(
        "rect", x=left, y=top, width=max(right - left, 1), height=plot_area.bottom - top, class_="interval"
    )
    edges = "".join(build_outline("M", x, top, "V", plot_area.bottom) for x in (left, right))
    name = draw_centred_text(label, (left + right) / 2, top - 7, "aside middle")
    return tag("g", area, draw_path(edges, class_="edge"), name, aria_hidden="true")


def build_picture(
    identifier: str, height: float, *content: str, is_interactive: bool = False, kind: str = ""
) -> Markup:
    """Return the SVG root element, which the figure's title and description label.

    The marks of a picture that ``is_interactive`` can be focused.
    """
    return tag(
        "svg",
        *content,
        class_=f"picture {kind}".strip(),
        viewBox=f"0 0 {format_coordinate(PICTURE_WIDTH)} {format_coordinate(height)}",
        role="group" if is_interactive else "img",
        aria_labelledby=f"{identifier}-title",
        aria_describedby=f"{identifier}-description",
    )


def label_mark(shape: Markup, label: str, *, is_focusable: bool = False) -> Markup:
    """Add an accessible label to a mark. The tab key reaches it if it ``is_focusable``."""
    opening, rest = shape.split(" ", 1)
    focus = ' tabindex="0"' if is_focusable else ""
    return Markup(f'{opening} role="img" aria-label="{escape_text(label)}"{focus} {rest}')  # noqa: S704


def draw_empty(
    identifier: str,
    plot_area: PlotArea,
    height: float,
    reason: str,
    *,
    x_title: str = "",
    y_title: str = "",
    with_left_axis: bool = True,
) -> Markup:
    """Draw the axes of a picture without data, with a text that gives the reason."""
    middle = (plot_area.left + plot_area.right) / 2
    message = shorten(reason, plot_area.right - plot_area.left)
    label = tag("text", message, x=middle, y=(plot_area.top + plot_area.bottom) / 2, class_="vacant middle")
    return build_picture(
        identifier,
        height,
        draw_grid(plot_area, x_title=x_title, y_title=y_title, with_left_axis=with_left_axis),
        label,
    )
