"""Marks of single values, distinguished by shape and not only by colour."""

import math
from typing import Protocol

from markupsafe import Markup

from app.charts.svg import build_outline, format_coordinate, tag


class MarkShape(Protocol):
    """Draws a mark centred on a position."""

    def __call__(self, x: float, y: float) -> Markup: ...


def dot(x: float, y: float, size: float = 4.5, **attributes: str) -> Markup:
    return tag("circle", cx=x, cy=y, r=size, **attributes)


def diamond(x: float, y: float, size: float = 7.5, **attributes: str) -> Markup:
    return _draw_polygon(x, y, ((0, -size), (size, 0), (0, size), (-size, 0)), **attributes)


def square(x: float, y: float, size: float = 4.5, **attributes: str) -> Markup:
    return _draw_polygon(x, y, ((-size, -size), (size, -size), (size, size), (-size, size)), **attributes)


def triangle(x: float, y: float, size: float = 6.0, **attributes: str) -> Markup:
    return _draw_polygon(x, y, ((0, -size), (size, 0.8 * size), (-size, 0.8 * size)), **attributes)


def arrow(
    x: float, y: float, x_direction: int, y_direction: int, size: float = 6.0, **attributes: str
) -> Markup:
    """Draw a triangle that points out of the picture, in the direction (±1 or 0, upwards if positive)."""
    length = math.hypot(x_direction, y_direction) or 1.0
    right, down = size * x_direction / length, -size * y_direction / length
    return _draw_polygon(
        x, y, ((right, down), (-right - down, -down + right), (-right + down, -down - right)), **attributes
    )


def cross(x: float, y: float, size: float = 4.5, **attributes: str) -> Markup:
    """Draw both strokes as one path, so that the space between them also reacts to the pointer."""
    left, right, top, bottom = x - size, x + size, y - size, y + size
    outline = build_outline("M", left, top, "L", right, bottom, "M", right, top, "L", left, bottom)
    return tag("path", d=outline, **attributes)


def _draw_polygon(x: float, y: float, corners: tuple[tuple[float, float], ...], **attributes: str) -> Markup:
    points = (f"{format_coordinate(x + right)} {format_coordinate(y + down)}" for right, down in corners)
    return tag("path", d=f"M{'L'.join(points)}Z", **attributes)


LINE = tag("path", class_="line", d="M-10 0H10")
"""The line of a legend."""


def swatch(series: str, *shapes: Markup) -> Markup:
    """Draw a mark of the legend in a box of 20 × 20 around the origin."""
    return tag(
        "svg", tag("g", *shapes, class_=series), class_="swatch", viewBox="-10 -10 20 20", aria_hidden="true"
    )
